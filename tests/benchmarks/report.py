"""What was measured: tables for a person, JSON for a program. Both say the same under the same names."""

import math
import os
import platform
import sqlite3
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

import orjson
from rich import box
from rich.console import Console
from rich.table import Table

from mcpguard import __version__


@dataclass(frozen=True, slots=True)
class Row:
    """One thing, and what was measured of it."""

    of: Mapping[str, str | int]
    figures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows that belong together, and the sentence without which they cannot be read."""

    name: str
    about: str
    rows: Sequence[Row]


def medians(runs: Iterable[Row]) -> list[Row]:
    """Every thing once, in the order in which it came first, with the median of each figure over its runs."""
    things: dict[tuple[str | int, ...], list[Row]] = {}
    for run in runs:
        things.setdefault(tuple(run.of.values()), []).append(run)
    return [
        Row(same[0].of, {name: statistics.median(run.figures[name] for run in same) for name in same[0].figures})
        for same in things.values()
    ]


def quantile(samples: Iterable[float], share: float) -> float:
    """The smallest sample that at least `share` of all do not exceed."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def machine() -> dict[str, str | int | float]:
    """What figures of two runs are not comparable without."""
    return {
        "mcpguard": __version__,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": platform.platform(),
        "cores": os.cpu_count() or 0,
        "load_before": round(os.getloadavg()[0], 2),
    }


def show(sheet: Sheet, console: Console) -> None:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    first = sheet.rows[0]
    for name in (*first.of, *first.figures):
        measured = name in first.figures
        table.add_column(name.replace("_", " "), justify="right" if measured else "left", no_wrap=not measured)
    for row in sheet.rows:
        table.add_row(*map(str, row.of.values()), *map(_short, row.figures.values()))
    console.print(f"{sheet.name} ({sheet.about})")
    console.print(table)


def as_json(facts: Mapping[str, str | int | float], sheets: Sequence[Sheet]) -> bytes:
    return orjson.dumps({"machine": facts, "sheets": [asdict(sheet) for sheet in sheets]}, option=orjson.OPT_INDENT_2)


def _short(figure: float) -> str:
    """Three digits that say something; what is counted, whole; "-" for what there is not."""
    if isinstance(figure, int) or math.isnan(figure):
        return "-" if math.isnan(figure) else f"{figure:,}"
    return f"{figure:,.{0 if figure >= 100 else 1 if figure >= 10 else 2 if figure >= 1 else 3}f}"
