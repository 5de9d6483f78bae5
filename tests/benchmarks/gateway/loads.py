"""Callers that make one call after the other, all at the same time, and look at every answer.

Rules kept here:
1. Every call says something else, and counts only if exactly that comes back.
2. A call that fails is counted and does not end the measurement; its connection is made anew.
"""

import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import nan

import anyio

from tests.benchmarks.gateway.client import Client
from tests.benchmarks.gateway.processes import between, cpu_seconds
from tests.benchmarks.gateway.running import Running
from tests.benchmarks.gateway.speech import Failed
from tests.benchmarks.report import quantile

OVERTIME = 30.0
SHOWN = 3
_PADDING = "and what else the user wants to know"


@dataclass
class Load:
    """What came of a number of callers in a while."""

    answered: "array[float]" = field(default_factory=lambda: array("d"))
    failed: int = 0
    why: list[str] = field(default_factory=list)

    def fail(self, why: str) -> None:
        self.failed += 1
        if len(self.why) < SHOWN and why not in self.why:
            self.why.append(why)


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of a number of callers, all calls that were answered for them, and what went wrong with others."""

    figures: dict[str, float]
    calls: int
    why: list[str]


async def measured(now: Running, callers: int, seconds: float) -> Measured:
    """So many callers, after a warm-up."""
    async with now.clients(callers) as clients:
        warm = await loaded(now.tool, clients, seconds / 4)
        gateway, others = cpu_seconds(now.gateway()), cpu_seconds(now.upstreams())
        own, began = time.process_time(), time.perf_counter()
        load = await loaded(now.tool, clients, seconds)
        elapsed, own = time.perf_counter() - began, time.process_time() - own
        cpu = between(gateway, cpu_seconds(now.gateway()))
        around = own + between(others, cpu_seconds(now.upstreams()))
    calls = len(load.answered)
    figures = {
        "p50_ms": quantile(load.answered, 0.5) * 1e3 if calls else nan,
        "p99_ms": quantile(load.answered, 0.99) * 1e3 if calls else nan,
        "calls_per_s": calls / elapsed,
        "cpu_ms": cpu / calls * 1e3 if calls and now.contender.is_gateway else nan,
        "around_cpu_ms": around / calls * 1e3 if calls else nan,
        "failed": load.failed + warm.failed,
    }
    return Measured(figures, len(warm.answered) + calls, [*warm.why, *load.why])


async def loaded(tool: str, clients: Sequence[Client], seconds: float) -> Load:
    """What comes of these in that time."""
    load = Load()
    end = time.perf_counter() + seconds
    with anyio.move_on_after(seconds + OVERTIME) as scope:
        async with anyio.create_task_group() as tasks:
            for number, client in enumerate(clients):
                tasks.start_soon(_call, client, tool, f"{number} {_PADDING}", end, load)
    if scope.cancelled_caught:
        load.fail(f"calls were not answered within {OVERTIME:.0f} seconds")
    return load


async def _call(client: Client, tool: str, about: str, end: float, load: Load) -> None:
    number = 0
    began = time.perf_counter()
    while began < end:
        number += 1
        said = f"{number} by {about}"
        try:
            heard = await client.call(tool, said)
        except Failed as error:
            load.fail(str(error))
            if not await _again(client, load):
                return
        else:
            if heard == said:
                load.answered.append(time.perf_counter() - began)
            else:
                load.fail(f"{said!r} was answered with {heard[:100]!r}")
        began = time.perf_counter()


async def _again(client: Client, load: Load) -> bool:
    try:
        await client.reconnect()
    except Failed as error:
        load.fail(f"no new connection: {error}")
        return False
    return True
