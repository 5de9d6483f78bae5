"""Answers errors to programs as application/problem+json, from one table.

Rules kept here:
1. An expected error has a status, a constant title, and its own sentence. An error that is not in the table is a bug in
   the guard: it is logged with its traceback, and the response reveals nothing about it.
2. An invalid value is identified by its place in the request; no value that was sent is repeated.
"""

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Final, NamedTuple

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
from mcpguard.web.gate.access import NobodyKnown, RightLacking
from mcpguard.web.gate.matching import Moved, NotNamed
from mcpguard.web.gate.peer import OperatorPeer
from mcpguard.web.gate.problem import SENTENCES, problem
from mcpguard.web.gate.sender import whoever

CHALLENGE: Final = 'Bearer realm="mcpguard"'
MOST_PROBLEMS: Final = 20


class ProblemKind(NamedTuple):
    """How an error is answered. `word` ends its type, `urn:mcpguard:…`, by which programs know it."""

    word: str
    status: int
    title: str


PROBLEMS: Final[Mapping[type[GuardError], ProblemKind]] = MappingProxyType(
    {
        Unknown: ProblemKind("unknown", 404, "Unknown server, capability or held call"),
        Stale: ProblemKind("stale", 409, "The server or capability changed since it was reviewed"),
        IllegalMove: ProblemKind("illegal-move", 409, "Not possible in the current status"),
        NameTaken: ProblemKind("name-taken", 409, "A server with this name exists already"),
        BadFilter: ProblemKind("bad-filter", 400, "Invalid filter"),
        RecordUnknown: ProblemKind("record-unknown", 404, "Unknown record or call"),
        Unsound: ProblemKind("unsound", 409, "Nothing was removed: the stored data was changed since it was written"),
        CallerUnknown: ProblemKind("caller-unknown", 404, "Unknown caller"),
        LabelTaken: ProblemKind("label-taken", 409, "A caller with this name exists already"),
        UserUnknown: ProblemKind("user-unknown", 404, "Unknown user, session or token"),
        UserTaken: ProblemKind("user-taken", 409, "The name is in use already"),
        NotProven: ProblemKind("not-proven", 401, "Sign-in failed"),
        TooManyTries: ProblemKind("too-many-tries", 429, "Too many attempts"),
        Undecidable: ProblemKind("undecidable", 422, "The request cannot be carried out"),
        NotDeclared: ProblemKind("not-declared", 422, "Invalid server declaration"),
        NeedsConsent: ProblemKind("needs-consent", 422, "Consent is needed to run or contact the server"),
        InvalidName: ProblemKind("invalid-name", 422, "Invalid name, pattern or fingerprint"),
        Unreadable: ProblemKind("unreadable", 422, "A value cannot be written as canonical JSON"),
        Unrecordable: ProblemKind("unrecordable", 422, "A value cannot be recorded"),
        NobodyKnown: ProblemKind("nobody-known", 401, "Authentication required"),
        RightLacking: ProblemKind("right-lacking", 403, "The role does not permit this"),
        PasswordNeeded: ProblemKind("password-needed", 403, "Confirmation with the password is needed"),
        Forbidden: ProblemKind("forbidden", 403, "Not permitted"),
        Moved: ProblemKind("moved", 412, "The ETag is out of date"),
        NotNamed: ProblemKind("not-named", 428, "If-Match is required"),
        DeclaredElsewhere: ProblemKind("declared-elsewhere", 403, "The server is declared in the configuration file"),
        LedgerUnavailable: ProblemKind(
            "ledger-unavailable", 503, "Nothing was done, because the audit log cannot be written"
        ),
        StoreUnavailable: ProblemKind("store-unavailable", 503, "The database is unavailable"),
    }
)

_REPEATING: Final = (Unknown,)
"""Errors whose sentences repeat what was asked for; on the network only their titles are told."""


def tell_problems(app: FastAPI, tallies: Tallies | None = None) -> None:
    """Register handlers that answer every error of an application as a problem, and count refused senders."""

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

    for kind in PROBLEMS:
        app.exception_handler(kind)(foreseen)
    app.exception_handler(RequestValidationError)(_malformed)
    app.exception_handler(HTTPException)(_refused)


def _foreseen(error: GuardError, *, repeats: bool) -> JSONResponse:
    word, status, title = next(PROBLEMS[kind] for kind in type(error).__mro__ if kind in PROBLEMS)
    more: dict[str, object] = {}
    if isinstance(error, Stale):
        more["moved"] = list(error.moved)
    if isinstance(error, NotDeclared):
        more["problems"] = list(error.problems)
    detail = title if isinstance(error, _REPEATING) and not repeats else str(error)
    answer = problem(word, status, title, detail, **more)
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
    return problem("malformed", 422, "The request is invalid", "; ".join(told), problems=told)


async def _refused(request: Request, error: HTTPException) -> JSONResponse:
    """Answer what the framework refuses: an unknown method, a body that is not JSON."""
    status = error.status_code
    answer = problem("refused", status, HTTPStatus(status).phrase, SENTENCES.get(status, str(error.detail)))
    answer.headers.update(error.headers or {})
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        answer.headers["allow"] = ", ".join(sorted(_methods(request)))
    return answer


def _methods(request: Request) -> set[str]:
    """Collect the methods of all routes at this address; the framework names those of one route only."""
    routes = iter_route_contexts(request.app.routes)
    found = {method for each in routes if each.path_regex.match(request.url.path) for method in each.methods or ()}
    return found | {"HEAD"} if "GET" in found else found


def _place(loc: tuple[str | int, ...]) -> str:
    """Write a place in the request. Its names come from the sender, so they are escaped."""
    return ".".join(shown_name(str(each)) for each in loc) + ":"
