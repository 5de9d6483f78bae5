"""What all upstreams have in common."""

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


class Lost(GuardError):
    """The connection has to be made anew. Says why."""


@dataclass(frozen=True, slots=True)
class SupervisorContext:
    """What every supervisor works with. `install` brings what a declaration has to fetch. `us` is what we call
    ourselves; `may_ask` says what a server may ask for.
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
        """Pauses that get longer, and never too long."""
        return Backoff(first, self.settings.retry_most_seconds, self.jitter)


async def converse(conversation: Conversation) -> None:
    """Read what the server says, until it ends the connection. Raises what shows why it did."""
    await conversation.run()
    await conversation.request("ping")  # nobody is there any more: this raises, and says why
    raise Lost("the server ended the connection")
