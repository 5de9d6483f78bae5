"""The figures that are kept: ratios, which depend little on the machine. Of all of them more is dearer.

Rules kept here:
1. Bytes on disk do not depend on what else the machine does, processor time a little, response times and rates much,
   even as ratios of turns that follow each other, and most of all where a single caller waits for every process to be
   woken. So they may grow by more, each by its leeway, before that is told.
2. The mean of all ways to call is steadier than each of them, which may grow by twice as much: what makes one way dear
   is told by the way, and what makes every way a little dearer by the mean.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from statistics import geometric_mean
from typing import Final

from tests.benchmarks.gateway import ours
from tests.benchmarks.report import Row, Sheet

PROCESSOR_TIME: Final = 1.0
TIME: Final = 2.0
TIME_OF_ONE_CALLER: Final = 4.0
BYTES: Final = 0.2
OF_ONE_WAY: Final = 2.0
_OF_CALLS: Final = ("p50_to_direct", "cpu_to_direct")
_OF_RECORDS: Final = ("time_to_insert", "cpu_to_insert")


@dataclass(frozen=True, slots=True)
class Figure:
    """One of them. `leeway`: how many times the tolerance it may grow."""

    name: str
    value: float
    leeway: float


def of_calls(sheets: Mapping[int, Sheet]) -> Iterator[Figure]:
    """What mcpguard costs for a call, by the number of callers, as so many times what a call costs without it."""
    for callers, sheet in sheets.items():
        time = TIME_OF_ONE_CALLER if callers == 1 else TIME
        ways = [row for row in sheet.rows if row.of["gateway"] == ours.SERVED]
        yield from _figures(f"call, callers: {callers}", _mean(ways), _OF_CALLS, time, PROCESSOR_TIME)
        for row in ways:
            about = f"call, callers: {callers}, {row.of['upstream']} upstream, {row.of['eras']}"
            leeways = (time * OF_ONE_WAY, PROCESSOR_TIME * OF_ONE_WAY)
            yield from _figures(about, row.figures, _OF_CALLS, *leeways)


def of_records(sheets: Sequence[Sheet]) -> Iterator[Figure]:
    """What a record costs, as so many times what a plain insert costs, and the size of a call."""
    turns, size = sheets
    for row in turns.rows:
        if appenders := row.of["appenders"]:
            yield from _figures(f"record, appenders: {appenders}", row.figures, _OF_RECORDS, TIME, PROCESSOR_TIME)
    for row in size.rows:
        yield Figure("records of a call: bytes on disk", row.figures["bytes"], BYTES)


def _mean(rows: Sequence[Row]) -> dict[str, float]:
    return {name: geometric_mean(row.figures[name] for row in rows) for name in _OF_CALLS}


def _figures(
    about: str, figures: Mapping[str, float], names: tuple[str, str], time: float, cpu: float
) -> Iterator[Figure]:
    """Time and processor time of a thing with their leeways, without what there is not."""
    of_time, of_cpu = (figures[name] for name in names)
    for found in (Figure(f"{about}: time", of_time, time), Figure(f"{about}: processor time", of_cpu, cpu)):
        if not isnan(found.value):
            yield found
