"""The client that waits for a call, and the messages that the server may send to it during the call."""

from collections.abc import Mapping
from typing import Any, Protocol

from mcpguard.domain.asks import Answers, Asks, Capabilities
from mcpguard.domain.servers.launches import Era


class Counterpart(Protocol):
    """The client at the other end of one call.

    Only `ask` waits: a slow client delays nobody but itself.
    """

    @property
    def name(self) -> str:
        """The name that the client gives itself; no decision depends on it."""
        ...

    @property
    def era(self) -> Era:
        """The era of the protocol that the client speaks, never `auto`."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """The requests that the client supports."""
        ...

    @property
    def wants_progress(self) -> bool: ...

    @property
    def log_level(self) -> str | None:
        """The least severe log level that the client wants to receive, if any."""
        ...

    def progress(self, params: Mapping[str, Any]) -> None: ...

    def log(self, params: Mapping[str, Any]) -> None: ...

    async def ask(self, asks: Asks) -> Answers:
        """Send the requests and return the client's answer to each. Raises Declined. Cancelling withdraws them."""
        ...


class CallingClient(Counterpart, Protocol):
    """The client at the other end of a call that may be an approved script, and so make further calls."""

    def for_call(self, server: str) -> "CallingClient":
        """Return this client for a further call, of another server."""
        ...
