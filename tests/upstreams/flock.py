"""A fleet on its own: its clock is the test's, what it tells is kept, and its servers are scripts.

Scripts are reached by hand, without a socket or a process (`Wires`), or the way that they are in life (`Reaching`).
"""

import heapq
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio import wait_all_tasks_blocked
from anyio.lowlevel import checkpoint

from mcpguard.domain.asks import Answers, Ask, AskKind, Asks, QuestionDeclined
from mcpguard.domain.calls.records import Permit
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.connections import Condition, ConnectionState
from mcpguard.domain.servers.launches import DeclaredServer, Era, Profile, RemoteLaunch, StdioLaunch, Templates
from mcpguard.domain.servers.listings import Listing
from mcpguard.domain.servers.news import ConnectionChanged, News, ServerListed, ServerRemoved
from mcpguard.domain.servers.upstreams import Transport
from mcpguard.settings.call_groups import Definitions
from mcpguard.settings.model import Upstreams
from mcpguard.upstreams.exchange.conversation import Bounds, Conversation, ServerError
from mcpguard.upstreams.exchange.peer import StreamPeer
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.launch.start import LaunchPreparation
from mcpguard.upstreams.protocol.switchboard import Switchboard
from mcpguard.upstreams.sandbox.confinement import ProcessConfinement
from mcpguard.upstreams.sandbox.limits import ProcessLimits
from mcpguard.upstreams.sandbox.probe import NoSandbox
from mcpguard.upstreams.supervise.context import Reach, SupervisorContext
from mcpguard.upstreams.supervise.fleet import Fleet, PlaceRequest
from mcpguard.upstreams.supervise.reach import ServerReach
from mcpguard.upstreams.transports.dialing import Dialing
from tests.clock import FakeClock
from tests.patience import PATIENCE
from tests.simulators.over_http import serving_http
from tests.simulators.over_sse import serving_sse
from tests.simulators.processes import Controlled, controlled
from tests.simulators.script import Script
from tests.simulators.spoken import Spoken
from tests.upstreams.played import dialing

US = {"name": "mcpguard", "version": "0"}
Json = dict[str, Any]


class Clock(FakeClock):
    """Waits only where there is something to wait for."""

    async def advance(self, seconds: float) -> None:
        until = self._elapsed + seconds
        await settled()
        while self._sleepers and self._sleepers[0][0] <= until:
            self._elapsed, _, event = heapq.heappop(self._sleepers)
            event.set()
            await settled()
        self._elapsed = until


async def settled() -> None:
    """Let everything come to rest. Most of it does so in a few steps, and then nobody has to sleep for it."""
    for _ in range(40):
        await checkpoint()
    await wait_all_tasks_blocked()


