"""The file of a program, and what a check tells of it, for the commands of programs and scripts."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from mcpguard.cli.shared.common import print_table

CHECKING: Final = 40.0
"""Seconds that checking a program may take."""
ProgramFile = Annotated[Path, typer.Argument(metavar="FILE", help="The program in Python; - reads standard input.")]


def read_program(file: Path) -> str:
    """Read the program. Ends the command where that cannot be done."""
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise typer.BadParameter(f"cannot be read: {error}", param_hint="FILE") from None


def show_named(named: Sequence[Mapping[str, Any]]) -> None:
    """Print the tools that a program names."""
    if named:
        print_table(("tool", "effect"), ((each["name"], each["effect"] or "not approved") for each in named))
    else:
        typer.echo("The program names no tool.", err=True)
