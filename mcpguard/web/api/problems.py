"""How an error is told to a program: application/problem+json, in one table.

Rules kept here:
1. What is foreseen has a status, a title of ours, and its sentence. What is not in the table is a failure of ours: it
   is logged with its traceback, and tells nobody anything.
2. What does not have its form is told by its place; no value that was sent is repeated.
"""

import re
from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from mcpguard.domain.decisions import (
    DeclaredElsewhere,
    Forbidden,
    NameTaken,
    NeedsConsent,
    NotDeclared,
    Stale,
    Undecidable,
    Unknown,
)
from mcpguard.domain.errors import (
    GuardError,
    IllegalMove,
    InvalidName,
    LedgerUnavailable,
    StoreUnavailable,
    Unreadable,
    Unrecordable,
)
from mcpguard.domain.grants import CallerUnknown, LabelTaken
from mcpguard.settings.entry import named

MEDIA_TYPE: Final = "application/problem+json"
MOST_PROBLEMS: Final = 20
STATUS: Final[Mapping[type[GuardError], tuple[int, str]]] = MappingProxyType(
    {
        Unknown: (404, "There is no such server, capability or held call"),
        Stale: (409, "Something else stands now than what the decision rests on"),
        IllegalMove: (409, "It does not stand where this could be decided"),
        NameTaken: (409, "There is a server of this name already"),
        CallerUnknown: (404, "There is no such caller"),
        LabelTaken: (409, "There is a caller of this name already"),
        Undecidable: (422, "This cannot be decided"),
        NotDeclared: (422, "This declares no server"),
        NeedsConsent: (422, "A person has to agree to what would be run or contacted"),
        InvalidName: (422, "A name, pattern or fingerprint does not have its form"),
        Unreadable: (422, "A value has no canonical form"),
        Unrecordable: (422, "A value cannot be recorded"),
        Forbidden: (403, "Whoever came through this door may not do that"),
        DeclaredElsewhere: (403, "The server is declared in the configuration file"),
        LedgerUnavailable: (503, "Nothing can be recorded now, so nothing was done"),
        StoreUnavailable: (503, "The database cannot be used now"),
    }
)


def tell_problems(app: FastAPI) -> None:
    """Have every error of this application answered in one form."""
    for kind in STATUS:
        app.exception_handler(kind)(_foreseen)
    app.exception_handler(RequestValidationError)(_malformed)
    app.exception_handler(HTTPException)(_refused)


async def _foreseen(_: Request, error: GuardError) -> JSONResponse:
    kind, (status, title) = next((kind, STATUS[kind]) for kind in type(error).__mro__ if kind in STATUS)
    more: dict[str, object] = {}
    if isinstance(error, Stale):
        more["moved"] = list(error.moved)
    if isinstance(error, NotDeclared):
        more["problems"] = list(error.problems)
    return _problem(_word(kind), status, title, str(error), **more)


async def _malformed(_: Request, error: RequestValidationError) -> JSONResponse:
    found = [f"{_place(each['loc'])} {each['msg']}" for each in error.errors()]
    told = found[:MOST_PROBLEMS]
    if len(found) > MOST_PROBLEMS:
        told.append(f"and {len(found) - MOST_PROBLEMS} more")
    return _problem("malformed", 422, "The request does not have its form", "; ".join(told), problems=told)


async def _refused(_: Request, error: HTTPException) -> JSONResponse:
    """What the framework refuses: another method, a body that is no JSON."""
    answer = _problem("refused", error.status_code, HTTPStatus(error.status_code).phrase, str(error.detail))
    answer.headers.update(error.headers or {})
    return answer


def _place(loc: tuple[str | int, ...]) -> str:
    """Where in the request. The names in it may be anybody's."""
    return ".".join(named(str(each)) for each in loc) + ":"


def _problem(word: str, status: int, title: str, detail: str, **more: object) -> JSONResponse:
    content = {"type": f"urn:mcpguard:{word}", "title": title, "status": status, "detail": detail, **more}
    return JSONResponse(content, status, media_type=MEDIA_TYPE)


def _word(kind: type) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "-", kind.__name__).lower()
