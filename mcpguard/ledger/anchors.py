"""The anchor file: one checkpoint per line, stored where an attacker who can rewrite the store cannot reach it.

Rules kept here:
1. The file is only ever appended to, and an append is reported as done only once it is on the disk.
2. A crash may truncate a line. The next one begins on a new line; reading skips truncated lines, and no others.
3. However long the file or a line is, only a small part of it is in memory.
"""

import errno
import os
import stat
import string
from collections.abc import Iterator, Sequence
from io import SEEK_END
from pathlib import Path
from typing import BinaryIO, Final

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger.checkpoints import LONGEST, BadCheckpoint, SignedCheckpoint
from mcpguard.store.files.keyfiles import sync_folder

BLOCK: Final = 64 * 1024
_PARTS: Final = (b'{"content":"', b'","signature":"', b'"}')
"""The parts of a line around its two values."""
_BASE64: Final = string.ascii_letters.encode() + string.digits.encode() + b"+/="
_CAREFULLY: Final = os.O_CLOEXEC | os.O_NONBLOCK
"""Flags with which opening never blocks: the path may be a pipe."""
Identity = tuple[int, int, int]
"""Device, inode and size of a file: tells whether it is the one that was left there."""


def append(path: Path, lines: Sequence[bytes]) -> Identity:
    """Append these lines and sync them. Raises OSError; some of the lines may be written then."""
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _CAREFULLY, 0o600)
    try:
        before = _regular(os.fstat(handle))
        data = b"".join(each + b"\n" for each in lines)
        # A crash may have truncated the last line: appending to it would spoil this one too.
        if before.st_size and os.pread(handle, 1, before.st_size - 1) != b"\n":
            data = b"\n" + data
        while data:
            data = data[os.write(handle, data) :]
        os.fsync(handle)
        after = os.fstat(handle)
    finally:
        os.close(handle)
    # A new file: its name must be on the disk too.
    if not before.st_size:
        sync_folder(path.parent)
    return after.st_dev, after.st_ino, after.st_size


def identity(path: Path) -> Identity | None:
    """The identity of the file; None if there is none. Raises OSError."""
    try:
        found = _regular(path.stat())
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_size


def read(path: Path) -> Iterator[SignedCheckpoint]:
    """Read external checkpoints: a file with one, or with one on each line. Raises StoreUnavailable."""
    try:
        with path.open("rb") as file:
            # A file of one checkpoint may have any layout, so it is parsed as a whole first.
            start = file.read(LONGEST + 1)
            alone = _alone(start)
            if isinstance(alone, SignedCheckpoint):
                yield alone
                return
            if not _is_many(start):
                raise StoreUnavailable(f"{path} is not a checkpoint: {alone}")
            file.seek(0)
            yield from _each(path, file)
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be read: {error.strerror}") from error


def newest_first(path: Path) -> Iterator[SignedCheckpoint]:
    """The checkpoints of the file, the last one first. Other lines are skipped; verifying reports them. Raises
    OSError."""
    with os.fdopen(os.open(path, os.O_RDONLY | _CAREFULLY), "rb") as file:
        for each in _backwards(file):
            try:
                yield SignedCheckpoint.from_json(each)
            except BadCheckpoint:
                continue


def _regular(found: os.stat_result) -> os.stat_result:
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    return found


def _each(path: Path, file: BinaryIO) -> Iterator[SignedCheckpoint]:
    number = 0
    while text := file.readline(LONGEST + 1):
        number += 1
        if len(text) > LONGEST:
            raise StoreUnavailable(
                f"{path} is not a file of checkpoints: line {number} is longer than {LONGEST:,} bytes"
            )
        # A crash may leave zeros where the file system had made room.
        text = text.rstrip(b"\r\n\0")
        if not text or _is_cut_off(text):
            continue
        try:
            yield SignedCheckpoint.from_json(text)
        except BadCheckpoint as error:
            raise StoreUnavailable(f"{path} is not a file of checkpoints: line {number}: {error}") from error


def _alone(text: bytes) -> SignedCheckpoint | BadCheckpoint:
    try:
        return SignedCheckpoint.from_json(text)
    except BadCheckpoint as error:
        return error


def _is_many(start: bytes) -> bool:
    """Tell whether this is a file with a checkpoint on each line, and not a single damaged one."""
    lines = [each for each in start.splitlines() if each.strip(b"\0")]
    return len(lines) > 1 and any(each.startswith(b'{"content"') for each in lines)


def _is_cut_off(text: bytes) -> bool:
    """Tell whether this is the beginning of a line, which a crash truncated."""
    for part in _PARTS:
        if not text.startswith(part):
            return part.startswith(text)
        text = text.removeprefix(part).lstrip(_BASE64)
    return False


def _backwards(file: BinaryIO) -> Iterator[bytes]:
    """The lines from the last to the first. A line that is too long comes in parts, none of which parses."""
    at, rest = file.seek(0, SEEK_END), b""
    while at:
        step = min(BLOCK, at)
        at -= step
        file.seek(at)
        first, *lines = (file.read(step) + rest).split(b"\n")
        yield from reversed(lines)
        # A line without end must not fill the memory; a longer one is no checkpoint anyway.
        rest = first[:LONGEST]
    yield rest
