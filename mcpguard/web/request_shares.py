"""Limits the concurrent requests of each user and each API token, after `credentials` has identified them.

One sender cannot use up the places of others, and all signed-in senders together leave some places for sign-ins and
health checks.
"""

from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mcpguard.domain.people import Principal
from mcpguard.guard.traffic.tallies import Tallies
from mcpguard.policy.shares import Crowded, Shares
from mcpguard.web.gate.problem import is_of_programs, problem

AGAIN = {"retry-after": "1", "cache-control": "no-store"}


class RequestShares:
    """Admits requests as long as their sender has a place. Requests of unknown senders need none."""

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
            f"You have {self._shares.of_one} concurrent requests, the limit for one sender; wait for some to finish."
            if crowded.own
            else "Too many concurrent requests; try again in a moment."
        )
        if not is_of_programs(scope):
            return PlainTextResponse(f"{sentence}\n", status, AGAIN)
        answer = problem("crowded", status, "Too many concurrent requests", sentence)
        answer.headers.update(AGAIN)
        return answer


def _named(principal: Principal | None) -> str | None:
    return None if principal is None else f"{principal.kind}:{principal.id}"
