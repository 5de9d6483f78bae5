"""Servers of the modern era: one request that stays open says everything that is wanted.

Rules kept here:
1. When something else is wanted, a new request is made and acknowledged before the old one is taken back: nothing goes
   unheard in between.
2. What the acknowledgement does not name is refused.
3. A server that refuses a request as a whole may mean one resource in it. Each is then asked for alone, and goes
   without the others that are refused.
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
    """One request that stays open."""

    def __init__(self) -> None:
        self.standing = StandingRequest()
        self.scope = anyio.CancelScope()
        self.ended: ServerError | TransportEnded | None = None


class Union:
    """Carries out what is wanted, on one connection."""

    busy = 0

    class Server(Protocol):
        async def watch(self, uris: Sequence[str], standing: StandingRequest) -> None:
            """Be told of changes to these until the server ends that. Raises ServerError or TransportEnded."""
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
        """The server refuses a request as a whole. Which resource it means shows when each is asked for alone."""
        refusals = {uri: await self._refusal(uri, tasks) for uri in due}
        for uri, refusal in refusals.items():
            if refusal is not None:
                self._wishes.refused(uri, refusal)
        rest = [uri for uri in due if refusals[uri] is None]
        if not rest and not self._has_too_much:
            return
        refusal = await self._replace(rest, tasks)
        if isinstance(refusal, ServerError):
            running = [uri for uri in self._wishes if uri in self._running]
            meant = [uri for uri in running if await self._refusal(uri, tasks) is not None]
            if rest or len(meant) < len(running):  # otherwise what it tells all the same is better than nothing
                self._running = self._running.difference(meant)
                self._refuse(meant, refusal)
                refusal = await self._replace(rest, tasks)
        if refusal is not None:
            self._refuse(rest, refusal)

    async def _replace(self, due: Iterable[str], tasks: TaskGroup) -> Refusal | None:
        """Ask for what is due besides what runs and is wanted. Returns why nothing has come of it."""
        uris = [uri for uri in self._wishes if uri in self._running or uri in due]
        if not uris:
            self._use(None, frozenset())
            return None
        listen = await self._opened(uris, tasks)
        if not isinstance(listen, _Listen):
            return listen
        honoured = listen.standing.honoured.intersection(uris)
        self._use(listen, honoured)
        for uri in uris:
            if uri in honoured:
                self._wishes.agreed(uri)
        self._refuse([uri for uri in uris if uri not in honoured], _not_honoured())
        if not honoured:
            self._use(None, frozenset())
        return None

    async def _refusal(self, uri: str, tasks: TaskGroup) -> Refusal | None:
        """What comes of asking for this one alone, besides everything else."""
        listen = await self._opened([uri], tasks)
        if not isinstance(listen, _Listen):
            return listen
        listen.scope.cancel()
        return None

    async def _opened(self, uris: Sequence[str], tasks: TaskGroup) -> _Listen | Refusal:
        """A request that was acknowledged, or why it was not."""
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
            self._wishes.refused(uri, refusal)

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
        if listen is self._listen:
            log.debug("upstream.unwatched", resources=len(self._running), why=str(listen.ended))
            running, self._listen, self._running = self._running, None, frozenset()
            self._refuse(running, listen.ended)


def _not_honoured() -> ServerError:
    return ServerError({"code": INVALID_PARAMS, "message": "the server does not tell of changes to this resource"})
