"""Writes files of the system as `connect` writes a program's own, all of a program's or none, and undoes that.

Rules kept here:
1. A link is not followed: whoever can change what it leads to would decide. Neither is a file or folder used that
   belongs to another account, or that others can change, or that not everybody's programs can read.
2. Everything is planned before anything is written. If a later file cannot be written, the earlier ones are undone.
3. Undoing restores the bytes, and only if nobody changed the file since.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from mcpguard.agents.backups import Backups, digest
from mcpguard.agents.config_files import Unclear, read_file
from mcpguard.agents.editing.edit import Edit, servers
from mcpguard.agents.editing.understanding import FileNotUnderstood
from mcpguard.agents.file_changes import FileChange, NotChanged, carry_out, plan_change, plan_undo
from mcpguard.agents.lockdown.deployment import SystemFile
from mcpguard.agents.program import ConfigFile

_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH


class Weakness(NamedTuple):
    """Why a file of the system is not obeyed, or says what somebody else wants; and what to do about it."""

    sentence: str
    next: str


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A change to one file of the system. `lost` are the members that are removed or replaced."""

    place: ConfigFile
    change: FileChange
    edit: Edit
    lost: tuple[str, ...] = ()


def plan_files(files: Iterable[SystemFile], root: Path) -> list[PlannedFile]:
    """Return the changes that deploy these files. Raises NotChanged."""
    return [_planned(file, root) for file in files]


def _planned(file: SystemFile, root: Path) -> PlannedFile:
    place = file.place_below(root)
    _refuse_unsafe(place.path, root)
    try:
        present = servers(read_file(place) or b"", place)
    except (Unclear, FileNotUnderstood) as error:
        raise NotChanged(f"{place.path} {error}; mend it or move it away, then try again") from None
    edit = file.edit(present)
    lost = sorted(edit.take) + [name for name, value in edit.put.items() if present.get(name, value) != value]
    return PlannedFile(place, plan_change(place, edit, for_everybody=True), edit, tuple(lost))


def write_files(planned: Iterable[PlannedFile], kept: Path) -> None:
    """Make the changes that change anything, with backups in a folder. Raises NotChanged; then none was made."""
    made: list[Backups] = []
    for each in planned:
        if each.change.after == each.change.before:
            continue
        backups = backups_of(each.change.path, kept)
        try:
            carry_out(each.change, backups)
        except NotChanged:
            for earlier in reversed(made):
                with suppress(NotChanged):
                    carry_out(plan_undo(earlier), earlier)
            raise
        made.append(backups)


def plan_files_undo(files: Iterable[SystemFile], root: Path, kept: Path) -> list[FileChange]:
    """Return the changes that restore the files, the last written first. Raises NotChanged."""
    found: list[FileChange] = []
    for file in files:
        path = file.place_below(root).path
        backups = backups_of(path, kept)
        with suppress(OSError, ValueError):  # a damaged note is told below
            if backups.last() is None:
                continue
        _refuse_unsafe(path, root)
        change = plan_undo(backups)
        if not change.whole:
            before = backups.file_before(change.number or 0)
            todo = f"compare it with {before} and restore it by hand" if before.exists() else "there was none before"
            raise NotChanged(f"{path} was changed since by somebody else; {todo}")
        found.append(change)
    if not found:
        raise NotChanged("there is no change to undo")
    return found[::-1]


def undo_files(changes: Iterable[FileChange], kept: Path) -> None:
    """Restore the files. Raises NotChanged."""
    for change in changes:
        carry_out(change, backups_of(change.path, kept))


def backups_of(path: Path, kept: Path) -> Backups:
    """Return the backups of one file of the system."""
    return Backups(kept, f"system-{digest(str(path).encode())[:16]}")


def weakness(path: Path, root: Path, owners: frozenset[int]) -> Weakness | None:
    """Return why the file may not say to everybody what its owners want; None if it does, or nothing is there."""
    for each in _below(path, root):
        try:
            found = each.lstat()
        except FileNotFoundError:
            return None
        except OSError as error:
            return Weakness(f"{each} cannot be looked at: {error.strerror}", "run this as an administrator")
        weak = _weak(each, found, owners if each in (path, path.parent) else None)
        if weak is not None:
            return weak
    return None


def _weak(each: Path, found: os.stat_result, owners: frozenset[int] | None) -> Weakness | None:
    """Return what is wrong with a file or its folder; of the folders above (no owners), only links are wrong."""
    if stat.S_ISLNK(found.st_mode):
        system = owners is None and found.st_uid == 0  # as /etc is on macOS
        return None if system else Weakness(f"{each} is a link", "put a file or folder in its place")
    if owners is None:
        return None
    if found.st_uid not in owners:
        return Weakness(f"{each} belongs to user {found.st_uid}", f"give it to an administrator: chown root {each}")
    if found.st_mode & _OTHERS:
        return Weakness(f"others can change {each}", f"chmod go-w {each}")
    if not found.st_mode & (stat.S_IXOTH if stat.S_ISDIR(found.st_mode) else stat.S_IROTH):
        return Weakness(f"not everybody's programs can read {each}", f"chmod a+rX {each}")
    return None


def _below(path: Path, root: Path) -> Iterator[Path]:
    """Yield the folders below the root that lead to the file, and the file."""
    yield from reversed([each for each in path.parents if each != root and each.is_relative_to(root)])
    yield path


def _refuse_unsafe(path: Path, root: Path) -> None:
    """Raise NotChanged where this account cannot write, or others could change what it writes."""
    if (found := weakness(path, root, frozenset({os.geteuid()}))) is not None:
        raise NotChanged(f"{found.sentence}; {found.next}, then try again")
    there = next((each for each in path.parents if each.exists()), root)
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise NotChanged(f"this account cannot write into {there}; run this as its owner, such as with sudo")
