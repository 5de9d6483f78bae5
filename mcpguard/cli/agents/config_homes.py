"""Whose programs `import` and `connect` look at."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from mcpguard.agents.program import AgentProgram, Home
from mcpguard.agents.programs import BY_NAME, PROGRAMS
from mcpguard.settings.entries.entry import named

_NAMES = ", ".join(BY_NAME)

Programs = Annotated[
    list[str] | None, typer.Argument(metavar="PROGRAM", help=f"Whose files; all without one: {_NAMES}.")
]
Project = Annotated[
    Path, typer.Option(metavar="DIR", help="The project whose files count too; else the folder you are in.")
]
HomeFolder = Annotated[Path | None, typer.Option("--home", metavar="DIR", help="Another home than your own.")]


def home_of(folder: Path | None) -> Home:
    """Another's home has none of the variables of ours."""
    if folder is None:
        return Home(Path.home(), sys.platform, os.environ)
    return Home(folder.resolve(), sys.platform)


def chosen_programs(names: Iterable[str] | None) -> tuple[AgentProgram, ...]:
    return tuple(named_program(name) for name in names) if names else PROGRAMS


def named_program(name: str) -> AgentProgram:
    if name not in BY_NAME:
        raise typer.BadParameter(f"{named(name)} is not known; there are {_NAMES}")
    return BY_NAME[name]
