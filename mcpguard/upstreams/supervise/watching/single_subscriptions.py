"""Subscriptions at servers of the handshake era, with separate subscribe and unsubscribe requests per resource.

Rules kept here:
1. Each resource has at most one request in progress, so that the last request determines its state.
2. A server that does not respond gets only a few requests at once.
3. If it is unknown whether the server accepted a subscription, it is unsubscribed when it is no longer wanted.
"""

from typing import Protocol

import anyio

from mcpguard.upstreams.exchange.conversation import ServerError
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.supervise.watching.wishes import Refusal, Wishes

AT_ONCE = 8


class SingleSubscriptions:
    """Makes the subscriptions of one connection match the wishes."""

    class Server(Protocol):
        async def subscribe(self, uri: str) -> None:
            """Subscribe to a resource. Raises ServerError or TransportEnded."""
            ...

        async def unsubscribe(self, uri: str) -> None:
            """Unsubscribe from a resource. Raises ServerError or TransportEnded."""
            ...

    def __init__(self, server: Server, wishes: Wishes, seconds: float) -> None:
        self._server = server
        self._wishes = wishes
        self._seconds = seconds
        self._taken: set[str] = set()  # resources whose changes the server may report
        self._settling: set[str] = set()
        self._places = anyio.CapacityLimiter(AT_ONCE)

    @property
    def busy(self) -> int:
        """The number of resources with a request that is still to be made or answered."""
        return len(self._settling)

    async def run(self) -> None:
        async with anyio.create_task_group() as tasks:
            while True:
                for uri in await self._wishes.changes():
                    # One task for each resource: two requests for one at once could arrive in the other order.
                    if uri not in self._settling:
                        self._settling.add(uri)
                        tasks.start_soon(self._settle, uri, name="subscription to a resource")

    async def _settle(self, uri: str) -> None:
        """Make requests for one resource until its subscription matches the wish."""
        async with self._places:
            while True:
                if self._wishes.due(uri):
                    await self._subscribe(uri)
                elif uri in self._taken and uri not in self._wishes:
                    await self._unsubscribe(uri)
                else:
                    self._settling.discard(uri)
                    return

    async def _subscribe(self, uri: str) -> None:
        # Before the request: if its answer is lost the server may have taken it, and then it has to be undone later.
        self._taken.add(uri)
        refusal: Refusal | None = None
        try:
            with anyio.fail_after(self._seconds):
                await self._server.subscribe(uri)
        except ServerError as error:
            refusal = error
            self._taken.discard(uri)
        except (TransportEnded, TimeoutError) as error:
            refusal = error
        if refusal is None:
            self._wishes.note_agreed(uri)
        else:
            self._wishes.note_refused(uri, refusal)

    async def _unsubscribe(self, uri: str) -> None:
        self._taken.discard(uri)
        try:
            with anyio.fail_after(self._seconds):
                await self._server.unsubscribe(uri)
        except (ServerError, TransportEnded, TimeoutError):
            return  # changes that the server still reports are dropped, as nobody wants them
