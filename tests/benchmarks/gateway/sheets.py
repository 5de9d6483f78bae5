"""Everything that is measured of gateways, in turns: each contender once, then each once more, and so on.

Rules kept here:
1. Contenders take turns, so that all have seen the same machine; in its turn a contender is the only one that runs.
2. What cannot be installed, or does not answer, is missing with a sentence. Only mcpguard has to be there.
"""

import os
import tempfile
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import anyio

from tests.benchmarks.gateway import loads, many, others, ours
from tests.benchmarks.gateway.contender import CannotRun, Contender, Way
from tests.benchmarks.gateway.processes import resident_mib
from tests.benchmarks.gateway.ratios import compared
from tests.benchmarks.gateway.running import running
from tests.benchmarks.gateway.speech import Failed
from tests.benchmarks.report import Row, Sheet, medians

CALLERS = (1, 16, 64)
Say = Callable[[str], None]
Measure = Callable[[Contender, Path], Awaitable[None]]


@dataclass
class _Measured:
    """Rows of all rounds, and what there is to say besides."""

    say: Say
    calls: dict[tuple[Way, int], list[Row]] = field(default_factory=lambda: defaultdict(list))
    starts: list[Row] = field(default_factory=list)
    many: list[Row] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    out: set[Contender] = field(default_factory=set)

    def attempt(self, contender: Contender, folder: Path, measure: Measure) -> None:
        """One contender's turn, in a folder that is gone afterwards."""
        if contender in self.out:
            return
        with tempfile.TemporaryDirectory(prefix="mcpguard-benchmark-", dir=folder) as own:
            try:
                anyio.run(measure, contender, Path(own), backend_options={"use_uvloop": True})
            except (CannotRun, Failed) as why:
                if contender.ours or not contender.is_gateway:
                    raise
                self.out.add(contender)
                self.say(f"{contender.name} ({contender.era}, {contender.upstream} upstream) is left out: {why}")


def sheets(folder: Path, runs: int, seconds: float, only: str, say: Say) -> Iterator[Sheet]:
    """Calls by kind of upstream and number of callers, then starts and memory, then many servers.

    `only` leaves out the gateways that do not have it in their names.
    """
    found, missing = others.contenders(only)
    for sentence in missing:
        say(sentence)
    everyone = [*ours.contenders(), *found]
    contenders = [one for one in everyone if only in one.name or not one.is_gateway]
    measured = _Measured(say)
    for _ in range(runs):
        measured.loads.append(f"{os.getloadavg()[0]:.1f}")
        for contender in contenders:
            measured.attempt(contender, folder, partial(_calls, measured, seconds))
        for contender in contenders:
            if contender.aggregates:
                measured.attempt(contender, folder, partial(_many, measured, seconds))
    yield from _sheets(measured, runs, seconds)


def has_failed(sheet: Sheet) -> bool:
    """Whether a call through mcpguard was not answered, or not rightly. Others may fail."""
    return any(row.figures.get("failed") and row.of["gateway"] in ours.NAMES for row in sheet.rows)


async def _calls(measured: _Measured, seconds: float, contender: Contender, folder: Path) -> None:
    async with running(contender, folder, 1, 2) as now:
        of = {"gateway": contender.name, "eras": now.eras()}
        before, calls = resident_mib(now.gateway()), 0
        records = ours.records(folder) if contender.ours else 0
        for callers in CALLERS:
            load = await loads.measured(now, callers, seconds)
            calls += load.calls
            measured.calls[contender.upstream, callers].append(Row(of, load.figures))
            for why in load.why:
                measured.say(f"{contender.name} ({now.eras()}), {callers} callers: {why}")
        if contender.ours:
            ours.check_ledger(folder, records, calls)
        if contender.is_gateway:
            rss = {"rss_mib": before, "rss_after_calls_mib": resident_mib(now.gateway())}
            row = Row({**of, "upstream": contender.upstream.value}, {"start_s": now.started_in, **rss})
            measured.starts.append(row)


async def _many(measured: _Measured, seconds: float, contender: Contender, folder: Path) -> None:
    measured.many.append(await many.measured(contender, folder, seconds))


def _sheets(measured: _Measured, runs: int, seconds: float) -> Iterator[Sheet]:
    before = ", ".join(measured.loads)
    rounds = f"median of {runs} runs of {seconds:g} s, in turns, with a load of {before} before them"
    calls = (
        f"{rounds}; eras: of the client > with the upstream; cpu: of the gateway, around cpu: of client and upstream, "
        "both per call; to direct: divided by the best without a gateway; to other: by the best gateway of others"
    )
    for way in Way:
        for callers in CALLERS:
            rows = compared(_merged(measured.calls[way, callers]), ours.NAMES)
            yield Sheet(f"gateway, {way} upstream, callers: {callers}", calls, rows)
    starts = f"{rounds}; start: until the first right answer; one upstream with two tools"
    yield Sheet("gateway, start", starts, _merged(measured.starts))
    about = f"{rounds}; {many.UPSTREAMS} upstreams with {many.TOOLS} tools each; start: until all are listed"
    yield Sheet("gateway, many tools", about, _merged(measured.many))


def _merged(rows: Sequence[Row]) -> list[Row]:
    """Medians, but of failures all."""
    return [_with_failures(row, [one for one in rows if one.of == row.of]) for row in medians(rows)]


def _with_failures(row: Row, runs: Sequence[Row]) -> Row:
    if "failed" not in row.figures:
        return row
    return replace(row, figures={**row.figures, "failed": sum(one.figures["failed"] for one in runs)})
