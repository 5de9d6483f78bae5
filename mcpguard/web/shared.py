"""How much one person, or one program that acts for people, may have under way at once: a gate behind the one that says
who it is.

Whoever is signed in takes no place of another's, and all of them together leave some for whoever is about to sign in,
and for health.
"""

from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mcpguard.domain.people import Principal
from mcpguard.guard.traffic.tallies import Tallies
from mcpguard.policy.shares import Crowded, Shares
from mcpguard.web.gate.problem import is_of_programs, problem

AGAIN = {"retry-after": "1", "cache-control": "no-store"}


class Shared:
    """Lets in what there is a place for. What nobody known sends is answered at once, and needs none."""

    def __init__(self, app: ASGIApp, shares: Shares, tallies: Tallies) -> None:
        self._app = app
        self._shares = shares
        self._tallies = tallies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        who = _named(scope["state"]["principal"])
        if who is None:
            await self._app(scope, receive, send)
            return
        try:
            place = self._shares.take(who)
        except Crowded as crowded:
            why = "person's share" if crowded.own else "people's places"
            self._tallies.count_refused(door="network", why=why, by=who)
            await self._refusal(crowded, scope)(scope, receive, send)
            return
        with place:
            await self._app(scope, receive, send)

    def _refusal(self, crowded: Crowded, scope: Scope) -> Response:
        status = 429 if crowded.own else 503
        sentence = (
            f"You have {self._shares.of_one} requests under way, as many as one may; wait until some are answered."
            if crowded.own
            else "As many requests are under way as there may be; ask again in a moment."
        )
        if not is_of_programs(scope):
            return PlainTextResponse(f"{sentence}\n", status, AGAIN)
        answer = problem("crowded", status, "Too many requests are under way", sentence)
        answer.headers.update(AGAIN)
        return answer


def _named(principal: Principal | None) -> str | None:
    return None if principal is None else f"{principal.kind}:{principal.id}"
