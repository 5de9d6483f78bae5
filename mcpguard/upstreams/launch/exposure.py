"""Checks whether other users can exchange a server's program between its inspection and its start.

Rules kept here:
1. What a sandbox shows as it was read (the copy of a file, the target of a link) cannot be exchanged. For every other
   file known to be executed, only root and the guard's own account may be able to change the file, a link on the way to
   it, or a folder above it. Otherwise the server is not started.
2. This holds for the program, for the interpreter in its first line, and for the script that an interpreter is told to
   run. Files that these load are not checked.
3. `env` searches the PATH when it runs, so other users must not be able to add a program to a folder that it searches
   first.
"""

import os
from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from mcpguard.upstreams.process.changeable_files import Changeable, find_addable, find_changeable
from mcpguard.upstreams.process.program_files import ProgramFile, ProgramPath, follow_links
from mcpguard.upstreams.process.stdio import ProcessLaunch
from mcpguard.upstreams.sandbox.command_files import interpreters
from mcpguard.upstreams.sandbox.kept_files import KeptPath
from mcpguard.upstreams.sandbox.not_confined import NotConfined


def executed_paths(launch: ProcessLaunch, program: Path, files: Collection[ProgramFile]) -> list[ProgramPath]:
    """Return the paths of everything known to be executed. `files` are those that were read. Raises NotConfined."""
    read = {each.way.named for each in files}
    try:
        return [
            *(each.way for each in files),
            *(follow_links(each) for each in _runs(launch, program) if each not in read),
        ]
    except (OSError, ValueError) as error:
        raise NotConfined(f"its program {program} cannot be checked: {error}") from error


def kept_paths(leading: Iterable[ProgramPath], files: Iterable[ProgramFile], *, confined: bool) -> list[KeptPath]:
    """Return what a sandbox has to show as it was read. Raises NotConfined where others could still exchange a file."""
    copies = {each.way.real: each.content for each in files}
    try:
        return [each for way in leading for each in _kept(way, copies.get(way.real), confined=confined)]
    except OSError as error:
        raise NotConfined(f"its program cannot be checked: {error}") from error


def _kept(way: ProgramPath, copy: bytes | None, *, confined: bool) -> Iterator[KeptPath]:
    # A bind mount over a link shows its target, so each link on the way is checked and shown by itself: whoever can
    # replace one could lead the same path to another program after the digest was taken.
    for link, to in way.links:
        if found := find_changeable(link):
            if not confined:
                raise _exposed(way, found, copied=copy is not None)
            yield KeptPath(link, to, str(found))
    found = find_changeable(way.real)
    if found and (copy is None or not confined):
        raise _exposed(way, found, copied=copy is not None)
    if copy is not None:
        yield KeptPath(way.real, copy, str(found or ""))


def _runs(launch: ProcessLaunch, program: Path) -> tuple[Path, ...]:
    """Return the program and every interpreter that its first line leads to. Raises NotConfined."""
    try:
        behind = interpreters(program, launch.environment)
    except PermissionError:  # a file that may be executed but not read is no script
        behind = ()
    for by, each in pairwise(behind):
        # `env` finds its program at run time, by name. Whoever can add one to an earlier folder of the PATH runs it.
        if by.name == "env":
            _looked_for(each, launch)
    return (program, *behind)


def _looked_for(program: Path, launch: ProcessLaunch) -> None:
    """Raise NotConfined where others could add a program of this name to a folder that `env` searches first."""
    for folder in os.get_exec_path(launch.environment):
        if Path(folder) == program.parent:
            return
        if found := find_addable((launch.folder or Path.cwd()) / folder):
            raise NotConfined(
                f"its interpreter {program.name} is searched in {folder or '.'} before {program.parent}, and others "
                f"could add a program there: {found}; or remove that folder from its PATH"
            )


def _exposed(way: ProgramPath, found: Changeable, *, copied: bool) -> NotConfined:
    confine = ", or run it in a sandbox" if copied else ""
    return NotConfined(
        f"its program {way.named} was not started, because other users could replace it: {found}, or move it to where "
        f"only root and the guard's account may write{confine}"
    )
