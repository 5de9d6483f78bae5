"""Shared parts of all commands: common options, loading the settings, printing, and reporting errors."""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcpguard.cli.shared.progress import show_waiting
from mcpguard.domain.errors import GuardError
from mcpguard.settings.problems import SettingsError
from mcpguard.text.visible import hidden_as, visible

if TYPE_CHECKING:
    from mcpguard.settings.load import LoadedSettings


class Output(StrEnum):
    """The format of data on standard output."""

    TABLE = "table"
    JSON = "json"


Config = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="The configuration file to read.")]
DataDir = Annotated[Path | None, typer.Option("--data-dir", metavar="DIR", help="The data directory.")]
As = Annotated[Output, typer.Option("--output", "-o", help="Output format.")]


def load_settings(config: Path | None, demo: Mapping[str, object] | None = None, **given: object) -> "LoadedSettings":
    """The settings as the guard reads them at its start. Prints every problem and exits with 1 otherwise."""
    from mcpguard.settings.load import NOTHING, load  # noqa: PLC0415 - who only asks a guard waits for no settings

    with report_errors():
        return load(given, os.environ, config, demo or NOTHING)


def this_program() -> str:
    """How a user types this command in this terminal."""
    called = Path(sys.argv[0])
    found = shutil.which("mcpguard")
    if called.name == "__main__.py":
        return f"{shlex.quote(sys.executable)} -m mcpguard"
    if found is not None and Path(found).resolve() == called.resolve():
        return "mcpguard"
    return shlex.quote(str(called))


@contextmanager
def report_errors() -> Iterator[None]:
    """Print our own errors in their sentence, without a traceback, and exit with 1. Settings report every problem."""
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
def show_progress() -> Iterator[Callable[[int], None]]:
    """Show how far a long walk has come, at a terminal only, and wipe it out at the end."""
    come = 0

    def told(seq: int) -> None:
        nonlocal come
        come = seq

    with show_waiting(lambda: f"{come:,} records" if come else "reading"):
        yield told


def print_json(value: object) -> None:
    """Print a value as JSON that no terminal obeys: hidden characters are escaped."""
    lines = json.dumps(value, indent=2, ensure_ascii=not _utf8()).split("\n")
    typer.echo("\n".join(hidden_as(line, _escaped) for line in lines))


def json_line(value: object) -> str:
    """The value as JSON on one line, for programs that read line by line."""
    return hidden_as(json.dumps(value, ensure_ascii=not _utf8(), separators=(",", ":")), _escaped)


def print_table(columns: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> None:
    """Print a table. Cells are text only: no markup, and hidden characters made visible."""
    from rich.console import Console  # noqa: PLC0415 - half of the commands print none
    from rich.table import Table  # noqa: PLC0415 - half of the commands print none
    from rich.text import Text  # noqa: PLC0415 - half of the commands print none

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


def moment(microseconds: int | None) -> str:
    return f"{datetime.fromtimestamp(microseconds / 1e6, UTC):%Y-%m-%d %H:%M:%S}" if microseconds else ""


def print_lines(text: str) -> None:
    """Print foreign text of several lines, made visible so that no terminal obeys it."""
    for line in text.split("\n"):
        typer.echo(visible(line))


def warn(sentence: str) -> None:
    typer.echo(f"warning: {visible(sentence)}", err=True)


def print_answer(output: Output, answer: object, sentence: str) -> None:
    """Print the answer of the guard as JSON, or the sentence."""
    if output is Output.JSON:
        print_json(answer)
    else:
        typer.echo(visible(sentence))
