"""Arguments and options that select the programs whose files `import` and `connect` read."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from mcpguard.agents.program import AgentProgram, Home
from mcpguard.agents.programs import BY_NAME, PROGRAMS
from mcpguard.settings.entries.entry import shown_name

_NAMES = ", ".join(BY_NAME)

Programs = Annotated[
    list[str] | None,
    typer.Argument(metavar="PROGRAM", help=f"The programs whose files are read; default: all of {_NAMES}."),
]
Project = Annotated[Path, typer.Option(metavar="DIR", help="A project whose files are read too.")]
HomeFolder = Annotated[
    Path | None, typer.Option("--home", metavar="DIR", help="The home folder to look in; default: your own.")
]


def home_of(folder: Path | None) -> Home:
    """The home folder to look in. Another user's home has none of our environment variables."""
    if folder is None:
        return Home(Path.home(), sys.platform, os.environ)
    return Home(folder.resolve(), sys.platform)


def chosen_programs(names: Iterable[str] | None) -> tuple[AgentProgram, ...]:
    return tuple(named_program(name) for name in names) if names else PROGRAMS


def named_program(name: str) -> AgentProgram:
    if name not in BY_NAME:
        raise typer.BadParameter(f"{shown_name(name)} is not known; choose from {_NAMES}")
    return BY_NAME[name]
