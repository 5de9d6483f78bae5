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
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException

from mcpguard.domain.decisions import (
    DeclaredElsewhere,
    Forbidden,
    NameTaken,
    NeedsConsent,
    NotDeclared,
    PasswordNeeded,
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
from mcpguard.domain.filters import BadFilter
from mcpguard.domain.grants import CallerUnknown, LabelTaken
from mcpguard.domain.people import NotProven, Principal, TooManyTries, UserTaken, UserUnknown
from mcpguard.guard.audit.audit_log import RecordUnknown
from mcpguard.guard.traffic.tallies import Tallies
from mcpguard.ledger.prunings import Unsound
from mcpguard.settings.entries.entry import shown_name
from mcpguard.web.gate.access import NobodyKnown, RightLacking, whoever
from mcpguard.web.gate.matching import Moved, NotNamed
from mcpguard.web.gate.peer import OperatorPeer
from mcpguard.web.gate.problem import problem

CHALLENGE: Final = 'Bearer realm="mcpguard"'
MOST_PROBLEMS: Final = 20
STATUS: Final[Mapping[type[GuardError], tuple[int, str]]] = MappingProxyType(
    {
        Unknown: (404, "There is no such server, capability or held call"),
        Stale: (409, "Something else stands now than what the decision rests on"),
        IllegalMove: (409, "It does not stand where this could be decided"),
        NameTaken: (409, "There is a server of this name already"),
        BadFilter: (400, "This is no filter"),
        RecordUnknown: (404, "There is no such record, or nothing is recorded of such a call"),
        Unsound: (409, "What would be removed is not what was written, so it stays"),
        CallerUnknown: (404, "There is no such caller"),
        LabelTaken: (409, "There is a caller of this name already"),
        UserUnknown: (404, "There is no such user, session or token"),
        UserTaken: (409, "The name is somebody else's"),
        NotProven: (401, "Whoever wants to sign in has not shown who they are"),
        TooManyTries: (429, "There were too many tries"),
        Undecidable: (422, "This cannot be decided"),
        NotDeclared: (422, "This declares no server"),
        NeedsConsent: (422, "A person has to agree to what would be run or contacted"),
        InvalidName: (422, "A name, pattern or fingerprint does not have its form"),
        Unreadable: (422, "A value has no canonical form"),
        Unrecordable: (422, "A value cannot be recorded"),
        NobodyKnown: (401, "Nobody is known by this request"),
        RightLacking: (403, "The role does not have this right"),
        PasswordNeeded: (403, "The password is needed once more"),
        Forbidden: (403, "Whoever came through this door may not do that"),
        Moved: (412, "Something else stands now than what the decision rests on"),
        NotNamed: (428, "A decision names what it rests on"),
        DeclaredElsewhere: (403, "The server is declared in the configuration file"),
        LedgerUnavailable: (503, "Nothing can be recorded now, so nothing was done"),
        StoreUnavailable: (503, "The database cannot be used now"),
    }
)


SENTENCES: Final[Mapping[int, str]] = MappingProxyType(
    {
        404: "there is nothing at this address; GET /api/v1/docs names what there is",
        405: "this address does not take this method",
    }
)
"""What is said where the framework refuses."""
_REPEATING: Final = (Unknown,)
"""Errors whose sentences name what was asked for: on the network nothing that was sent is repeated."""


def tell_problems(app: FastAPI, tallies: Tallies | None = None) -> None:
    """Have every error of this application answered in one form. Whoever may not do something is counted."""

    async def foreseen(request: Request, error: GuardError) -> JSONResponse:
        by = whoever(request)
        if tallies is not None and isinstance(error, NobodyKnown | RightLacking):
            known = {"by": f"{by.kind}:{by.id}"} if isinstance(by, Principal) else {}
            door, why = (
                ("operator" if isinstance(by, OperatorPeer) else "network"),
                ("right" if known else "credential"),
            )
            tallies.count_refused(door=door, why=why, **known)
        return _foreseen(error, repeats=not isinstance(by, Principal))

    for kind in STATUS:
        app.exception_handler(kind)(foreseen)
    app.exception_handler(RequestValidationError)(_malformed)
    app.exception_handler(HTTPException)(_refused)


def nothing_here() -> JSONResponse:
    """There is nothing at this address."""
    return problem("refused", 404, HTTPStatus.NOT_FOUND.phrase, SENTENCES[404])


def _foreseen(error: GuardError, *, repeats: bool) -> JSONResponse:
    kind, (status, title) = next((kind, STATUS[kind]) for kind in type(error).__mro__ if kind in STATUS)
    more: dict[str, object] = {}
    if isinstance(error, Stale):
        more["moved"] = list(error.moved)
    if isinstance(error, NotDeclared):
        more["problems"] = list(error.problems)
    detail = title if isinstance(error, _REPEATING) and not repeats else str(error)
    answer = problem(_word(kind), status, title, detail, **more)
    if status == HTTPStatus.UNAUTHORIZED:
        answer.headers["www-authenticate"] = CHALLENGE
    if isinstance(error, TooManyTries):
        answer.headers["retry-after"] = str(error.seconds)
    return answer


async def _malformed(_: Request, error: RequestValidationError) -> JSONResponse:
    found = [f"{_place(each['loc'])} {each['msg']}" for each in error.errors()]
    told = found[:MOST_PROBLEMS]
    if len(found) > MOST_PROBLEMS:
        told.append(f"and {len(found) - MOST_PROBLEMS} more")
    return problem("malformed", 422, "The request does not have its form", "; ".join(told), problems=told)


async def _refused(request: Request, error: HTTPException) -> JSONResponse:
    """What the framework refuses: another method, a body that is no JSON."""
    status = error.status_code
    answer = problem("refused", status, HTTPStatus(status).phrase, SENTENCES.get(status, str(error.detail)))
    answer.headers.update(error.headers or {})
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        answer.headers["allow"] = ", ".join(sorted(_methods(request)))
    return answer


def _methods(request: Request) -> set[str]:
    """The methods of all routes at this address; the framework names those of one."""
    routes = iter_route_contexts(request.app.routes)
    found = {method for each in routes if each.path_regex.match(request.url.path) for method in each.methods or ()}
    return found | {"HEAD"} if "GET" in found else found


def _place(loc: tuple[str | int, ...]) -> str:
    """Where in the request. The names in it may be anybody's."""
    return ".".join(shown_name(str(each)) for each in loc) + ":"


def _word(kind: type) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "-", kind.__name__).lower()
