"""Subscriptions at servers of the modern era: a single request that stays open names all wanted resources.

Rules kept here:
1. When the wanted resources change, the old request is cancelled only after the new one is acknowledged, so that no
   change is missed in between.
2. A resource that the acknowledgement does not name counts as refused.
3. A server may refuse a whole request because of one resource in it. Then each resource is requested alone, and the
   combined request is made again without the refused ones.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

import anyio
import structlog
from anyio.abc import TaskGroup

from mcpguard.upstreams.exchange.conversation import INVALID_PARAMS, ServerError, StandingRequest
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.supervise.watching.wishes import Refusal, Wishes

log = structlog.get_logger("mcpguard.upstreams")


class _Listen:
    """A subscription request that stays open."""

    def __init__(self) -> None:
        self.standing = StandingRequest()
        self.scope = anyio.CancelScope()
        self.ended: ServerError | TransportEnded | None = None


class CombinedSubscription:
    """Makes the subscription request of one connection match the wishes."""

    busy = 0

    class Server(Protocol):
        async def watch(self, uris: Sequence[str], standing: StandingRequest) -> None:
            """Listen for changes to resources until the server ends that. Raises ServerError or TransportEnded."""
            ...

    def __init__(self, server: Server, wishes: Wishes, seconds: float) -> None:
        self._server = server
        self._wishes = wishes
        self._seconds = seconds
        self._listen: _Listen | None = None
        self._running: frozenset[str] = frozenset()

    async def run(self) -> None:
        async with anyio.create_task_group() as tasks:
            while True:
                await self._wishes.changes()
                await self._adjust(tasks)

    async def _adjust(self, tasks: TaskGroup) -> None:
        due = [uri for uri in self._wishes if self._wishes.due(uri)]
        if not due and not self._has_too_much:
            return
        refusal = await self._replace(due, tasks)
        if isinstance(refusal, ServerError) and len(due) + len(self._running) > 1:
            await self._sort_out(due, tasks)
        elif refusal is not None:
            self._refuse(due, refusal)

    async def _sort_out(self, due: Sequence[str], tasks: TaskGroup) -> None:
        """Find out which resources made the server refuse a whole request, by requesting each alone."""
        # One at a time: a server that refuses many requests at once may do so because there are many.
        refusals = {uri: await self._refusal(uri, tasks) for uri in due}
        for uri, refusal in refusals.items():
            if refusal is not None:
                self._wishes.note_refused(uri, refusal)
        rest = [uri for uri in due if refusals[uri] is None]
        if not rest and not self._has_too_much:
            return
        refusal = await self._replace(rest, tasks)
        if isinstance(refusal, ServerError):
            running = [uri for uri in self._wishes if uri in self._running]
            meant = [uri for uri in running if await self._refusal(uri, tasks) is not None]
            if rest or len(meant) < len(running):  # otherwise the open request, which still works, is better than none
                self._running = self._running.difference(meant)
                self._refuse(meant, refusal)
                refusal = await self._replace(rest, tasks)
        if refusal is not None:
            self._refuse(rest, refusal)

    async def _replace(self, due: Iterable[str], tasks: TaskGroup) -> Refusal | None:
        """Request the due resources and the running ones that are still wanted. Returns the refusal if that failed."""
        uris = [uri for uri in self._wishes if uri in self._running or uri in due]
        if not uris:
            self._use(None, frozenset())
            return None
        listen = await self._opened(uris, tasks)
        if not isinstance(listen, _Listen):
            return listen
        honoured = listen.standing.honoured.intersection(uris)
        # The new request is acknowledged before the old one is cancelled, so that no change falls between the two.
        self._use(listen, honoured)
        for uri in uris:
            if uri in honoured:
                self._wishes.note_agreed(uri)
        self._refuse([uri for uri in uris if uri not in honoured], _not_honoured())
        if not honoured:
            self._use(None, frozenset())
        return None

    async def _refusal(self, uri: str, tasks: TaskGroup) -> Refusal | None:
        """Request one resource alone, and return the refusal, or None if the server agrees."""
        listen = await self._opened([uri], tasks)
        if not isinstance(listen, _Listen):
            return listen
        listen.scope.cancel()
        return None

    async def _opened(self, uris: Sequence[str], tasks: TaskGroup) -> _Listen | Refusal:
        """Open a request, and return it once it is acknowledged, or the refusal."""
        listen = _Listen()
        tasks.start_soon(self._hold, listen, uris, name="subscriptions to resources")
        with anyio.move_on_after(self._seconds):
            await listen.standing.acknowledged.wait()
        if not listen.standing.acknowledged.is_set():
            listen.scope.cancel()
            return TimeoutError()
        return listen if listen.ended is None else listen.ended

    @property
    def _has_too_much(self) -> bool:
        return any(uri not in self._wishes for uri in self._running)

    def _refuse(self, uris: Iterable[str], refusal: Refusal) -> None:
        for uri in uris:
            self._wishes.note_refused(uri, refusal)

    def _use(self, listen: _Listen | None, running: frozenset[str]) -> None:
        before, self._listen, self._running = self._listen, listen, running
        if before is not None:
            before.scope.cancel()

    async def _hold(self, listen: _Listen, uris: Sequence[str]) -> None:
        try:
            with listen.scope:
                await self._server.watch(uris, listen.standing)
            listen.ended = TransportEnded("the server ended the subscription")
        except (ServerError, TransportEnded) as error:
            listen.ended = error
        listen.standing.acknowledged.set()
        # Only for the request in use: one that was replaced ends by itself, and nothing depends on it.
        if listen is self._listen:
            log.debug("upstream.unwatched", resources=len(self._running), why=str(listen.ended))
            running, self._listen, self._running = self._running, None, frozenset()
            self._refuse(running, listen.ended)


def _not_honoured() -> ServerError:
    return ServerError({"code": INVALID_PARAMS, "message": "the server does not report changes of this resource"})
