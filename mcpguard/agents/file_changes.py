"""Changes a program's file atomically: the change is shown first, and can be undone.

Rules kept here:
1. The new file replaces the old one in one step, with its mode and owner. A reader sees either the old or the new one.
2. Exactly the change that was shown is made: if the file was modified in between, nothing is done.
3. If the file is a link, its target is changed and the link stays. Anything but a regular file of this account is
   refused.
4. Undoing restores the old bytes if the file was not modified since. If its program has written to it, only the guard's
   own members are removed, and the ones they replaced are put back.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NoReturn

from mcpguard.agents.backups import BackedUpChange, Backups, digest
from mcpguard.agents.config_files import Unclear, read_file
from mcpguard.agents.editing.edit import Edit, apply_edit, servers
from mcpguard.agents.editing.understanding import FileNotUnderstood
from mcpguard.agents.program import ConfigFile
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.store.files.datadir import prepare
from mcpguard.store.files.keyfiles import remove, sync_folder

_LOCK: Final = "lock"
_NEW: Final = 0o600
_NEW_FOR_EVERYBODY: Final = 0o644
_NEW_FOLDER: Final = 0o755


class NotChanged(Exception):
    """Nothing was changed. The message says why."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A change to one file. `before` and `after` are None without a file; `number` is the change that it undoes."""

    path: Path
    before: bytes | None = field(repr=False)
    after: bytes | None = field(repr=False)
    done: BackedUpChange | None = None
    number: int | None = None
    whole: bool = True
    """Whether undoing restores the whole file, not only the guard's own members."""
    for_everybody: bool = False
    """Whether a new file is readable by every account, and missing folders are created: a file of the system."""


def plan_change(place: ConfigFile, edit: Edit, *, for_everybody: bool = False) -> FileChange:
    """Return the change that the edit would make. Raises NotChanged."""
    path = place.path if for_everybody else _real(place.path)
    place = replace(place, path=path)
    before = _read(place)
    try:
        after = apply_edit(before or b"", place, edit)
        there = servers(before or b"", place)
    except FileNotUnderstood as error:
        raise NotChanged(f"{path} {error}") from None
    was = {name: there[name] for name in (*edit.take, *edit.put) if name in there}
    done = BackedUpChange(
        path, place.keys, place.form, None if before is None else digest(before), digest(after), edit.put, was
    )
    return FileChange(path, before, after, done, for_everybody=for_everybody)


def plan_undo(backups: Backups) -> FileChange:
    """Return the change that would undo the last one. Raises NotChanged."""
    try:
        last = backups.last()
    except (OSError, ValueError) as error:
        raise NotChanged(f"cannot read the backup: {error}") from None
    if last is None:
        raise NotChanged("there is no change to undo")
    number, done = last
    now = _read(done.place)
    if now is not None and digest(now) == done.after:
        before = None
        if done.before is not None:
            before = _kept(backups.file_before(number), done.before)
        return FileChange(done.path, now, before, number=number)
    if now is None:
        raise NotChanged(f"{done.path} is missing; its backup is {backups.file_before(number)}")
    try:
        there = servers(now, done.place)
        ours = frozenset(name for name, entry in done.put.items() if there.get(name) == entry)
        free = {name: entry for name, entry in done.was.items() if name not in there or name in ours}
        after = apply_edit(now, done.place, Edit(free, ours))
    except FileNotUnderstood as error:
        raise NotChanged(f"{done.path} {error}; its backup is {backups.file_before(number)}") from None
    return FileChange(done.path, now, after, number=number, whole=False)


def carry_out(change: FileChange, backups: Backups) -> None:
    """Make a change. Raises NotChanged; then nothing is changed and no backup is left behind."""
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
    """Replace the old file with the new one."""
    assert change.after is not None  # noqa: S101 - else it is removed
    if change.for_everybody:
        _make_folder(change.path.parent)
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


def _make_folder(folder: Path) -> None:
    """Make the folder and those above it, where there is none, readable by everybody whatever the umask says."""
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir()
        folder.chmod(_NEW_FOLDER)


def _as_before(change: FileChange, handle: int) -> None:
    """Give the new file the mode and owner of the old one."""
    if change.before is None:
        os.fchmod(handle, _NEW_FOR_EVERYBODY if change.for_everybody else _NEW)
        return
    found = change.path.stat()
    if (found.st_uid, found.st_gid) != (os.geteuid(), os.getegid()):
        os.fchown(handle, found.st_uid, found.st_gid)
    os.fchmod(handle, found.st_mode & 0o7777)


def _unchanged(change: FileChange) -> None:
    if _read(ConfigFile(change.path, ())) != change.before:
        refuse_modified(change.path)


def refuse_modified(path: Path) -> NoReturn:
    """Raise NotChanged: the file is not as it was when the change was thought out."""
    raise NotChanged(f"{path} was modified in the meantime; try again")


def _kept(path: Path, expected: str) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise NotChanged(f"cannot read the backup {path}: {error.strerror}") from None
    if digest(data) != expected:
        raise NotChanged(f"the backup {path} was modified; remove the entry by hand")
    return data


def _read(place: ConfigFile) -> bytes | None:
    try:
        return read_file(place)
    except Unclear as error:
        raise NotChanged(f"{place.path} {error}") from None


def _real(path: Path) -> Path:
    """Return the target of links. Its folder must exist, as the program itself creates that. Raises NotChanged."""
    try:
        real = path.resolve()
    except (OSError, RuntimeError):
        raise NotChanged(f"{path} is a broken link") from None
    if path.is_symlink() and not real.exists():
        raise NotChanged(f"{path} is a broken link")
    if not real.parent.is_dir():
        raise NotChanged(f"{real.parent} does not exist; start the program once, so that it creates its folder")
    if real.exists() and not os.access(real, os.W_OK):
        raise NotChanged(f"{real} is not writable for this account")
    return real


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the lock, so that only one process makes a change. The folders are created for this account only."""
    prepare(folder.parent)
    prepare(folder)
    handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
