"""The same calls of the same server, made by an agent one by one and made by a program, and runs that call nothing.

Rules kept here:
1. Every answer is looked at: by whoever plays the agent, or by the program, which returns how many were right.
2. All lanes take turns, forwards and then backwards, so that they see the same machine.
3. A program is sent when a worker waits for it, or when none does: never while one is being started.
4. What the guard computes to start the next worker is counted to the run that used up the last one.
"""

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import nan
from statistics import mean, median
from typing import Final

import anyio

from tests.benchmarks.gateway.client import Client
from tests.benchmarks.programs.worker_processes import (
    MIB,
    MemoryWatch,
    computed_seconds,
    end_waiting_worker,
    waiting_worker,
)
from tests.benchmarks.report import Row, quantile

AT_ONCE: Final = 8
SHOWN: Final = 60
"""So many characters of each answer are compared."""
_IN_TURN: Final = """\
found = [call_tool("{server}", "{tool}", args) for args in input["args"]]
"""
_PARALLEL: Final = """\
calls = [{{"server": "{server}", "tool": "{tool}", "args": args}} for args in input["args"]]
found = call_tools(calls, max_parallel={at_once})
"""
_COUNTED: Final = """\
pairs = zip(found, input["due"])
sum([1 for each, due in pairs if each["ok"] and each["result"]["{field}"][:{shown}] == due])
"""


class WorkerState(StrEnum):
    """What a program finds when it is sent."""

    READY = "ready"
    NONE = "none ready"


@dataclass(frozen=True, slots=True)
class ManyCalls:
    """Calls of one tool. `field`: where its structured content has the text; `due`: how the answers begin."""

    server: str
    tool: str
    field: str
    arguments: Sequence[Mapping[str, object]]
    due: Sequence[str]

    def first(self, count: int) -> "ManyCalls":
        """The first of them."""
        return ManyCalls(self.server, self.tool, self.field, self.arguments[:count], self.due[:count])

    def program(self, at_once: int) -> dict[str, object]:
        """The arguments of a run that makes them, and returns how many were answered as they should be."""
        source = (_IN_TURN if at_once == 1 else _PARALLEL) + _COUNTED
        code = source.format(server=self.server, tool=self.tool, at_once=at_once, field=self.field, shown=SHOWN)
        return {"code": code, "input": {"args": [*self.arguments], "due": [*self.due]}}


@dataclass
class CallLane:
    """A way to make calls, and what came of it in each of its turns. `work` returns how many answers were right."""

    of: dict[str, str | int]
    calls: int
    work: Callable[[], Awaitable[int]]
    worker: WorkerState | None = None
    walls: list[float] = field(default_factory=list)
    guard_seconds: list[float] = field(default_factory=list)
    worker_seconds: list[float] = field(default_factory=list)
    guard_mib: list[float] = field(default_factory=list)
    worker_mib: list[float] = field(default_factory=list)

    async def turn(self, guard: int) -> None:
        """Make all calls, and take the time."""
        await self._prepare(guard)
        computed = computed_seconds(guard)
        began = time.perf_counter()
        right = await self.work()
        self.walls.append(time.perf_counter() - began)
        self._check(right)
        if self.worker is not None:
            await waiting_worker(guard)
        self.guard_seconds.append(computed_seconds(guard) - computed)

    async def watch(self, guard: int) -> None:
        """Make all calls, and look at the memory meanwhile. That takes time, so none is taken."""
        await self._prepare(guard)
        watch = MemoryWatch(guard)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch.keep_looking)
            self._check(await self.work())
            tasks.cancel_scope.cancel()
        self.guard_mib.append(watch.guard_bytes / MIB)
        if self.worker is not None:
            _, following = await waiting_worker(guard)
            self.worker_mib.append(watch.worker_bytes / MIB)
            self.worker_seconds.append(watch.computed_without(following))

    def forget(self) -> None:
        """Forget the turns that were for warming up."""
        self.walls.clear()
        self.guard_seconds.clear()

    @property
    def p50(self) -> float:
        return median(self.walls)

    def figures(self, start: float) -> dict[str, float]:
        """`start`: the seconds that a run takes in which nothing is called."""
        calls = (self.p50 - (start if self.worker is not None else 0.0)) / self.calls if self.calls else nan
        return {
            "p50_ms": self.p50 * 1e3,
            "p95_ms": quantile(self.walls, 0.95) * 1e3,
            "each_call_ms": calls * 1e3,
            "guard_cpu_ms": mean(self.guard_seconds) * 1e3,
            "worker_cpu_ms": mean(self.worker_seconds) * 1e3 if self.worker_seconds else nan,
            "guard_mib": max(self.guard_mib),
            "worker_mib": max(self.worker_mib, default=nan),
        }

    async def _prepare(self, guard: int) -> None:
        if self.worker is WorkerState.NONE:
            await end_waiting_worker(guard)
        elif self.worker is WorkerState.READY:
            await waiting_worker(guard)

    def _check(self, right: int) -> None:
        if right != self.calls:
            raise RuntimeError(f"{self.of}: {right} of {self.calls} calls were answered as they should be")


