"""A server whose resources are watched, played without a wire, and somebody who wants to hear of one."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import anyio
from anyio.lowlevel import checkpoint

from mcpguard.upstreams.exchange.conversation import ServerError, StandingRequest
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.supervise.backoff import Backoff
from mcpguard.upstreams.supervise.watching.watching import Watching
from tests.upstreams.flock import Clock, settled

REFUSED = {"code": -32002, "message": "no such resource"}


class Server:
    """Tells of what it was asked for, unless that is in `refused`. `hold` keeps its answers until `go`."""

    def __init__(self, *, modern: bool, refused: set[str] | None = None, subscribes: bool = True) -> None:
        self.modern = modern
        self.subscribes = subscribes
        self.refused = set() if refused is None else refused
        self.whole = False  # whether it refuses a request as a whole for one resource in it
        self.asked: list[str] = []
        self.each: set[str] = set()
        self.listens: list[frozenset[str]] = []
        self.gaps: list[str] = []  # what was taken back although somebody counts on it
        self.counted_on: Callable[[str], bool] = lambda _: False
        self._busy: set[str] = set()
        self._broken = anyio.Event()
        self._go = anyio.Event()
        self._go.set()

    @property
    def tells(self) -> set[str]:
        return self.each.union(*self.listens)

    def hold(self) -> None:
        if self._go.is_set():
            self._go = anyio.Event()

    def go(self) -> None:
        self._go.set()

    def break_listens(self) -> None:
        self._broken.set()
        self._broken = anyio.Event()

    async def subscribe(self, uri: str) -> None:
        await self._one_at_a_time("subscribe", uri)
        if uri in self.refused:
            raise ServerError(REFUSED)
        self.each.add(uri)

    async def unsubscribe(self, uri: str) -> None:
        await self._one_at_a_time("unsubscribe", uri)
        self.each.discard(uri)

    async def watch(self, uris: Sequence[str], standing: StandingRequest) -> None:
        self.asked.append(f"listen {' '.join(sorted(uris))}")
        await self._turn()
        if self.whole and self.refused.intersection(uris):
            raise ServerError(REFUSED)
        honoured, broken = frozenset(uris) - self.refused, self._broken
        self.listens.append(honoured)
        standing.acknowledge({"notifications": {"resourceSubscriptions": sorted(honoured)}})
        try:
            await broken.wait()
        except anyio.get_cancelled_exc_class():
            self.listens.remove(honoured)
            self.gaps += sorted(uri for uri in honoured - self.tells if self.counted_on(uri))
            raise
        self.listens.remove(honoured)
        raise TransportEnded("the stream broke off")

    async def _one_at_a_time(self, what: str, uri: str) -> None:
        self.asked.append(f"{what} {uri}")
        assert uri not in self._busy, "two requests for one resource at once"
        self._busy.add(uri)
        try:
            await self._turn()
        finally:
            self._busy.discard(uri)

    async def _turn(self) -> None:
        await checkpoint()
        await self._go.wait()


class Holder:
    """Wants to hear of one resource, and can give up at any time."""

    def __init__(self, watching: Watching, uri: str) -> None:
        self.uri = uri
        self.holds = False
        self.error: Exception | None = None
        self._watching = watching
        self._scope = anyio.CancelScope()

    async def begin(self) -> None:
        with self._scope:
            try:
                await self._watching.add(self.uri, self)
                self.holds = True
            except (ServerError, TransportEnded, TimeoutError) as error:
                self.error = error
        if self._scope.cancel_called:  # the answer may have come at the same moment
            self.give_up()

    def give_up(self) -> None:
        """Cancelled where it still waits; either way it wants nothing any more."""
        self._scope.cancel()
        if self.holds:
            self._watching.drop(self.uri, self)
        self.holds = False


class Kept:
    """What is watched of one server, over one connection after the other."""

    def __init__(self, *, modern: bool, seconds: float = 3600) -> None:
        self.clock = Clock()
        self.told: list[str] = []
        self.modern = modern
        self.watching = Watching(self.clock, seconds, lambda: Backoff(1, 60, lambda: 0.0), 60, self.told.append)
        self.server = Server(modern=modern)
        self._connection = anyio.CancelScope()

    async def connect(self, tasks: anyio.abc.TaskGroup, **more: bool) -> Server:
        """A new connection, to a server that has forgotten everything but what it refuses."""
        self.server = Server(modern=self.modern, refused=self.server.refused, **more)
        self.server.counted_on = self._heard
        await tasks.start(self._keep)
        await settled()
        return self.server

    async def lose(self) -> None:
        self._connection.cancel()
        await settled()

    def _heard(self, uri: str) -> bool:
        wish = self.watching._wishes._wishes.get(uri)
        return wish is not None and wish.heard

    async def _keep(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        with anyio.CancelScope() as self._connection:
            await self.watching.keep(self.server, task_status=task_status)


@asynccontextmanager
async def kept(*, modern: bool, seconds: float = 3600) -> AsyncIterator[tuple[Kept, anyio.abc.TaskGroup]]:
    """Watching that is connected."""
    async with anyio.create_task_group() as tasks:
        found = Kept(modern=modern, seconds=seconds)
        await found.connect(tasks)
        yield found, tasks
        tasks.cancel_scope.cancel()
