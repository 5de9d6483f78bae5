"""Identifies the sender of a request before it reaches a page or the API. Agents are identified in `gateway`.

Rules kept here:
1. A credential is an operator's token or a session cookie. Both at once, or one of them twice, is ambiguous: 400. An
   unknown token is 401, and so is an agent's. An unknown cookie counts as no credential, so that a user whose session
   ended still sees the open pages.
2. A request that changes something, and every request to the API, is refused (403) if it comes from a page of another
   site. With a cookie, a change must also state its origin, which every browser does (CSRF).
3. The sender is stored in `request.state.principal`, None if unknown, replacing any earlier value. Pages and routes
   check the sender's rights themselves.
"""

import re
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mcpguard.codec.origins import is_foreign, origin
from mcpguard.domain.people import Principal
from mcpguard.guard.people.people import People
from mcpguard.guard.traffic.tallies import Tallies
from mcpguard.web.gate.cookies import session_cookies
from mcpguard.web.gate.problem import is_of_programs, problem

DOOR: Final = "network"
SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
CHALLENGE: Final = 'Bearer realm="mcpguard"'
_TITLES: Final = {
    400: ("unreadable", "The request is ambiguous"),
    401: ("unauthorized", "Invalid credential"),
    403: ("foreign-page", "The request comes from a page of another site"),
}
_BEARER: Final = re.compile(r"bearer +([A-Za-z0-9._~+/-]+=*) *", re.IGNORECASE)


class _Turned(Exception):
    """A request that is refused at once. `why`: a constant word, for the statistics."""

    def __init__(self, status: int, sentence: str, why: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.why = why


class Credentials:
    """Identifies the sender of each request, or refuses the request."""

    def __init__(self, app: ASGIApp, people: People, tallies: Tallies) -> None:
        self._app = app
        self._people = people
        self._tallies = tallies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            principal = self._sender(scope, Headers(scope=scope))
        except _Turned as turned:
            self._tallies.count_refused(door=DOOR, why=turned.why)
            await _answer(turned, scope)(scope, receive, send)
            return
        state = {**scope.get("state", {}), "principal": principal}
        await self._app({**scope, "state": state}, receive, send)

    def _sender(self, scope: Scope, headers: Headers) -> Principal | None:
        cookies, given = session_cookies(scope), headers.getlist("authorization")
        _check_origin(scope, headers, with_cookie=bool(cookies))
        if len(cookies) + len(given) > 1:
            raise _Turned(400, "more than one credential; send exactly one", "credential")
        if not given:
            return self._people.by_session(cookies[0]) if cookies else None
        token = bearer_of(given[0])
        principal = None if token is None else self._people.by_token(token)
        if principal is None:
            raise _Turned(401, "invalid API token; send Authorization: Bearer mcpo_…", "credential")
        return principal


def bearer_of(header: str) -> str | None:
    """Return the token in an Authorization header; None where it has none."""
    found = _BEARER.fullmatch(header)
    return None if found is None else found[1]


def _check_origin(scope: Scope, headers: Headers, *, with_cookie: bool) -> None:
    changes = scope["method"] not in SAFE
    if not changes and not is_of_programs(scope):
        return
    origins, sites = headers.getlist("origin"), headers.getlist("sec-fetch-site")
    if max(len(origins), len(sites)) > 1:
        raise _Turned(400, "an Origin or Sec-Fetch-Site header was sent twice", "headers")
    from_, site = (each[0] if each else None for each in (origins, sites))
    if is_foreign(from_, site, origin(scope["scheme"], headers.get("host", ""))):
        raise _Turned(403, "requests from pages of other sites are refused", "origin")
    if changes and with_cookie and from_ is None and site is None:
        raise _Turned(
            403, "an Origin or Sec-Fetch-Site header is missing; programs authenticate with an API token", "origin"
        )


def _answer(turned: _Turned, scope: Scope) -> Response:
    headers = {"www-authenticate": f'{CHALLENGE}, error="invalid_token"'} if turned.status == 401 else {}
    if not is_of_programs(scope):
        return PlainTextResponse(f"Refused: {turned}.\n", turned.status, {"cache-control": "no-store", **headers})
    word, title = _TITLES[turned.status]
    answer = problem(word, turned.status, title, str(turned))
    answer.headers.update(headers)
    return answer
