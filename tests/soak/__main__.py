"""`python -m tests.soak`: soak, print what was found, and write it as JSON if asked to."""

import random
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import anyio
import typer
from rich.console import Console

from tests.soak.report import as_json, show
from tests.soak.run import Plan, soak

MOST_GROWTH_KIB = 65_536
"""A leak of one connection's state with each kill, or of a few hundred bytes with each call, is more than that within
some minutes. Python itself seldom gives memory back: what many large answers at once have needed stays with it, and the
caches fill only in the course of the load. So less would say nothing.
"""


def main(
    minutes: Annotated[float, typer.Option(min=0.1, help="How long clients and kills go on.")] = 10.0,
    seed: Annotated[int | None, typer.Option(help="Everything is drawn from it; any, if none is given.")] = None,
    clients: Annotated[int, typer.Option(min=1, help="How many there are at once.")] = 16,
    json: Annotated[
        Path | None, typer.Option("--json", "-o", metavar="FILE", help="Write what was found there too.")
    ] = None,
) -> None:
    """Put a guard under mixed load while its servers are killed again and again, and look for whatever gets lost."""
    chosen = random.randrange(1_000_000) if seed is None else seed  # noqa: S311 - no secret
    console = Console()
    console.width = max(console.width, 150)
    console.print(f"seed {chosen}, {clients} clients, {minutes:g} minutes")
    with tempfile.TemporaryDirectory() as folder:
        plan = Plan(seconds=minutes * 60, seed=chosen, clients=clients)
        report = anyio.run(soak, plan, Path(folder), backend_options={"use_uvloop": True})
    report.book.check(report.rss_growth_kib < MOST_GROWTH_KIB, f"memory has grown by {report.rss_growth_kib} KiB")
    show(report, console)
    if json is not None:
        json.write_bytes(as_json(report))
    sys.exit(1 if report.book.wrongs else 0)


if __name__ == "__main__":
    typer.run(main)
