"""Refuses whoever connects without TLS and past the named proxies."""

from typing import Final

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from mcpguard.guard.traffic.tallies import Tallies
from mcpguard.web.gate.credentials import DOOR

PROBES: Final = frozenset({"/healthz", "/readyz"})
"""What is answered all the same, for whoever watches the process: it needs no token, and tells nothing secret."""
REFUSAL: Final = (
    "Refused: without TLS, this guard is reached through its proxies only. Use their address; or add the address that"
    " you come from to the setting `proxies`, if it is a proxy.\n"
)


class RefuseDirect:
    """Answers 403 to everything but health checks."""

    def __init__(self, app: ASGIApp, tallies: Tallies) -> None:
        self._app = app
        self._tallies = tallies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in PROBES:
            await self._app(scope, receive, send)
            return
        self._tallies.count_refused(door=DOOR, why="past the proxies")
        headers = {"cache-control": "no-store", "connection": "close"}
        await PlainTextResponse(REFUSAL, 403, headers)(scope, receive, send)
