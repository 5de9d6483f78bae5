"""The same calls through the guard face, through the direct face, and to the upstream itself.

Rules kept here:
1. One guard with everything on serves both faces: schemas, secrets, budgets and the ledger.
2. The ways take turns of a fraction of a second, forwards and then backwards, so that a ratio is not that of two
   moments of the machine.
"""

import tempfile
import time
from array import array
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import anyio

from tests.benchmarks.gateway import ours
from tests.benchmarks.gateway.client import Client
from tests.benchmarks.gateway.contender import Contender, Place, Upstream, Way
from tests.benchmarks.gateway.http_client import HttpClient
from tests.benchmarks.gateway.loads import loaded
from tests.benchmarks.gateway.processes import free_port, upstream_over_http
from tests.benchmarks.gateway.running import Running, answers, started, until_answered
from tests.benchmarks.gateway.speech import Era
from tests.benchmarks.report import Row, Sheet, medians, quantile

CALLERS: Final = (1, 8)
TURN_SECONDS: Final = 0.25
_UPSTREAM: Final = "up00"
_EFFECTS: Final = {"echo": "read", "look_up_002": "write"}
"""Tools, and what they may do: what only reads is recorded without waiting for the disk."""
_RATIOS: Final = {"p50": "p50_ms", "p99": "p99_ms", "rate": "calls_per_s"}
Say = Callable[[str], None]


@dataclass
class _Lane:
    """One way to call a tool: its clients, and what came of them."""

    of: dict[str, str | int]
    tool: str
    clients: Sequence[Client]
    answered: "array[float]" = field(default_factory=lambda: array("d"))
    seconds: float = 0.0
    failed: int = 0

    async def turn(self, say: Say) -> None:
        began = time.perf_counter()
        load = await loaded(self.tool, self.clients, TURN_SECONDS)
        self.seconds += time.perf_counter() - began
        self.answered.extend(load.answered)
        self.failed += load.failed
        for why in load.why:
            say(f"{self.of}: {why}")

    def figures(self) -> dict[str, float]:
        quantiles = {f"p{share}_ms": quantile(self.answered, share / 100) * 1e3 for share in (50, 95, 99)}
        return {**quantiles, "calls_per_s": len(self.answered) / self.seconds, "failed": self.failed}


def sheets(folder: Path, runs: int, seconds: float, say: Say) -> Iterator[Sheet]:
    """A table for each number of callers."""
    rows: dict[int, list[Row]] = {callers: [] for callers in CALLERS}
    turns = max(2, round(seconds / TURN_SECONDS))
    work = partial(_measured, folder, turns, rows, say)
    for _ in range(runs):
        anyio.run(work, backend_options={"use_uvloop": True})
    for callers in CALLERS:
        about = (
            f"median of {runs} runs, in {turns} turns of {TURN_SECONDS} s each; upstream over HTTP; modern with the "
            "upstream; to direct face: divided by the same call there"
        )
        yield Sheet(f"faces, callers: {callers}", about, medians(rows[callers]))


async def _measured(folder: Path, turns: int, rows: dict[int, list[Row]], say: Say) -> None:
    async with _guard(folder) as (now, place, upstream):
        before, calls = ours.records(place), 0
        for callers in CALLERS:
            for era in Era:
                for tool, effect in _EFFECTS.items():
                    async with AsyncExitStack() as stack:
                        lanes = await _lanes(stack, now.launch.port, upstream, callers, era, tool, effect)
                        for number in range(turns + 1):
                            for lane in lanes if number % 2 else reversed(lanes):
                                await lane.turn(say)
                            if not number:
                                calls += _forget(lanes)
                    calls += sum(len(lane.answered) for lane in lanes[1:])
                    rows[callers] += _rows(lanes)
        ours.check_ledger(place, before, calls)


@asynccontextmanager
async def _guard(folder: Path) -> AsyncIterator[tuple[Running, Path, int]]:
    """A guard in front of an upstream, its folder, and the upstream's port."""
    async with AsyncExitStack() as stack:
        own = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mcpguard-benchmark-", dir=folder)))
        port, process = stack.enter_context(upstream_over_http(len(_EFFECTS) + 1))
        await answers(HttpClient(port, "/", Era.HANDSHAKE))
        url = f"http://127.0.0.1:{port}/{_UPSTREAM}"
        launch = ours.served(Place(own, free_port(), [Upstream(_UPSTREAM, url=url)]), ours.COUNTED, effects=_EFFECTS)
        contender = Contender(ours.SERVED, Way.HTTP, Way.HTTP, Era.MODERN, ours.served, ours=True)
        now = Running(contender, launch, time.perf_counter(), started(launch, own, stack), process)
        await until_answered(now, len(_EFFECTS) + 1)
        yield now, own, port


async def _lanes(
    stack: AsyncExitStack, guard: int, upstream: int, callers: int, era: Era, tool: str, effect: str
) -> list[_Lane]:
    found = []
    for gateway, face, port, path, name, by in (
        ("none", "", upstream, "/", tool, ""),
        (ours.SERVED, "direct", guard, "/mcp/all", f"{_UPSTREAM}::{tool}", ""),
        (ours.SERVED, "guard", guard, "/mcp", f"{_UPSTREAM}:{tool}", f"call_tool_{effect}"),
    ):
        clients = [await stack.enter_async_context(HttpClient(port, path, era, by)) for _ in range(callers)]
        for client in clients:
            await client.greet()
        found.append(_Lane({"gateway": gateway, "face": face, "call": effect, "client": era.value}, name, clients))
    return found


def _forget(lanes: Sequence[_Lane]) -> int:
    """The first turn was for warming up. How many calls the guard answered in it."""
    calls = sum(len(lane.answered) for lane in lanes[1:])
    for lane in lanes:
        lane.answered, lane.seconds = array("d"), 0.0
    return calls


def _rows(lanes: Sequence[_Lane]) -> Iterator[Row]:
    direct = lanes[1].figures()
    for lane in lanes:
        figures = lane.figures()
        ratios = {f"{name}_to_direct": figures[of] / direct[of] for name, of in _RATIOS.items()}
        yield Row(lane.of, figures | ratios)
