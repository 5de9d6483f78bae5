"""A contender that runs, from its start to its end, and the clients of it."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import psutil  # type: ignore[import-untyped]  # no stubs are among the dependencies

from tests.benchmarks.gateway.client import Client
from tests.benchmarks.gateway.contender import FAST, CannotRun, Contender, Launch, Place, Program, Upstream, Way
from tests.benchmarks.gateway.http_client import HttpClient
from tests.benchmarks.gateway.line_client import LineClient
from tests.benchmarks.gateway.processes import Processes, free_port, upstream_over_http
from tests.benchmarks.gateway.speech import Era, Failed

PATIENCE = 60.0
ATTEMPT = 20.0
PAUSE = 0.01
_FIRST = "the first call"


@dataclass
class Running:
    """What can be measured. `started_in` is the time from the start of the process to its first right answer."""

    contender: Contender
    launch: Launch
    began: float
    processes: Processes | None
    remote: psutil.Process | None
    line: LineClient | None = None
    started_in: float = 0.0
    tool: str = ""
    upwards: str = ""
    """The era in which the upstream is spoken to."""

    def eras(self, era: Era | None = None) -> str:
        """Which are spoken, from a client of that era to the upstream."""
        spoken = era or self.contender.era
        return f"{spoken} > {self.upwards}" if self.contender.is_gateway else spoken.value

    @asynccontextmanager
    async def clients(self, count: int, era: Era | None = None) -> AsyncIterator[Sequence[Client]]:
        """As many callers, of another era where that is said.

        Over HTTP each has a connection of its own; a process has only one pair of streams.
        """
        if self.line is not None:
            yield [self.line] * count
            return
        async with AsyncExitStack() as stack:
            found = [await stack.enter_async_context(self._client(era)) for _ in range(count)]
            for client in found:
                await client.greet()
            yield found

    def _client(self, era: Era | None) -> HttpClient:
        return HttpClient(self.launch.port, self.launch.path or "/", era or self.contender.era)

    def gateway(self) -> list[psutil.Process]:
        """The processes between client and upstream."""
        return self.processes.gateway() if self.processes is not None else []

    def upstreams(self) -> list[psutil.Process]:
        own = self.processes.upstreams() if self.processes is not None else []
        return own if self.remote is None else [self.remote, *own]


@asynccontextmanager
async def running(
    contender: Contender, folder: Path, upstreams: int, tools: int, program: Program = FAST
) -> AsyncIterator[Running]:
    """A contender in front of so many upstreams with so many tools each. Raises CannotRun."""
    async with AsyncExitStack() as stack:
        remote, names = None, [f"up{number:02}" for number in range(upstreams)]
        found = [Upstream(name, command=program.command(Way.STDIO, str(tools))) for name in names]
        if contender.upstream is Way.HTTP:
            port, remote = stack.enter_context(upstream_over_http(tools, program))
            found = [Upstream(name, url=f"http://127.0.0.1:{port}/{program.path or name}") for name in names]
            await answers(HttpClient(port, "/", Era.HANDSHAKE))
        launch = contender.launch(Place(folder, free_port(), found))
        began = time.perf_counter()
        now = Running(contender, launch, began, started(launch, folder, stack), remote)
        if launch.path is None:
            await _speaking(now, stack)
        await until_answered(now, upstreams * tools)
        yield now


async def answers(client: HttpClient) -> None:
    """Returns when it does."""
    with anyio.fail_after(PATIENCE):
        while True:
            try:
                async with client:
                    return
            except Failed:
                await anyio.sleep(PAUSE)


def started(launch: Launch, folder: Path, stack: AsyncExitStack) -> Processes | None:
    if not launch.command:
        return None
    processes = Processes(launch, folder)
    stack.callback(processes.stop)
    return processes


async def _speaking(now: Running, stack: AsyncExitStack) -> None:
    """Take up the standard streams."""
    assert now.processes is not None
    now.line = await stack.enter_async_context(LineClient(now.processes.first, now.contender.era))
    try:
        with anyio.fail_after(PATIENCE):
            await now.line.greet()
    except (Failed, TimeoutError) as error:
        raise CannotRun(f"it does not answer: {error} {now.processes.last_words()}") from error


async def until_answered(now: Running, tools: int) -> None:
    """Until all tools are there and a call is answered as it should be."""
    deadline, why = time.monotonic() + PATIENCE, "it does not answer"
    while time.monotonic() < deadline:
        if now.processes is not None and now.processes.ended:
            raise CannotRun(f"it has ended: {now.processes.last_words()}")
        try:
            with anyio.fail_after(ATTEMPT):
                async with now.clients(1) as (client,):
                    listed = await client.listed()
                    now.tool = listed.named("echo")
                    if len(listed.names) >= tools and await client.call(now.tool, _FIRST) == _FIRST:
                        now.started_in = time.perf_counter() - now.began
                        now.upwards = await client.call(listed.named("era"), "")
                        return
        except (Failed, TimeoutError) as error:
            why = str(error) or why
        await anyio.sleep(PAUSE)
    raise CannotRun(why)
