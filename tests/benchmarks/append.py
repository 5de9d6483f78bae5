"""How long a call waits to be recorded, and how many records a guard writes: a real one, on the real clock."""

import sys
import time
from array import array
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import anyio

from mcpguard.app.clock import SystemClock, new_id
from mcpguard.app.lifespan import running
from mcpguard.app.process import steady
from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.capabilities import Effect
from mcpguard.ledger.entries import Entry
from mcpguard.ledger.ledger import Ledger
from mcpguard.settings.model import Settings
from tests.benchmarks import calls, disk, places
from tests.benchmarks.report import Row, Sheet, medians, quantile
from tests.recording import record

APPENDERS = (1, 16, 256)
KEPT, DIGESTED = "kept", "digest"
KINDS = (
    ("committed", KEPT, Effect.READ),
    ("committed", DIGESTED, Effect.READ),
    ("synced", DIGESTED, Effect.DESTRUCTIVE),
)
"""How an opening is stored, what of arguments and reply, and of which calls that is so."""


class Appenders:
    """Agents that make one call after the other, all at the same time."""

    def __init__(self, ledger: Ledger, effect: Effect, bodies: str) -> None:
        self._ledger = ledger
        self._effect = effect
        self._keeps = bodies == KEPT
        self.openings = array("d")
        self.calls = array("d")

    async def run(self, count: int, seconds: float, most: int = sys.maxsize) -> None:
        """So many agents for so long, each of which makes at most `most` calls."""
        self.openings, self.calls = array("d"), array("d")
        async with anyio.create_task_group() as tasks:
            for number in range(count):
                tasks.start_soon(self._one, number, number + most, time.perf_counter() + seconds)

    async def _one(self, number: int, stop: int, end: float) -> None:
        opened = began = time.perf_counter()
        answer = calls.answered()

        async def work(entry: Entry) -> Outcome:
            nonlocal opened
            opened = time.perf_counter()
            entry.permit()
            return answer

        while began < end and number < stop:
            arguments = {}
            if self._keeps:
                arguments, answer = {"arguments": calls.kept(number)}, calls.answered_with(calls.kept(number + 1))
            opening = calls.opening(new_id(), number, self._effect, **arguments)
            outcome = await record(self._ledger, opening, work)
            done = time.perf_counter()
            if outcome != answer:
                raise RuntimeError(f"a call was not recorded: {outcome}")
            self.openings.append(opened - began)
            self.calls.append(done - began)
            began = done
            number += 1


async def _cell(settings: Settings, effect: Effect, bodies: str, appenders: int, seconds: float) -> dict[str, float]:
    async with running(settings, SystemClock(), new_id) as now:
        steady()
        them = Appenders(now.ledger, effect, bodies)
        await them.run(appenders, seconds / 5)  # until everything is warm
        cpu, began = time.process_time(), time.perf_counter()
        await them.run(appenders, seconds)
        elapsed, cpu = time.perf_counter() - began, time.process_time() - cpu
    records = 2 * len(them.calls)
    return {
        "opening_p50_ms": quantile(them.openings, 0.5) * 1e3,
        "opening_p99_ms": quantile(them.openings, 0.99) * 1e3,
        "call_p50_ms": quantile(them.calls, 0.5) * 1e3,
        "call_p99_ms": quantile(them.calls, 0.99) * 1e3,
        "records_per_s": records / elapsed,
        "cpu_us_per_record": cpu / records * 1e6,
    }


def sheets(folder: Path, server: str | None, runs: int, seconds: float) -> Iterator[Sheet]:
    """The disk and the appending, measured in turns, so that both have seen the same machine."""
    of_disk: list[Row] = []
    of_ledger: list[Row] = []
    for _ in range(runs):
        of_disk.append(disk.measure(folder, seconds / 3))
        for store in ("sqlite", "postgres") if server else ("sqlite",):
            for durability, bodies, effect in KINDS:
                for appenders in APPENDERS:
                    with places.fresh(folder, server if store == "postgres" else None) as settings:
                        measured = partial(_cell, settings, effect, bodies, appenders, seconds)
                        figures = anyio.run(measured, backend_options={"use_uvloop": True})
                    of = {"store": store, "opening": durability, "bodies": bodies, "appenders": appenders}
                    of_ledger.append(Row(of, figures))
    yield disk.sheet(of_disk)
    about = f"median of {runs} runs of {seconds:g} s; a call is an opening and its closing, which is committed"
    yield Sheet("append", about, medians(of_ledger))
