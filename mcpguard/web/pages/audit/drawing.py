"""Computes a histogram for an SVG: allowed above the line, held on top of it, denied below.

The position tells what a bar stands for, not the colour alone.
"""

from dataclasses import dataclass
from typing import Final

from mcpguard.guard.audit.histogram import Histogram

WIDE: Final = 1000
HIGH: Final = 80
GAP: Final = 0.12
"""Of a bar's width."""
TICKS: Final = 6


@dataclass(frozen=True, slots=True)
class Rect:
    """A bar. `kind` is `a` for allowed or without a verdict, `h` for held, `d` for denied."""

    kind: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Drawing:
    """A histogram. `line` is the zero line; `ticks` are the times below it; `busiest` is when most happened, and how
    much.
    """

    rects: tuple[Rect, ...]
    line: float
    ticks: tuple[int, ...]
    start: int
    end: int
    each: str
    calls: bool
    allowed: int
    held: int
    refused: int
    busiest: int
    most: int


def drawing(of: Histogram) -> Drawing:
    """Draw at least one bar. Where no record has a verdict, all records are drawn."""
    calls = of.calls > 0
    above = [(bar.allowed + bar.held if calls else bar.other) for bar in of.bars]
    below = [bar.refused for bar in of.bars]
    room = max(above) + max(below)
    unit = (HIGH - 4) / room
    line = 2 + max(above) * unit
    step = WIDE / len(of.bars)
    rects = []
    for place, bar in enumerate(of.bars):
        x, width = round(place * step + step * GAP / 2, 1), round(step * (1 - GAP), 1)
        low, top = bar.allowed if calls else bar.other, bar.held
        for kind, number, y in (
            ("a", low, line - low * unit),
            ("h", top, line - (low + top) * unit),
            ("d", bar.refused, line),
        ):
            if number:
                rects.append(Rect(kind, x, round(y, 1), width, round(max(number * unit, 1), 1)))
    totals = [up + down for up, down in zip(above, below, strict=True)]
    most = max(totals)
    start, end = ends(of)
    return Drawing(
        tuple(rects),
        round(line, 1),
        tuple(start + of.width * round(len(of.bars) * tick / TICKS) for tick in range(TICKS + 1)),
        start,
        end,
        _each(of.width // 1_000_000),
        calls,
        sum(bar.allowed for bar in of.bars),
        sum(bar.held for bar in of.bars),
        sum(bar.refused for bar in of.bars),
        of.bars[totals.index(most)].at,
        most,
    )


def ends(of: Histogram) -> tuple[int, int]:
    """Return when the first bar begins and the last one ends. Both are arbitrary if somebody else writes to the
    store.
    """
    return of.bars[0].at, of.bars[-1].at + of.width


def _each(seconds: int) -> str:
    """Return the width of a bar in words: `second`, `10 minutes`."""
    for size, unit in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if seconds % size == 0:
            number = seconds // size
            return unit if number == 1 else f"{number:,} {unit}s"
    return "second" if seconds == 1 else f"{seconds} seconds"