def call_lanes(clients: Sequence[Client], count: int, all_calls: Sequence[ManyCalls]) -> Iterator[CallLane]:
    """Every way to make so many calls, and one call. As many clients as calls are made at once."""

    def lane(server: str, what: str, calls: int, work: Callable[[], Awaitable[int]], worker: str = "") -> CallLane:
        state = WorkerState(worker) if worker else None
        return CallLane({"server": server, "what": what, "worker": worker}, calls, work, state)

    for state in WorkerState:
        yield lane("", "program `1`", 0, _Run(clients[0], {"code": "1"}, 1), state)
    for every in all_calls:
        name, one, many = every.server, every.first(1), every.first(count)
        yield lane(name, "agent, one call", 1, _Agent(clients[:1], one))
        yield lane(name, "program, one call", 1, _Run(clients[0], one.program(1)), WorkerState.READY)
        for at_once, how in ((1, "in turn"), (AT_ONCE, f"{AT_ONCE} at once")):
            yield lane(name, f"agent, {count} calls, {how}", count, _Agent(clients[:at_once], many))
            yield lane(
                name,
                f"program, {count} calls, {how}",
                count,
                _Run(clients[0], many.program(at_once)),
                WorkerState.READY,
            )


def call_rows(lanes: Sequence[CallLane]) -> list[Row]:
    """A row for each; the first lane is a run in which nothing is called."""
    return [Row(lane.of, lane.figures(lanes[0].p50)) for lane in lanes]


@dataclass(frozen=True, slots=True)
class _Run:
    """Sends a program. `nothing`: what it returns beyond the number of right answers."""

    client: Client
    arguments: Mapping[str, object]
    nothing: int = 0

    async def __call__(self) -> int:
        told = (await self.client.use("code_execution", self.arguments))["structuredContent"]
        if not told.get("ok"):
            raise RuntimeError(f"a program failed: {told}")
        value: int = told["value"]
        return value - self.nothing


@dataclass(frozen=True, slots=True)
class _Agent:
    """Makes calls, as many at once as there are clients."""

    clients: Sequence[Client]
    calls: ManyCalls

    async def __call__(self) -> int:
        left, right = iter(zip(self.calls.arguments, self.calls.due, strict=True)), list[bool]()
        named = f"{self.calls.server}:{self.calls.tool}"

        async def work(client: Client) -> None:
            for arguments, due in left:
                found = await client.use("call_tool_read", {"name": named, "arguments": arguments})
                right.append(found["content"][0]["text"][:SHOWN] == due)

        async with anyio.create_task_group() as tasks:
            for client in self.clients:
                tasks.start_soon(work, client)
        return sum(right)
