"""What every conversation with a server looks like from above, however the server is reached.

Rules for whoever implements one:
1. Whatever a server does costs nobody else: reading never waits for a caller, nor for what a request of the server's
   own sets in motion. A request of ours ends with its answer, the server's error, the caller's cancellation, or the
   end of the conversation.
2. What a server sends without being asked is bounded, and what cannot be understood is counted and passed over.
3. What was asked and what came back are raw values: nothing is added and nothing is lost.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import anyio

from mcpguard.domain.errors import GuardError

INTERNAL_ERROR = -32603
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
DENIED = -31010
"""Ours, outside of what the protocol reserves: it is understood, and not permitted."""

Params = dict[str, Any] | None
Origin = object
"""What a request of ours is made for. It comes back with whatever the server sends on that request's account."""

OnRequest = Callable[[str, Params, Origin | None], Awaitable[dict[str, Any]]]
"""Answers a request of the server, or raises Refused. The origin is None where it cannot be known."""
OnNotification = Callable[[str, Params, Origin | None], None]
"""Takes a notification. It cannot wait, so that no slow reader of one holds up the others."""


class StandingRequest:
    """The origin of a request that stays open, so that what a server says meanwhile need not be said on its account.

    `acknowledged` is set when the server has said which resources it tells of; those are `honoured`.
    """

    def __init__(self) -> None:
        self.acknowledged = anyio.Event()
        self.honoured: frozenset[str] = frozenset()

    def acknowledge(self, params: Params) -> None:
        """Take the server's word, the first one."""
        if self.acknowledged.is_set():
            return
        said = (params or {}).get("notifications")
        uris = said.get("resourceSubscriptions") if isinstance(said, dict) else None
        if isinstance(uris, list):
            self.honoured = frozenset(uri for uri in uris if isinstance(uri, str))
        self.acknowledged.set()


class RefusedRequest(GuardError):
    """A request of the server that is answered with an error."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(str(error.get("message")))
        self.error = dict(error)


class ServerError(GuardError):
    """The server answered with an error, which is kept as it is."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"the server answered with the error {error.get('code')}")
        self.error = error


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is taken from a server."""

    message_bytes: int = 16 * 1024 * 1024
    depth: int = 64
    requests: int = 16


@dataclass(slots=True)
class Counts:
    """What was passed over."""

    unreadable: int = 0
    dropped: int = 0
    late: int = 0


class Conversation(Protocol):
    """Questions to one server and its answers. `run` has to run for as long as anything is asked."""

    counts: Counts
    artifact: str | None
    """What runs at the other end, where it can be told: a package with its version and digest, or a file's digest."""

    @property
    def in_doubt(self) -> bool:
        """Whether the server may still be at something that was taken back, so that what it says could be for that."""
        ...

    async def request(
        self,
        method: str,
        params: Params = None,
        origin: Origin | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Ask, and return the result. Raises ServerError, or TransportEnded when there is nobody to answer.

        A caller that is cancelled takes the question back. `headers` go with it where there are headers.
        """
        ...

    async def notify(self, method: str, params: Params = None) -> None:
        """Tell. Returns when it is on its way; raises TransportEnded when there is nobody to tell."""
        ...

    async def run(self) -> None:
        """Read until the conversation ends; then everyone who waits hears of it."""
        ...

    def speak(self, version: str) -> None:
        """From now on, in this revision of the protocol: negotiation has chosen it."""
        ...
