"""What the disk itself takes to make 4 KiB durable: no synced record can be faster."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.report import Row, Sheet, medians, quantile

_PAGE = os.urandom(4096)
_PAGES = 1000  # as many as SQLite's WAL holds before it begins again at its start


def measure(folder: Path, seconds: float) -> Row:
    """Write a page and sync it, over and over, inside a file that has its full length already."""
    path = folder / "synced"
    with path.open("wb", buffering=0) as file:
        file.write(_PAGE * _PAGES)
        os.fsync(file.fileno())
        took: list[float] = []
        end = time.perf_counter() + seconds
        while not took or time.perf_counter() < end:
            began = time.perf_counter()
            os.pwrite(file.fileno(), _PAGE, len(took) % _PAGES * len(_PAGE))
            os.fdatasync(file.fileno())
            took.append(time.perf_counter() - began)
    path.unlink()
    return Row(
        {"what": "write 4 KiB + fdatasync"},
        {
            "p50_ms": quantile(took, 0.5) * 1e3,
            "p99_ms": quantile(took, 0.99) * 1e3,
            "per_s": len(took) / sum(took),
        },
    )


def sheets(folder: Path, runs: int, seconds: float) -> Iterator[Sheet]:
    yield sheet([measure(folder, seconds) for _ in range(runs)])


def sheet(measured: list[Row]) -> Sheet:
    return Sheet("disk", f"median of {len(measured)} runs", medians(measured))
