"""Who sends a request to a page or to the API of the network: a gate before both. Agents have their own (`gateway`).

Rules kept here:
1. An operator's token or the cookie of somebody who is signed in; both at once, or one of them twice, could mean two
   people, and is 400. A token that is not known is 401, and so is an agent's. A cookie that is not known is nobody's:
   whoever was signed in once may look at what anybody may.
2. What changes something, and everything in the API, is refused (403) where it comes from a page that is not ours. A
   cookie on what changes something must come with a sign of where it comes from, which every browser sends.
3. Who it is stands in `request.state.principal`, None for nobody, whatever was there before. What they may do is asked
   of it by each page and each route.
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
from mcpguard.web.gate.cookies import shown
from mcpguard.web.gate.problem import is_of_programs, problem

DOOR: Final = "network"
SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
CHALLENGE: Final = 'Bearer realm="mcpguard"'
_TITLES: Final = {
    400: ("unreadable", "The request could mean two things"),
    401: ("unauthorized", "Nobody is known by this credential"),
    403: ("foreign-page", "The request does not come from one of our pages"),
}
_BEARER: Final = re.compile(r"bearer +([A-Za-z0-9._~+/-]+=*) *", re.IGNORECASE)


class _Turned(Exception):
    """A request that is answered at once. `why` is a word of ours, for counting."""

    def __init__(self, status: int, sentence: str, why: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.why = why


class Credentials:
    """Says who it is, or turns them away."""

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
        cookies, given = shown(scope), headers.getlist("authorization")
        _check_origin(scope, headers, with_cookie=bool(cookies))
        if len(cookies) + len(given) > 1:
            raise _Turned(400, "there is more than one credential; send one", "credential")
        if not given:
            return self._people.by_session(cookies[0]) if cookies else None
        found = _BEARER.fullmatch(given[0])
        principal = None if found is None else self._people.by_token(found[1])
        if principal is None:
            raise _Turned(401, "authorize with an operator's token that is valid: Bearer mcpo_…", "credential")
        return principal


def _check_origin(scope: Scope, headers: Headers, *, with_cookie: bool) -> None:
    changes = scope["method"] not in SAFE
    if not changes and not is_of_programs(scope):
        return
    origins, sites = headers.getlist("origin"), headers.getlist("sec-fetch-site")
    if max(len(origins), len(sites)) > 1:
        raise _Turned(400, "a header that says where this comes from is there more than once", "headers")
    from_, site = (each[0] if each else None for each in (origins, sites))
    if is_foreign(from_, site, origin(scope["scheme"], headers.get("host", ""))):
        raise _Turned(403, "requests from pages of other sites are refused", "origin")
    if changes and with_cookie and from_ is None and site is None:
        raise _Turned(403, "nothing says which page this comes from; programs show an operator's token", "origin")


def _answer(turned: _Turned, scope: Scope) -> Response:
    headers = {"www-authenticate": f'{CHALLENGE}, error="invalid_token"'} if turned.status == 401 else {}
    if not is_of_programs(scope):
        return PlainTextResponse(f"Refused: {turned}.\n", turned.status, {"cache-control": "no-store", **headers})
    word, title = _TITLES[turned.status]
    answer = problem(word, turned.status, title, str(turned))
    answer.headers.update(headers)
    return answer
