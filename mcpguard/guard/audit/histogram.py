"""The number of calls and other records that match a filter over time, as bars of equal width.

Rules kept here:
1. Each counted call or record is in exactly one bar, and nothing else is.
2. Records that were not counted are not drawn as zero: the bars begin where counting stopped, and the result says so.
3. Bars begin at round times, in UTC.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from mcpguard.domain.filters import Filter, FilterKey
from mcpguard.store.search.record_counts import RecordCounts

SECOND: Final = 1_000_000
MOST: Final = 60
"""The most bars; there is one more where neither end is at a round time."""
_GRAINS: Final = (1, 10, 60, 600, 3600, 86_400)
_YEAR: Final = 31_536_000
_WIDTHS: Final = (
    *(1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400),
    *(172_800, 604_800, 2_419_200, _YEAR),
)
"""Seconds; those after a grain that are its multiples can be put together from it."""
PARTS: Final = {
    "answered": "sent",
    "allow": "sent",
    "failed": "failed",
    "cancelled": "failed",
    "unknown": "failed",
    "held": "held",
    "hold": "held",
    "refused": "denied",
    "deny": "denied",
}
"""The part of a bar in which a call counts, by its outcome or verdict. What is none of these is no call."""


@dataclass(frozen=True, slots=True)
class Bar:
    """The counts of one bar, which starts at `at`. `failed` includes cancelled calls and those with an unknown
    outcome; `other` are records that are no calls."""

    at: int
    sent: int
    failed: int
    held: int
    denied: int
    other: int

    @property
    def calls(self) -> int:
        return self.sent + self.failed + self.held + self.denied


@dataclass(frozen=True, slots=True)
class Histogram:
    """Bars without gaps, each `width` microseconds wide. All records from number `reached` on are counted; `whole`: no
    earlier ones match. `terms`: how many of the calls each term would leave, by key and value."""

    bars: tuple[Bar, ...]
    width: int
    reached: int
    whole: bool
    terms: Mapping[tuple[FilterKey, str], int] = field(default_factory=dict)

    @property
    def calls(self) -> int:
        return sum(bar.calls for bar in self.bars)

    @property
    def every(self) -> int:
        return self.calls + sum(bar.other for bar in self.bars)


def grain(extent: int) -> int:
    """How fine to count records over a span of this length, in microseconds."""
    fine = extent / (4 * MOST * SECOND)
    return max((each for each in _GRAINS if each <= fine), default=_GRAINS[0]) * SECOND


def histogram(counted: RecordCounts, of: int, wanted: Filter, now: int) -> Histogram:
    """The histogram of what was counted in slots as long as `of`. It covers the span of the filter; where that is open,
    or not everything was counted, from the first match to now."""
    slots = [slot * of for slot, _ in counted.slots]
    if not slots:
        return Histogram((), of, counted.reached, counted.ended, counted.terms)
    first, last = min(slots), max(slots)
    if counted.ended and wanted.since is not None:
        first = min(first, wanted.since)
    last = max(last, now if wanted.until is None else min(now, wanted.until - 1))
    width = bar_width(last - first, of)
    bars = Counter[tuple[int, str]]()
    for (slot, word), number in counted.slots.items():
        bars[slot * of // width, PARTS.get(word, "other")] += number
    drawn = range(first // width, last // width + 1)
    every = (
        Bar(at * width, *(bars[at, part] for part in ("sent", "failed", "held", "denied", "other"))) for at in drawn
    )
    return Histogram(tuple(every), width, counted.reached, counted.ended, counted.terms)


def bar_width(extent: int, of: int) -> int:
    """The least round width of at most `MOST` bars over this extent that is a multiple of `of` (microseconds)."""
    least = -(-extent // MOST)
    fits = (each * SECOND for each in _WIDTHS if each * SECOND >= least and each * SECOND % of == 0)
    return next(fits, -(-least // (_YEAR * SECOND)) * _YEAR * SECOND)