class Wire:
    """Messages to and from a script, by hand."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.at_once: Callable[[bytes], bool] | None = None
        self._coming, self._came = anyio.create_memory_object_stream[bytes](100_000)
        self._spoken: Spoken | None = None

    def played_by(self, spoken: Spoken) -> None:
        self._spoken = spoken

    async def say(self, data: bytes) -> None:
        """What the server sends."""
        try:
            for line in data.splitlines():
                self._coming.send_nowait(line)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return

    async def cut(self) -> None:
        """The server ends the connection."""
        self._coming.close()

    def put(self, message: bytes) -> bool:  # noqa: ARG002
        return False

    async def send(self, message: bytes) -> None:
        assert self._spoken is not None
        self.sent.append(message)
        await checkpoint()
        self._spoken.feed(message + b"\n")

    async def receive(self) -> bytes:
        try:
            return await self._came.receive()
        except anyio.EndOfStream:
            raise TransportEnded("the server hung up") from None

    def close(self) -> None:
        self._coming.close()
        self._came.close()


class Wires:
    """Reaches scripts by name. What is no script is raised. The second connection to a server has ` second` in its name
    here, and a script of its own where there is one by that name.
    """

    def __init__(self, scripts: Mapping[str, Script | BaseException]) -> None:
        self.scripts = dict(scripts)
        self.open: dict[str, Wire] = {}
        self.reached: list[str] = []

    @asynccontextmanager
    async def __call__(self, declared: DeclaredServer, switchboard: Switchboard) -> AsyncIterator[Conversation]:
        name = declared.name
        if name in self.open and declared.era is Era.LEGACY:
            name = f"{name} second"
        self.reached.append(name)
        script = self.scripts.get(name) or self.scripts[declared.name]
        await checkpoint()
        if isinstance(script, BaseException):
            raise script
        assert name not in self.open, f"{name} is connected twice"
        wire = self.open[name] = Wire()
        try:
            async with anyio.create_task_group() as tasks:
                with Spoken(script, tasks, wire.say, wire.cut) as spoken:
                    wire.played_by(spoken)
                    yield StreamPeer(wire, switchboard.answer_request, switchboard.take_notification, Bounds())
                tasks.cancel_scope.cancel()
        finally:
            wire.close()
            del self.open[name]
            with anyio.CancelScope(shield=True):
                await checkpoint()


class Somebody:
    """Whoever calls, and what they were told meanwhile."""

    def __init__(
        self,
        name: str = "agent",
        *,
        progress: bool = False,
        level: str | None = None,
        era: Era = Era.MODERN,
        **can: dict[str, Any],
    ) -> None:
        self.era = era
        self.name = name
        self.capabilities = can
        self.asked: list[Ask] = []
        self.answers: dict[str, dict[str, Any]] = {}
        self.wants_progress = progress
        self.log_level = level
        self.progressed: list[Mapping[str, Any]] = []
        self.logged: list[Mapping[str, Any]] = []

    def progress(self, params: Mapping[str, Any]) -> None:
        self.progressed.append(params)

    def log(self, params: Mapping[str, Any]) -> None:
        self.logged.append(params)

    async def ask(self, asks: Asks) -> Answers:
        """Answers what it has answers to."""
        self.asked += asks.values()
        if not {ask.method for ask in asks.values()} <= self.answers.keys():
            raise QuestionDeclined(Reason.UPSTREAM_REQUEST_DENIED)
        return {name: self.answers[ask.method] for name, ask in asks.items()}


class Flock:
    """A fleet that runs, and what a test does with it."""

    def __init__(
        self, settings: Upstreams, reach: Reach, jitter: Callable[[], float], definitions: Definitions | None = None
    ) -> None:
        self.clock = Clock()
        self.news: list[News] = []
        self._reach = reach
        self._told = anyio.Event()
        self.may_ask: dict[str, frozenset[AskKind]] = {}
        self.fleet = Fleet(
            SupervisorContext(
                settings,
                definitions or Definitions(),
                self.clock,
                jitter,
                reach,
                _nothing,
                self._tell,
                US,
                self._may_ask,
            )
        )

    def _may_ask(self, name: str) -> frozenset[AskKind]:
        return self.may_ask.get(name, frozenset())

    def _tell(self, news: News) -> None:
        self.news.append(news)
        self._told.set()
        self._told = anyio.Event()

    @property
    def wires(self) -> Wires:
        """Where the servers are reached by hand."""
        assert isinstance(self._reach, Wires)
        return self._reach

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until it holds. It is looked at whenever the fleet has told something."""
        with anyio.fail_after(PATIENCE):
            while not condition():
                await self._told.wait()

    def condition(self, name: str) -> Condition:
        found = self.fleet.condition(name)
        assert found is not None
        return found

    def state(self, name: str) -> str:
        found = self.fleet.condition(name)
        return found.state.value if found else "none"

    async def stands(self, state: str, *names: str) -> Condition:
        """Wait until these servers are in this state. The condition of the last."""
        await self.until(lambda: all(self.state(name) == state for name in names))
        return self.condition(names[-1])

    async def ready(self, *names: str) -> Condition:
        return await self.stands("ready", *names)

    def stood(self, name: str) -> list[str]:
        """Every state that was told of this server, in order."""
        return [
            each.condition.state.value
            for each in self.news
            if isinstance(each, ConnectionChanged) and each.server == name
        ]

    def times(self, name: str, state: ConnectionState) -> int:
        return self.stood(name).count(state.value)

    def listings(self, name: str) -> list[Listing]:
        return [each.listing for each in self.news if isinstance(each, ServerListed) and each.server == name]

    def removed(self, name: str) -> bool:
        return ServerRemoved(name) in self.news

    async def until_idle(self, name: str) -> None:
        """Wait until no call is at this server any more."""
        server = self.fleet._servers[name]
        with anyio.fail_after(PATIENCE):
            while server.busy_places:
                await checkpoint()

    async def call(
        self, name: str, tool: str = "echo", arguments: Json | None = None, by: Somebody | None = None
    ) -> Json:
        """Call a tool as the guard does."""
        client = by or Somebody()
        turn = self.fleet.free_turn(name, "caller", client)
        if turn is None:
            turn = await self.fleet.turn(name, PlaceRequest((CapabilityKind.TOOL, tool), "caller", client))
        with turn:
            said = {"name": tool, "arguments": arguments or {}}
            return await turn.send(Permit("entry"), "tools/call", said, client)

    async def failed(self, name: str, tool: str, arguments: Json | None = None) -> Json:
        """The error with which a tool is answered."""
        try:
            result = await self.call(name, tool, arguments)
        except ServerError as error:
            return error.error
        raise AssertionError(result)


