"""Whoever made a call, while it runs: what a server may say to them meanwhile, and ask of them."""

from collections.abc import Mapping
from typing import Any, Protocol

from mcpguard.domain.asks import Answers, Asks, Capabilities
from mcpguard.domain.servers.launches import Era


class Counterpart(Protocol):
    """The client at the other end of one call.

    Nothing here but `ask` waits: a slow client holds up nobody but itself.
    """

    @property
    def name(self) -> str:
        """What the client calls itself; nothing rests on it."""
        ...

    @property
    def era(self) -> Era:
        """The era of the protocol that it speaks, which is never `auto`."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What it can be asked for."""
        ...

    @property
    def wants_progress(self) -> bool: ...

    @property
    def log_level(self) -> str | None:
        """The least severe message that it wants to see, if any."""
        ...

    def progress(self, params: Mapping[str, Any]) -> None: ...

    def log(self, params: Mapping[str, Any]) -> None: ...

    async def ask(self, asks: Asks) -> Answers:
        """What the client answers, to all of it. Raises Declined. Cancelling this takes back what was asked."""
        ...
