"""Computes a histogram for an SVG: sent, failed and held calls on the line, denied ones below it.

The position tells what a bar stands for, not the colour alone.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from mcpguard.guard.audit.histogram import SECOND, Bar, Histogram

WIDE: Final = 1000
HIGH: Final = 96
GAP: Final = 0.12
"""Of a bar's width."""
TICKS: Final = 6
NEAR: Final = 14
"""Labels of the axis that are nearer to each other would touch."""

SpanLink = Callable[[int, int], str]
"""Returns the address of a span of time, given in microseconds."""


@dataclass(frozen=True, slots=True)
class Rect:
    """A part of a bar. `kind` is what it counts: sent, failed, held, denied or other."""

    kind: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Column:
    """A bar with its parts, the whole height that belongs to it, from `x` on, `width` wide, and the address of its
    span."""

    bar: Bar
    link: str
    x: float
    width: float
    rects: tuple[Rect, ...]


@dataclass(frozen=True, slots=True)
class AxisLabel:
    """A number beside the axis, at the height of what it counts."""

    y: float
    number: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """A histogram. `line` is the zero line; `ticks` are the times below it, with seconds if `fine`; `most`: in the
    busiest bar; `calls`: calls are drawn, not the other records because no call matches."""

    columns: tuple[Column, ...]
    line: float
    labels: tuple[AxisLabel, ...]
    ticks: tuple[int, ...]
    start: int
    end: int
    each: str
    fine: bool
    calls: bool
    numbers: dict[str, int]
    busiest: int
    most: int


def drawing(of: Histogram, link: SpanLink) -> Drawing:
    """Draw at least one bar. Where no call matches, the other records are drawn."""
    calls = of.calls > 0
    above = max((bar.calls - bar.denied if calls else bar.other) for bar in of.bars)
    below = max(bar.denied for bar in of.bars)
    unit = (HIGH - 4) / (above + below)
    line = round(2 + above * unit, 1)
    start, end = ends(of)
    busiest = max(of.bars, key=lambda bar: bar.calls if calls else bar.other)
    return Drawing(
        tuple(_columns(of, link, line, unit, calls=calls)),
        line,
        tuple(_labels(above, below, line)),
        tuple(start + of.width * round(len(of.bars) * tick / TICKS) for tick in range(TICKS + 1)),
        start,
        end,
        _each(of.width // SECOND),
        of.width < 60 * SECOND,
        calls,
        {part: sum(getattr(bar, part) for bar in of.bars) for part in ("sent", "failed", "held", "denied", "other")},
        busiest.at,
        busiest.calls if calls else busiest.other,
    )


def ends(of: Histogram) -> tuple[int, int]:
    """Return when the first bar begins and the last one ends. Both are arbitrary if somebody else writes to the
    store.
    """
    return of.bars[0].at, of.bars[-1].at + of.width


def _columns(of: Histogram, link: SpanLink, line: float, unit: float, *, calls: bool) -> Iterator[Column]:
    step = WIDE / len(of.bars)
    for place, bar in enumerate(of.bars):
        x, width = round(place * step + step * GAP / 2, 1), round(step * (1 - GAP), 1)
        parts = (("sent", bar.sent), ("failed", bar.failed), ("held", bar.held)) if calls else (("other", bar.other),)
        rects, top = list[Rect](), 0
        for kind, number in parts:
            top += number
            if number:
                rects.append(Rect(kind, x, round(line - top * unit, 1), width, _height(number, unit)))
        if bar.denied:
            rects.append(Rect("denied", x, line, width, _height(bar.denied, unit)))
        yield Column(bar, link(bar.at, bar.at + of.width), round(place * step, 1), round(step, 1), tuple(rects))


def _height(number: int, unit: float) -> float:
    return round(max(number * unit, 1), 1)


def _labels(above: int, below: int, line: float) -> Iterator[AxisLabel]:
    """Yield the largest numbers on both sides of the line, and zero where there is room for it."""
    if above and line > NEAR:
        yield AxisLabel(9, above)
    if below and HIGH - line > NEAR:
        yield AxisLabel(HIGH - 1, below)
    if line > 2 * NEAR and (not below or HIGH - line > NEAR + 4):
        yield AxisLabel(round(min(line + 4, HIGH - 1), 1), 0)


def _each(seconds: int) -> str:
    """Return the width of a bar in words: `second`, `10 minutes`."""
    for size, unit in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if seconds % size == 0:
            number = seconds // size
            return unit if number == 1 else f"{number:,} {unit}s"
    return "second" if seconds == 1 else f"{seconds} seconds"
