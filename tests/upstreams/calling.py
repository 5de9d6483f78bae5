"""Calls that run beside a test, and how they ended."""

import anyio
from anyio.lowlevel import checkpoint

from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.protocol.calls_in_flight import Busy, Overdue
from mcpguard.upstreams.supervise.fleet import Unreachable
from tests.patience import PATIENCE
from tests.upstreams.flock import Flock


class Calls:
    """Calls that run beside the test, and how they ended."""

    def __init__(self, kept: Flock) -> None:
        self.kept = kept
        self.ended: list[str] = []
        self.scopes: list[anyio.CancelScope] = []

    async def make(self, server: str = "a", tool: str = "slow") -> None:
        with anyio.CancelScope() as scope:
            self.scopes.append(scope)
            try:
                await self.kept.call(server, tool)
                self.ended.append("answered")
            except (Busy, Unreachable, Overdue, TransportEnded) as error:
                self.ended.append(type(error).__name__)
        if scope.cancelled_caught:
            self.ended.append("cancelled")

    async def until(self, count: int) -> None:
        with anyio.fail_after(PATIENCE):
            while len(self.ended) < count:
                await checkpoint()
