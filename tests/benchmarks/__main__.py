"""`python -m tests.benchmarks`: measure, print tables, and write JSON if asked to."""

import logging
from collections.abc import Iterator
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import structlog
import typer
from rich.console import Console

from tests.benchmarks import append, disk, pages, report, verify
from tests.benchmarks.gateway import faces, restart, sdk_table
from tests.benchmarks.gateway import sheets as gateway
from tests.benchmarks.programs import program_sheets
from tests.benchmarks.quick import kept
from tests.benchmarks.quick import sheets as quick_sheets
from tests.benchmarks.quick.conclusion import is_as_cheap

TOLERANCE = 25.0


class What(StrEnum):
    """What can be measured."""

    APPEND = "append"
    VERIFY = "verify"
    DISK = "disk"
    GATEWAY = "gateway"
    FACES = "faces"
    QUICK = "quick"
    RESTART = "restart"
    CODE = "code"
    PAGES = "pages"


def main(
    what: Annotated[
        list[What] | None, typer.Argument(help="Default: all but disk, quick, restart, code and pages.")
    ] = None,
    *,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the figures there too.")] = None,
    directory: Annotated[
        Path, typer.Option("--dir", help="Where databases are made; must be on the disk in question.")
    ] = Path("/var/tmp"),  # noqa: S108 - a folder of our own is made in it; unlike /tmp it is seldom in memory
    postgres: Annotated[
        str | None, typer.Option(metavar="URL", help="Also on this server, in databases that are dropped afterwards.")
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="How often everything is measured. Default: 3, but 1 for `quick`.")
    ] = None,
    only: Annotated[str, typer.Option(metavar="TEXT", help="Of the gateways those with this in their name.")] = "",
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of the time, a twentieth of the records.")] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Write the figures of `quick` into the repository instead of comparing them.")
    ] = False,
    tolerance: Annotated[
        float,
        typer.Option(
            min=1,
            metavar="PERCENT",
            help="Of `quick`: growth of processor time that is allowed; of times, twice as much.",
        ),
    ] = TOLERANCE,
) -> None:
    """Measure how fast the guard records calls, verifies what it recorded, and carries calls beside other gateways."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    console = Console()
    console.width = max(console.width, 150)
    facts = report.machine()
    console.print(", ".join(f"{name} {fact}" for name, fact in facts.items()))
    sheets = []
    wanted = what or [What.APPEND, What.VERIFY, What.GATEWAY, What.FACES]
    show = partial(report.show, console=console)
    for sheet in _measured(wanted, directory, postgres, runs or 3, only, quick=quick):
        show(sheet)
        sheets.append(sheet)
    if What.QUICK in wanted:
        measured = quick_sheets.measure(directory, runs or 1, partial(typer.echo, err=True), show)
        sheets += measured.sheets
    failed = any(gateway.has_failed(sheet) for sheet in sheets)
    if What.QUICK in wanted and keep and not failed:
        kept.keep(measured.figures, facts)
    elif What.QUICK in wanted:
        failed |= not is_as_cheap(measured.figures, tolerance / 100, console)
    if json is not None:
        json.write_bytes(report.as_json(facts, sheets))
    if failed:
        raise typer.Exit(1)


def _measured(
    wanted: list[What], folder: Path, server: str | None, runs: int, only: str, *, quick: bool
) -> Iterator[report.Sheet]:
    seconds = 0.3 if quick else 3.0
    for what in wanted:
        match what:
            case What.APPEND:
                yield from append.sheets(folder, server, runs, seconds)
            case What.VERIFY:
                yield from verify.sheets(folder, server, runs, 50_000 if quick else 1_000_000)
            case What.DISK:
                yield from disk.sheets(folder, runs, seconds)
            case What.GATEWAY:
                turns = max(2, round(seconds * 2 / 3 / sdk_table.TURN_SECONDS))
                yield from sdk_table.sheets(folder, runs * turns, partial(typer.echo, err=True), only)
                yield from gateway.sheets(folder, runs, seconds * 2 / 3, only, partial(typer.echo, err=True))
            case What.FACES:
                yield from faces.sheets(folder, runs, seconds * 2 / 3, partial(typer.echo, err=True))
            case What.QUICK:
                pass  # it is measured last, because it is compared
            case What.RESTART | What.CODE | What.PAGES:
                yield from _measured_alone(what, folder, runs, quick=quick)


def _measured_alone(what: What, folder: Path, runs: int, *, quick: bool) -> Iterator[report.Sheet]:
    match what:
        case What.RESTART:
            yield from restart.sheets(folder, runs)
        case What.CODE:
            yield from program_sheets.sheets(folder, runs * (1 if quick else 5), partial(typer.echo, err=True))
        case _:
            yield from pages.sheets(folder, runs, *((50_000, 50) if quick else (1_000_000,)))


if __name__ == "__main__":
    typer.run(main)
