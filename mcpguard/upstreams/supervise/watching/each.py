"""Servers of the handshake era: each resource is subscribed to, and unsubscribed from, by a request of its own.

Rules kept here:
1. For one resource there is one request at a time, so that the last one says what is wanted.
2. A server that does not answer gets no more than a few requests at once.
3. Where it is not known whether the server took a subscription, it is taken back when it is no longer wanted.
"""

from typing import Protocol

import anyio

from mcpguard.upstreams.exchange.conversation import ServerError
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.supervise.watching.wishes import Refusal, Wishes

AT_ONCE = 8


class Each:
    """Carries out what is wanted, on one connection."""

    class Server(Protocol):
        async def subscribe(self, uri: str) -> None:
            """Raises ServerError or TransportEnded."""
            ...

        async def unsubscribe(self, uri: str) -> None:
            """Raises ServerError or TransportEnded."""
            ...

    def __init__(self, server: Server, wishes: Wishes, seconds: float) -> None:
        self._server = server
        self._wishes = wishes
        self._seconds = seconds
        self._taken: set[str] = set()  # what the server may tell of
        self._settling: set[str] = set()
        self._places = anyio.CapacityLimiter(AT_ONCE)

    @property
    def busy(self) -> int:
        """For how many resources something is still to be said to the server."""
        return len(self._settling)

    async def run(self) -> None:
        async with anyio.create_task_group() as tasks:
            while True:
                for uri in await self._wishes.changes():
                    if uri not in self._settling:
                        self._settling.add(uri)
                        tasks.start_soon(self._settle, uri, name="subscription to a resource")

    async def _settle(self, uri: str) -> None:
        """Until nothing is left to be said of this resource."""
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
            self._wishes.agreed(uri)
        else:
            self._wishes.refused(uri, refusal)

    async def _unsubscribe(self, uri: str) -> None:
        self._taken.discard(uri)
        try:
            with anyio.fail_after(self._seconds):
                await self._server.unsubscribe(uri)
        except (ServerError, TransportEnded, TimeoutError):
            return  # what it tells all the same is wanted by nobody
