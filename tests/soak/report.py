"""What a soak found, for a person and for a program."""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.soak.book import Book
from tests.soak.measuring import Figures


@dataclass
class Report:
    """Everything that is known at the end."""

    seed: int
    clients: int
    book: Book
    servers: tuple[str, ...]
    missing: str
    seconds: float = 0.0
    fresh: Figures | None = None
    warm: Figures | None = None
    busy: Figures | None = None
    end: Figures | None = None
    grown: Counter[str] = field(default_factory=Counter)
    connected: Counter[str] = field(default_factory=Counter)
    records: Counter[str] = field(default_factory=Counter)
    stopped: tuple[int, float] = (-1, 0.0)

    @property
    def rss_growth_kib(self) -> int:
        """From after the warm-up to the end, with nobody connected at both; 0 where it did not come to that."""
        return self.end.rss_kib - self.warm.rss_kib if self.warm and self.end else 0


def ways(book: Book) -> list[str]:
    """How requests ended, the usual first."""
    every = Counter[str]()
    for (_, how), count in book.ended.items():
        every[how] += count
    return [how for how, _ in every.most_common()]


def percentile(seconds: list[float], share: float) -> float:
    """In milliseconds; 0 where there is nothing."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000 if ordered else 0.0


def totals(report: Report) -> dict[str, Any]:
    book = report.book
    asked = sum(book.ended.values())
    every = [each for seconds in book.seconds.values() for each in seconds]
    code, stop = report.stopped
    return {
        "seed": report.seed,
        "clients": report.clients,
        "seconds": round(report.seconds, 1),
        "requests": asked,
        "requests per second": round(asked / max(report.seconds, 0.001), 1),
        "p50 ms": round(percentile(every, 0.5), 1),
        "p99 ms": round(percentile(every, 0.99), 1),
        "kills": book.kills.total(),
        "connected again": report.connected.total(),
        "records": report.records.total(),
        "RSS growth KiB": report.rss_growth_kib,
        "exit code": code,
        "seconds to stop": round(stop, 2),
        "wrong": book.wrongs,
    }


def as_json(report: Report) -> bytes:
    book = report.book
    ended: dict[str, dict[str, int]] = {}
    for (act, how), count in sorted(book.ended.items()):
        ended.setdefault(act, {})[how] = count
    looks = {name: vars(look) for name, look in _looks(report)}
    said = {
        "totals": totals(report),
        "missing": report.missing,
        "ended": ended,
        "heard": book.heard,
        "kills": book.kills,
        "connected again": report.connected,
        "records": report.records,
        "looks": looks,
        "objects grown": report.grown,
        "wrong": book.wrong,
    }
    return json.dumps(said, indent=2).encode() + b"\n"


def show(report: Report, console: Console) -> None:
    if report.missing:
        console.print(f"without the server from npm: {report.missing}")
    for table in (_requests(report.book), _guard(report), _servers(report)):
        console.print(table)
    for name, value in totals(report).items():
        console.print(f"{name:>20}  {value}")
    console.print(f"{'heard':>20}  {dict(report.book.heard)}")
    console.print(f"{'records by kind':>20}  {dict(report.records)}")
    console.print(f"{'objects grown':>20}  {dict(report.grown.most_common(8))}")
    for wrong in report.book.wrong:
        console.print(f"WRONG {wrong}", style="red", markup=False, highlight=False)


def _requests(book: Book) -> Table:
    table = Table("act", *ways(book), "p50 ms", "p99 ms", title="What was asked, and how it ended")
    for act in sorted({act for act, _ in book.ended}):
        counts = [str(book.ended[act, how] or "") for how in ways(book)]
        times = [f"{percentile(book.seconds[act], share):.1f}" for share in (0.5, 0.99)]
        table.add_row(act, *counts, *times)
    return table


def _guard(report: Report) -> Table:
    looks = _looks(report)
    table = Table("", *(name for name, _ in looks), title="The guard's process")
    for what in ("rss_kib", "tasks", "fds", "children", "zombies", "sessions", "streams", "subscriptions", "entries"):
        found = (getattr(look, what) for _, look in looks)
        table.add_row(what, *(str(each.total() if isinstance(each, Counter) else each) for each in found))
    return table


def _servers(report: Report) -> Table:
    table = Table("server", "kills", "connected again", title="The servers")
    for name in sorted(report.book.kills | report.connected):
        table.add_row(name, str(report.book.kills[name]), str(report.connected[name]))
    return table


def _looks(report: Report) -> list[tuple[str, Figures]]:
    named = (("fresh", report.fresh), ("warm", report.warm), ("busy", report.busy), ("end", report.end))
    return [(name, look) for name, look in named if look is not None]
