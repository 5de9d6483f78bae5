"""The parts and settings that the supervisors of all servers share."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from mcpguard.domain.asks import AskKind
from mcpguard.domain.clock import Clock
from mcpguard.domain.errors import GuardError
from mcpguard.domain.servers.launches import DeclaredServer
from mcpguard.domain.servers.news import News
from mcpguard.settings.call_groups import Definitions
from mcpguard.settings.model import Upstreams
from mcpguard.upstreams.exchange.conversation import Conversation
from mcpguard.upstreams.protocol.switchboard import Switchboard
from mcpguard.upstreams.supervise.backoff import Backoff, Jitter

Install = Callable[[DeclaredServer], Awaitable[DeclaredServer]]
Reach = Callable[[DeclaredServer, Switchboard], AbstractAsyncContextManager[Conversation]]


class ConnectionLost(GuardError):
    """The connection has to be made anew. The message says why."""


@dataclass(frozen=True, slots=True)
class SupervisorContext:
    """The parts and settings that every supervisor works with.

    `install` installs what a declaration fetches, `us` is the guard's name and version for servers, and `may_ask`
    returns what a server may ask its clients.
    """

    settings: Upstreams
    definitions: Definitions
    clock: Clock
    jitter: Jitter
    reach: Reach
    install: Install
    tell: Callable[[News], None]
    us: Mapping[str, Any]
    may_ask: Callable[[str], frozenset[AskKind]]

    def growing(self, first: float) -> Backoff:
        """Return pauses that grow from `first` seconds to the configured maximum."""
        return Backoff(first, self.settings.retry_most_seconds, self.jitter)


async def converse(conversation: Conversation) -> None:
    """Read from the server until it ends the connection. Raises the error that says why."""
    # It returns without an error, also where the server vanished: only a request shows how the connection ended.
    await conversation.run()
    await conversation.request("ping")  # the conversation is over, so this raises the reason of its end
    raise ConnectionLost("the server ended the connection")
