"""Computes what pages of numbers draw: calls over time, how long they took, and lists of the most frequent."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mcpguard.codec.filters import write
from mcpguard.domain.filters import Filter
from mcpguard.guard.audit.call_sums import CallBar, CallSums, SpanNumbers
from mcpguard.guard.audit.histogram import PARTS, Bar, Histogram
from mcpguard.web.pages.audit.drawing import HIGH, WIDE, Drawing, drawing
from mcpguard.web.pages.audit.log_queries import address

MILLISECOND: Final = 1000
_OPEN: Final = {"open": "sent"}
_ROUND: Final = (1, 2, 5, 10)


@dataclass(frozen=True, slots=True)
class CallShares:
    """Calls by what became of them. Cancelled ones and those with an unknown outcome count as failed."""

    sent: int
    failed: int
    held: int
    denied: int

    @property
    def calls(self) -> int:
        return self.sent + self.failed + self.held + self.denied

    def share(self, number: int, of: int) -> str:
        """Return a number in percent of another; "" where there is nothing to compare."""
        return f"{100 * number / of:.1f} %" if of else ""


@dataclass(frozen=True, slots=True)
class LatencyChart:
    """Two lines, as points of an SVG, in pieces between bars without calls. `top`: milliseconds at its upper edge."""

    p50: tuple[str, ...]
    p95: tuple[str, ...]
    top: str
    bars: tuple[CallBar, ...]


@dataclass(frozen=True, slots=True)
class RankedRow:
    """One of the most frequent, with its number, its share of the largest in percent, and where it leads."""

    label: str
    number: int
    share: float
    link: str
    note: str = ""


def call_shares(sums: CallSums) -> CallShares:
    """Sum up calls by what became of them; those that still run count as sent."""
    parts = dict.fromkeys(("sent", "failed", "held", "denied"), 0)
    for outcome, number in sums.outcomes.items():
        parts[(PARTS | _OPEN)[outcome]] += number
    return CallShares(**parts)


def counted_histogram(numbers: SpanNumbers) -> Histogram:
    """Return the calls of a span as the audit log draws those that it found."""
    return Histogram(tuple(map(_bar, numbers.bars)), numbers.width, 1, whole=True)


def calls_drawing(counted: Histogram, terms: str) -> Drawing | None:
    """Draw the calls of a span; None where there were none. `terms`: what else the links into the audit log say."""
    if not counted.calls:
        return None
    return drawing(counted, lambda since, until: log_at(terms, Filter((), since, until)))


def latency_chart(numbers: SpanNumbers) -> LatencyChart | None:
    """Draw how long calls took over time; None where none was sent."""
    slowest = max((bar.took.p95 or 0 for bar in numbers.bars), default=0)
    if not slowest:
        return None
    top = _round_up(slowest / MILLISECOND)
    lines = (_lines(numbers.bars, [getattr(bar.took, name) for bar in numbers.bars], top) for name in ("p50", "p95"))
    p50, p95 = lines
    return LatencyChart(p50, p95, in_milliseconds(round(top * MILLISECOND)), numbers.bars)


def ranked_rows(of: Iterable[tuple[str, int, str, str]]) -> tuple[RankedRow, ...]:
    """Return a list of labels with their numbers, links and notes, the largest first."""
    rows = sorted(of, key=lambda each: (-each[1], each[0]))
    most = max((number for _, number, _, _ in rows), default=1)
    return tuple(
        RankedRow(label, number, round(100 * number / most, 1), link, note) for label, number, link, note in rows
    )


def part_links(terms: str, since: int, until: int) -> Mapping[str, str]:
    """Return where each part of a chart leads."""
    words = {part: [word for word, of in PARTS.items() if of == part] for part in dict.fromkeys(PARTS.values())}
    outcomes = {"answered", "failed", "cancelled", "unknown", "held", "refused"}
    return {
        part: log_at(
            " ".join((terms, *(f"outcome:{word}" for word in some if word in outcomes))), Filter((), since, until)
        )
        for part, some in words.items()
    }


def log_at(terms: str, span: Filter) -> str:
    """Return the address of the audit log with these terms and this span."""
    return address("/audit", q=f"{terms} {write(span)}".strip())


def in_short(number: int) -> str:
    """Return a large number with two or three digits, such as 1.8 M or 940 k."""
    for unit, size in (("M", 1_000_000), ("k", 1000)):
        if number >= size:
            return f"{number / size:.1f} {unit}" if number < 10 * size else f"{number // size:,} {unit}"
    return str(number)


def in_milliseconds(microseconds: int | None) -> str:
    """Write about how long something took: two digits, since more are not known."""
    if microseconds is None:
        return "none"
    milliseconds = microseconds / MILLISECOND
    if milliseconds >= 10_000:
        return f"{milliseconds / 1000:,.0f} s"
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.1f} s"
    return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"


def change(now: int, before: int | None) -> str:
    """Write how a number differs from the one before; "" where that is not known."""
    if before is None:
        return ""
    if before == now:
        return "as before"
    return f"was {before:,}"


def _bar(bar: CallBar) -> Bar:
    found = call_shares(bar.sums)
    return Bar(bar.at, found.sent, found.failed, found.held, found.denied, 0)


def _lines(bars: Sequence[CallBar], values: Sequence[int | None], top: float) -> tuple[str, ...]:
    """Return the pieces of a line, each as points of an SVG; a single point becomes a short line."""
    step, pieces, piece = WIDE / len(bars), list[str](), list[str]()
    for place, value in enumerate((*values, None)):
        if value is None:
            if piece:
                pieces.append(" ".join(piece))
            piece = []
            continue
        x, y = place * step, round(HIGH - value / MILLISECOND / top * (HIGH - 4), 1)
        piece += [f"{x + step * 0.1:.1f},{y}", f"{x + step * 0.9:.1f},{y}"]
    return tuple(pieces)


def _round_up(milliseconds: float) -> float:
    """Return the least round number that is not smaller."""
    size = 0.1
    while size * _ROUND[-1] < milliseconds:
        size *= 10
    return next(size * each for each in _ROUND if size * each >= milliseconds)
