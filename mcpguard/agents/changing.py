"""Changing a program's file: looked at first, then made whole or not at all, and taken back.

Rules kept here:
1. A file takes the place of the old one in one step, with its mode and its owner. Whoever reads it at any moment reads
   the one or the other.
2. What was shown is what is done: if the file has become another in between, nothing is.
3. What a link leads to is changed, and the link stays. What is no regular file of this account is refused.
4. Taking back gives the file its bytes again, if it is still what was made. Where its program has written to it since,
   only our own members are taken out again, and what was replaced is put back.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from mcpguard.agents.backups import BackedUpChange, Backups, digest
from mcpguard.agents.editing.edit import Edit, edited, servers
from mcpguard.agents.editing.understanding import FileNotUnderstood
from mcpguard.agents.program import ConfigFile
from mcpguard.agents.reading import Unclear, file
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.files.datadir import prepare
from mcpguard.store.files.keyfiles import remove, sync_folder

_LOCK: Final = "lock"
_NEW: Final = 0o600


class NotChanged(Exception):
    """Nothing was done. The sentence says why."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """What is to be done to one file. None: there is no file. `number`: of what it takes back."""

    path: Path
    before: bytes | None = field(repr=False)
    after: bytes | None = field(repr=False)
    done: BackedUpChange | None = None
    number: int | None = None
    whole: bool = True
    """Whether all of the file is as it was, when this takes something back."""


def planned(place: ConfigFile, edit: Edit) -> FileChange:
    """What the edit would do. Raises NotChanged."""
    path = _real(place.path)
    place = replace(place, path=path)
    before = _read(place)
    try:
        after = edited(before or b"", place, edit)
        there = servers(before or b"", place)
    except FileNotUnderstood as error:
        raise NotChanged(f"{path} {error}") from None
    was = {name: there[name] for name in (*edit.take, *edit.put) if name in there}
    done = BackedUpChange(
        path, place.keys, place.form, None if before is None else digest(before), digest(after), edit.put, was
    )
    return FileChange(path, before, after, done)


def taking_back(backups: Backups) -> FileChange:
    """What would take back what was done last. Raises NotChanged."""
    try:
        last = backups.last()
    except (OSError, ValueError) as error:
        raise NotChanged(f"what was done cannot be read: {error}") from None
    if last is None:
        raise NotChanged("nothing was done here that could be taken back")
    number, done = last
    now = _read(done.place)
    if now is not None and digest(now) == done.after:
        before = None
        if done.before is not None:
            before = _kept(backups.before(number), done.before)
        return FileChange(done.path, now, before, number=number)
    if now is None:
        raise NotChanged(f"{done.path} is not there any more; what it was before is in {backups.before(number)}")
    try:
        there = servers(now, done.place)
        ours = frozenset(name for name, entry in done.put.items() if there.get(name) == entry)
        free = {name: entry for name, entry in done.was.items() if name not in there or name in ours}
        after = edited(now, done.place, Edit(free, ours))
    except FileNotUnderstood as error:
        raise NotChanged(f"{done.path} {error}; what it was before is in {backups.before(number)}") from None
    return FileChange(done.path, now, after, number=number, whole=False)


def carry_out(change: FileChange, backups: Backups) -> None:
    """Raises NotChanged, and then nothing is changed and nothing left behind."""
    number = None
    try:
        with _alone(backups.folder.parent):
            _unchanged(change)
            if change.done is not None:
                number = backups.keep(change.done, change.before)
            if change.after is None:
                remove(change.path)
            else:
                _written(change)
            if change.number is not None:
                backups.forget(change.number, keep_file=not change.whole)
    except (OSError, StoreUnavailable, NotChanged) as error:
        if number is not None:
            with suppress(OSError):
                backups.forget(number)
        sentence = f"{change.path}: {error.strerror}" if isinstance(error, OSError) else str(error)
        raise NotChanged(sentence) from None


def _written(change: FileChange) -> None:
    """The new file in the place of the old one."""
    assert change.after is not None  # noqa: S101 - else it is removed
    handle, name = tempfile.mkstemp(prefix=f".{change.path.name}.", dir=change.path.parent)
    try:
        with os.fdopen(handle, "wb") as made:
            made.write(change.after)
            made.flush()
            _as_before(change, made.fileno())
            os.fsync(made.fileno())
        _unchanged(change)
        Path(name).replace(change.path)
    finally:
        Path(name).unlink(missing_ok=True)  # it has the other name by now, or nobody is to find it
    sync_folder(change.path.parent)


def _as_before(change: FileChange, handle: int) -> None:
    """Mode and owner of the file that there was."""
    if change.before is None:
        os.fchmod(handle, _NEW)
        return
    found = change.path.stat()
    if (found.st_uid, found.st_gid) != (os.geteuid(), os.getegid()):
        os.fchown(handle, found.st_uid, found.st_gid)
    os.fchmod(handle, found.st_mode & 0o7777)


def _unchanged(change: FileChange) -> None:
    if _read(ConfigFile(change.path, ())) != change.before:
        raise NotChanged(f"{change.path} was changed in between; look again")


def _kept(path: Path, expected: str) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise NotChanged(f"{path}, which holds what the file was, cannot be read: {error.strerror}") from None
    if digest(data) != expected:
        raise NotChanged(f"{path} is not what the file was before; take the entry out by hand")
    return data


def _read(place: ConfigFile) -> bytes | None:
    try:
        return file(place)
    except Unclear as error:
        raise NotChanged(f"{place.path} {error}") from None


def _real(path: Path) -> Path:
    """Where a link leads to. The folder has to be there: it is the program that makes it."""
    try:
        real = path.resolve()
    except (OSError, RuntimeError):
        raise NotChanged(f"{path} is a link that leads nowhere") from None
    if path.is_symlink() and not real.exists():
        raise NotChanged(f"{path} is a link that leads nowhere")
    if not real.parent.is_dir():
        raise NotChanged(f"there is no {real.parent}; start the program once, so that it makes its folder")
    if real.exists() and not os.access(real, os.W_OK):
        raise NotChanged(f"{real} may not be written by this account")
    return real


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One of us at a time. The folder and that which it is in are for this account only, from their beginning."""
    prepare(folder.parent)
    prepare(folder)
    handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