def plain(name: str, **more: Any) -> DeclaredServer:  # noqa: ANN401 - fields
    """A server for whom it does not matter how it is reached."""
    return DeclaredServer(name, name, StdioLaunch("nothing"), **more)


def process(name: str, server: Controlled, environment: Mapping[str, str] | None = None, **more: Any) -> DeclaredServer:  # noqa: ANN401
    """A server that is started."""
    return DeclaredServer(
        name, name, StdioLaunch(server.command, server.arguments, Templates(environment), profile=Profile.NONE), **more
    )


def remote(
    name: str,
    url: str,
    headers: Mapping[str, str] | None = None,
    transport: Transport = Transport.HTTP,
    **more: Any,  # noqa: ANN401 - fields
) -> DeclaredServer:
    """A server at a URL."""
    assert transport is not Transport.STDIO
    return DeclaredServer(name, name, RemoteLaunch(transport, url, Templates(headers)), **more)


@asynccontextmanager
async def played(how: str, script: Script, folder: Path, **more: Any) -> AsyncIterator[DeclaredServer]:  # noqa: ANN401
    """The server `a`, which plays this script over `stdio`, `http` or `sse`."""
    async with AsyncExitStack() as stack:
        match how:
            case "stdio":
                yield process("a", await stack.enter_async_context(controlled(script, folder)), **more)
            case "http":
                yield remote("a", await stack.enter_async_context(serving_http(script)), **more)
            case _:
                url = await stack.enter_async_context(serving_sse(script))
                yield remote("a", url, transport=Transport.SSE, **more)


UNCONFINABLE = ProcessConfinement(NoSandbox("these tests are not about it"), ProcessLimits(), Path("/nowhere"))
STARTING = LaunchPreparation(UNCONFINABLE, Path("/nowhere"), {}, 1, Dialing())


async def _nothing(declared: DeclaredServer) -> DeclaredServer:
    """Nothing has to be installed."""
    return declared


def settings(**given: Any) -> Upstreams:  # noqa: ANN401 - the fields of the settings
    """With time limits that no test reaches by being slow."""
    return Upstreams(**({"connect_seconds": 60, "probe_seconds": 30, "health_timeout": 30} | given))


def reaching(folder: Path, environ: Mapping[str, str] | None = None, **given: Any) -> ServerReach:  # noqa: ANN401
    """The ways of life, with loopback allowed."""
    return ServerReach(
        settings(**given), os.environ if environ is None else environ, folder, folder / "secrets", dialing(), STARTING
    )


@asynccontextmanager
async def flock(
    reach: Reach | Mapping[str, Script | BaseException],
    *wanted: DeclaredServer,
    jitter: Callable[[], float] = lambda: 0.0,
    **given: Any,  # noqa: ANN401 - settings
) -> AsyncIterator[Flock]:
    """A fleet that is to keep these servers. Given scripts by name, it keeps those, by hand."""
    if isinstance(reach, Mapping):
        wanted = wanted or tuple(plain(name) for name in reach)
        reach = Wires(reach)
    kept = Flock(settings(**given), reach, jitter)
    kept.fleet.want(wanted)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(kept.fleet.run, name="fleet")
        yield kept
        tasks.cancel_scope.cancel()
