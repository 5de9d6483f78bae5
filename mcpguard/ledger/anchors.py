"""The anchor file: every checkpoint on a line of its own, kept where whoever rewrites the store does not reach it.

Rules kept here:
1. It is only ever appended to, and what was appended is on the disk when it is called done.
2. A crash may cut a line off. What follows begins a new line; whoever reads passes over what was cut off, and over
   nothing else.
3. However long the file or a line of it is, little of it is in memory.
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
from mcpguard.ledger.checkpoints import LONGEST, BadCheckpoint, Signed
from mcpguard.store.files.keyfiles import synced

BLOCK: Final = 64 * 1024
_PARTS: Final = (b'{"content":"', b'","signature":"', b'"}')
"""What stands in a line around the two values."""
_BASE64: Final = string.ascii_letters.encode() + string.digits.encode() + b"+/="
_CAREFULLY: Final = os.O_CLOEXEC | os.O_NONBLOCK
"""A pipe would keep us waiting."""
Identity = tuple[int, int, int]
"""Which file it is, and how long."""


def append(path: Path, lines: Sequence[bytes]) -> Identity:
    """Raises OSError; some of them may be there then."""
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _CAREFULLY, 0o600)
    try:
        before = _regular(os.fstat(handle))
        data = b"".join(each + b"\n" for each in lines)
        if before.st_size and os.pread(handle, 1, before.st_size - 1) != b"\n":
            data = b"\n" + data
        while data:
            data = data[os.write(handle, data) :]
        os.fsync(handle)
        after = os.fstat(handle)
    finally:
        os.close(handle)
    if not before.st_size:
        synced(path.parent)
    return after.st_dev, after.st_ino, after.st_size


def identity(path: Path) -> Identity | None:
    """None where there is no file. Raises OSError."""
    try:
        found = _regular(path.stat())
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_size


def read(path: Path) -> Iterator[Signed]:
    """What somebody kept: one checkpoint, however it is written, or a file of many. Raises StoreUnavailable."""
    try:
        with path.open("rb") as file:
            start = file.read(LONGEST + 1)
            alone = _alone(start)
            if isinstance(alone, Signed):
                yield alone
                return
            if not _is_many(start):
                raise StoreUnavailable(f"{path} is not a checkpoint: {alone}")
            file.seek(0)
            yield from _each(path, file)
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be read: {error.strerror}") from error


def newest_first(path: Path) -> Iterator[Signed]:
    """The checkpoints of the file from its end. What is none is passed over: whoever verifies hears of it. Raises
    OSError."""
    with os.fdopen(os.open(path, os.O_RDONLY | _CAREFULLY), "rb") as file:
        for each in _backwards(file):
            try:
                yield Signed.taken(each)
            except BadCheckpoint:
                continue


def _regular(found: os.stat_result) -> os.stat_result:
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file")
    return found


def _each(path: Path, file: BinaryIO) -> Iterator[Signed]:
    number = 0
    while text := file.readline(LONGEST + 1):
        number += 1
        if len(text) > LONGEST:
            raise StoreUnavailable(
                f"{path} is not a file of checkpoints: line {number} is longer than {LONGEST:,} bytes"
            )
        text = text.rstrip(b"\r\n\0")
        if not text or _is_cut_off(text):
            continue
        try:
            yield Signed.taken(text)
        except BadCheckpoint as error:
            raise StoreUnavailable(f"{path} is not a file of checkpoints: line {number}: {error}") from error


def _alone(text: bytes) -> Signed | BadCheckpoint:
    try:
        return Signed.taken(text)
    except BadCheckpoint as error:
        return error


def _is_many(start: bytes) -> bool:
    """Whether any line begins as ours do, which a single checkpoint that somebody spoiled has only one of."""
    lines = [each for each in start.splitlines() if each.strip(b"\0")]
    return len(lines) > 1 and any(each.startswith(b'{"content"') for each in lines)


def _is_cut_off(text: bytes) -> bool:
    """Whether it begins as every line of ours, and ends before it is one."""
    for part in _PARTS:
        if not text.startswith(part):
            return part.startswith(text)
        text = text.removeprefix(part).lstrip(_BASE64)
    return False


def _backwards(file: BinaryIO) -> Iterator[bytes]:
    """The lines from the last to the first. A longer one than any of ours comes in parts, none of which is one."""
    at, rest = file.seek(0, SEEK_END), b""
    while at:
        step = min(BLOCK, at)
        at -= step
        file.seek(at)
        first, *lines = (file.read(step) + rest).split(b"\n")
        yield from reversed(lines)
        rest = first[:LONGEST]
    yield rest
