"""The entry by which a program on this host reaches the guard: a command that locates the guard, or its address."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import typer

from mcpguard.agents.program import AgentProgram, Reach
from mcpguard.cli.shared.guard_client import API, GuardClient
from mcpguard.cli.shared.stdio_command import stdio_command
from mcpguard.relay.credential import TOKEN_FILE
from mcpguard.settings.load import LoadedSettings


class ConnectOver(StrEnum):
    """How the program reaches the guard."""

    STDIO = "stdio"
    HTTP = "http"


class ShownFace(StrEnum):
    """What the agent sees: the guard's few tools, or every tool by its own name."""

    GUARD = "guard"
    DIRECT = "direct"


@dataclass(frozen=True, slots=True)
class WantedEntry:
    """The options for the entry."""

    over: ConnectOver = ConnectOver.STDIO
    face: ShownFace = ShownFace.GUARD
    token_file: Path | None = None
    config: Path | None = None
    only: str = ""
    """The one server that the entry is for; empty for the guard itself."""


def reach(program: AgentProgram, wanted: WantedEntry, found: LoadedSettings, guard: GuardClient) -> Reach:
    """The command or address for the entry. Exits with 2 if the program cannot use it."""
    if wanted.over is ConnectOver.STDIO:
        token = {TOKEN_FILE: str(wanted.token_file.absolute())} if wanted.token_file else {}
        command = stdio_command(wanted.config, found.settings.data_dir)
        return Reach((*command, *_face(program, wanted)), token)
    if not program.http:
        raise typer.BadParameter(f"{program.title} starts commands only", param_hint="--over")
    if wanted.token_file:
        raise typer.BadParameter(
            "over http the token itself would stand in the program's file; use --over stdio", param_hint="--token-file"
        )
    url = guard.get(f"{API}/status")["console"] + "/mcp"
    if wanted.only:
        return Reach(url=f"{url}/only/{wanted.only}")
    return Reach(url=f"{url}/all?separator={program.separator}" if wanted.face is ShownFace.DIRECT else url)


def _face(program: AgentProgram, wanted: WantedEntry) -> Iterator[str]:
    if wanted.only:
        yield from ("--face", "transparent", "--only", wanted.only)
    elif wanted.face is ShownFace.DIRECT:
        yield from ("--face", wanted.face.value, "--separator", program.separator)
