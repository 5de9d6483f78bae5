"""Figures beside others: how many times as much as with no gateway, and as the best gateway that is not ours."""

from collections.abc import Sequence
from dataclasses import replace
from math import isnan, nan

from tests.benchmarks.report import Row

DIRECT = "direct"
_TO_DIRECT = {"p50_ms": "p50_to_direct"}
_TO_OTHER = {"p50_ms": "p50_to_other", "calls_per_s": "rate_to_other", "cpu_ms": "cpu_to_other"}
_MOST_IS_BEST = frozenset({"calls_per_s"})


def compared(rows: Sequence[Row], ours: frozenset[str]) -> list[Row]:
    """The rows of one table, with ratios. A figure is compared with the best of its kind, whichever gateway has it."""
    direct = [row for row in rows if row.of["gateway"] == DIRECT]
    others = [row for row in rows if row not in direct and row.of["gateway"] not in ours]
    return [_compared(row, direct, others) for row in rows]


def _compared(row: Row, direct: Sequence[Row], others: Sequence[Row]) -> Row:
    to_direct = {ratio: _ratio(row, direct, name) for name, ratio in _TO_DIRECT.items()}
    to_other = {ratio: _ratio(row, others, name) for name, ratio in _TO_OTHER.items()}
    return replace(row, figures={**row.figures, **to_direct, **to_other})


def _ratio(row: Row, beside: Sequence[Row], name: str) -> float:
    known = [other.figures[name] for other in beside if not isnan(other.figures[name])]
    best = (max(known) if name in _MOST_IS_BEST else min(known)) if known else 0.0
    return row.figures[name] / best if best else nan
