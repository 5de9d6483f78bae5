"""The interface of a conversation with a server, the same for every transport.

Rules for every implementation:
1. A misbehaving server affects only its own callers: reading never waits for a caller, nor for the handling of a
   request from the server. A request of the guard ends with its response, the server's error, the caller's
   cancellation, or the end of the conversation.
2. Unsolicited messages from a server are bounded; messages that cannot be parsed are counted and skipped.
3. Requests and results are raw values, passed on without additions or losses.
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
"""An error code of the guard, outside of the range that the protocol reserves: understood, but not permitted."""

Params = dict[str, Any] | None
Origin = object
"""What a request is made for, for example a call. Whatever the server sends on that request's account carries it."""

OnRequest = Callable[[str, Params, Origin | None], Awaitable[dict[str, Any]]]
"""Answers a request of the server, or raises RefusedRequest. The origin is None where it cannot be known."""
OnNotification = Callable[[str, Params, Origin | None], None]
"""Takes a notification. It is not a coroutine, so that no slow reader of one notification can hold up the others."""


class StandingRequest:
    """The origin of a request that stays open. Other messages that come meanwhile are not attributed to it.

    `acknowledged` is set once the server has named the resources whose changes it reports; those are `honoured`.
    """

    def __init__(self) -> None:
        self.acknowledged = anyio.Event()
        self.honoured: frozenset[str] = frozenset()

    def acknowledge(self, params: Params) -> None:
        """Take the server's acknowledgement. Only the first one counts, so that a server cannot widen it later."""
        # A second acknowledgement could add resources that nobody subscribed to.
        if self.acknowledged.is_set():
            return
        notifications = (params or {}).get("notifications")
        uris = notifications.get("resourceSubscriptions") if isinstance(notifications, dict) else None
        if isinstance(uris, list):
            self.honoured = frozenset(uri for uri in uris if isinstance(uri, str))
        self.acknowledged.set()


class RefusedRequest(GuardError):
    """A request of the server is answered with an error."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(str(error.get("message")))
        self.error = dict(error)


class ServerError(GuardError):
    """The server answered with an error object, which is kept unchanged."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"the server answered with the error {error.get('code')}")
        self.error = error


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits on what a server may send: size and depth of a message, and its own requests in progress."""

    message_bytes: int = 16 * 1024 * 1024
    depth: int = 64
    requests: int = 16


@dataclass(slots=True)
class Counts:
    """How many messages of a server were skipped, by reason."""

    unreadable: int = 0
    dropped: int = 0
    late: int = 0


class Conversation(Protocol):
    """Sends requests to one server and returns its answers. `run` has to run for as long as requests are made."""

    counts: Counts
    artifact: str | None
    """What runs at the other end, where that is known: a package with its version and digest, or a file's digest."""

    @property
    def in_doubt(self) -> bool:
        """Whether the server may still be working on a cancelled request, so that a message could belong to that."""
        ...

    async def request(
        self,
        method: str,
        params: Params = None,
        origin: Origin | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Send a request and return its result. Raises ServerError, or TransportEnded when nobody can answer.

        If the caller is cancelled, so is the request. `headers` are sent along where the transport has headers.
        """
        ...

    async def notify(self, method: str, params: Params = None) -> None:
        """Send a notification. Returns once it is on its way; raises TransportEnded when the server is gone."""
        ...

    async def run(self) -> None:
        """Read until the conversation ends, and then end every request that still waits."""
        ...

    def speak(self, version: str) -> None:
        """Use this revision of the protocol from now on: negotiation has chosen it."""
        ...
