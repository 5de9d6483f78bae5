"""Whether others can exchange what is run for a server, between the look at it and its start.

Rules kept here:
1. What a sandbox shows as it was read cannot be exchanged: the copy of a file, and where a link leads. Of everything
   else that is known to be executed, none but root and the guard's own account may be able to change the file, a link
   on the way, or a folder above. Otherwise nothing is started.
2. That goes for the program, for what its first line has run, and for the script that an interpreter is told to run.
   What these load is not looked at.
3. `env` looks for a program at the moment that it runs. So others may not be able to add one where it looks first.
"""

import os
from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from mcpguard.upstreams.process.changeable_files import Changeable, adding, changeable
from mcpguard.upstreams.process.program_files import ProgramFile, ProgramPath, followed
from mcpguard.upstreams.process.stdio import Launch
from mcpguard.upstreams.sandbox.command_files import interpreters
from mcpguard.upstreams.sandbox.keeping import KeptPath
from mcpguard.upstreams.sandbox.not_confined import NotConfined


def ways(launch: Launch, program: Path, files: Collection[ProgramFile]) -> list[ProgramPath]:
    """Where all leads that is known to be executed; `files` are what of it was read. Raises NotConfined."""
    read = {each.way.named for each in files}
    try:
        return [*(each.way for each in files), *(followed(each) for each in _runs(launch, program) if each not in read)]
    except (OSError, ValueError) as error:
        raise NotConfined(f"its program {program} cannot be looked at: {error}") from error


def kept(leading: Iterable[ProgramPath], files: Iterable[ProgramFile], *, confined: bool) -> list[KeptPath]:
    """What a sandbox has to show as it was read. Raises NotConfined where others could exchange something still."""
    copies = {each.way.real: each.content for each in files}
    try:
        return [each for way in leading for each in _kept(way, copies.get(way.real), confined=confined)]
    except OSError as error:
        raise NotConfined(f"its program cannot be looked at: {error}") from error


def _kept(way: ProgramPath, copy: bytes | None, *, confined: bool) -> Iterator[KeptPath]:
    for link, to in way.links:
        if found := changeable(link):
            if not confined:
                raise _exposed(way, found, copied=copy is not None)
            yield KeptPath(link, to, str(found))
    found = changeable(way.real)
    if found and (copy is None or not confined):
        raise _exposed(way, found, copied=copy is not None)
    if copy is not None:
        yield KeptPath(way.real, copy, str(found or ""))


def _runs(launch: Launch, program: Path) -> tuple[Path, ...]:
    """The program, and all that their first lines have run. Raises NotConfined."""
    try:
        behind = interpreters(program, launch.environment)
    except PermissionError:  # what may be run and not read is no script
        behind = ()
    for by, each in pairwise(behind):
        if by.name == "env":
            _looked_for(each, launch)
    return (program, *behind)


def _looked_for(program: Path, launch: Launch) -> None:
    """Nobody else could put another one of this name where it is looked for first. Raises NotConfined."""
    for folder in os.get_exec_path(launch.environment):
        if Path(folder) == program.parent:
            return
        if found := adding((launch.folder or Path.cwd()) / folder):
            raise NotConfined(
                f"{program.name}, which runs its program, is looked for in {folder or '.'} before {program.parent}, "
                f"and others could put another one there: {found}; or take that folder out of its PATH"
            )


def _exposed(way: ProgramPath, found: Changeable, *, copied: bool) -> NotConfined:
    confine = ", or have it run confined (--sandbox strict)" if copied else ""
    return NotConfined(
        f"its program {way.named} is not started, as others could put another one in its place: {found}, or move it to "
        f"where only root and the guard's account may write{confine}"
    )
