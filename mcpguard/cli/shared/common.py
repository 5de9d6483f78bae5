"""What every command shares: its options, loading the settings, tables, and how an error is told."""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mcpguard.cli.shared.progress import waiting
from mcpguard.domain.errors import GuardError
from mcpguard.settings.load import NOTHING, Loaded, load
from mcpguard.settings.problems import SettingsError
from mcpguard.text.visible import hidden_as, visible


class Output(StrEnum):
    """How data is written to standard output."""

    TABLE = "table"
    JSON = "json"


Config = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="The configuration file to read.")]
DataDir = Annotated[Path | None, typer.Option("--data-dir", metavar="DIR", help="The data directory.")]
As = Annotated[Output, typer.Option("--output", "-o", help="How to print.")]


def loaded(config: Path | None, demo: Mapping[str, object] = NOTHING, **given: object) -> Loaded:
    """The settings as a start would see them; every problem on standard error otherwise."""
    with telling():
        return load(given, os.environ, config, demo)


def this_program() -> str:
    """How somebody types this command in a terminal like this one."""
    called = Path(sys.argv[0])
    found = shutil.which("mcpguard")
    if called.name == "__main__.py":
        return f"{shlex.quote(sys.executable)} -m mcpguard"
    if found is not None and Path(found).resolve() == called.resolve():
        return "mcpguard"
    return shlex.quote(str(called))


@contextmanager
def telling() -> Iterator[None]:
    """What we raise on purpose is told in its sentence, without a traceback; of settings, everything that is wrong."""
    try:
        yield
    except SettingsError as error:
        for problem in error.problems:
            typer.echo(problem, err=True)
        raise typer.Exit(1) from None
    except GuardError as error:
        typer.echo(f"mcpguard: {visible(str(error))}", err=True)
        raise typer.Exit(1) from None


@contextmanager
def progress() -> Iterator[Callable[[int], None]]:
    """Says how far a long walk has come, to a person only, and wipes it out at the end."""
    come = 0

    def told(seq: int) -> None:
        nonlocal come
        come = seq

    with waiting(lambda: f"{come:,} records" if come else "looking it over"):
        yield told


def print_json(value: object) -> None:
    """The value unchanged, in a form that no terminal obeys: hidden characters are escaped, which JSON may always."""
    lines = json.dumps(value, indent=2, ensure_ascii=not _utf8()).split("\n")
    typer.echo("\n".join(hidden_as(line, _escaped) for line in lines))


def json_line(value: object) -> str:
    """The same on one line, for a program that reads line by line."""
    return hidden_as(json.dumps(value, ensure_ascii=not _utf8(), separators=(",", ":")), _escaped)


def print_table(columns: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> None:
    """Cells are text and nothing else: no markup, hidden characters made visible."""
    table = Table(*columns, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(Text(visible(cell), overflow="fold") for cell in row))
    width = None if sys.stdout.isatty() else 10_000  # what is piped is neither wrapped nor cut
    console = Console(width=width, highlight=False)
    with console.capture() as printed:
        console.print(table)
    typer.echo("\n".join(line.rstrip() for line in printed.get().splitlines()))


def _escaped(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{unit.hex()}" for unit in (units[:2], units[2:]) if unit)


def _utf8() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
