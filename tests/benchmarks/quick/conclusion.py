"""What a run of `quick` comes to, in a table and in words."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from tests.benchmarks import report
from tests.benchmarks.quick.changes import compare
from tests.benchmarks.quick.figures import Figure
from tests.benchmarks.quick.kept import FILE, NothingKept, read


def is_as_cheap(figures: Sequence[Figure], tolerance: float, console: Console, file: Path = FILE) -> bool:
    """Tell whether nothing became dearer than the figures that are kept, and say so to a person."""
    try:
        kept = read(file)
    except NothingKept as why:
        console.print(str(why), highlight=False, markup=False)
        return False
    found = compare(figures, kept.figures, tolerance)
    at, python, cores = (kept.machine.get(name, "?") for name in ("at", "python", "cores"))
    about = (
        f"kept at {at} with Python {python} on {cores} cores; more is dearer; {tolerance:.0%} are allowed of processor "
        "time, twice as much of times"
    )
    report.show(report.Sheet("compared with the figures that are kept", about, [*found.rows()]), console)
    for line in found.words():
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    return not found.fails
