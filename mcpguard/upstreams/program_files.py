"""The files that are executed for a server: read once, so that what was hashed is what a sandbox shows.

Rules kept here:
1. A file is opened once. The digest and the copy are of the same bytes, whatever its path leads to a moment later.
2. What nobody but root can change needs no copy, nor does what is too large for one: a copy is kept in memory.
3. Once the server has spoken, the files are looked at again: another file, the same one written to, or one that was
   moved away and put back, shows in its times, which nobody can set. A page of memory that was mapped before may be
   written to without that, so what others than root and the guard's own account may write to is hashed again, too.
"""

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

MOST_BYTES: Final = 512 * 1024 * 1024
MOST_COPIED: Final = 16 * 1024 * 1024
CHUNK: Final = 1_048_576
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
Stamp = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """`mark` says what it is to the server, `named` how it is called, `real` where it is. `content` is its copy, if it
    has one.
    """

    mark: str
    named: Path
    real: Path
    digest: str
    stamp: Stamp
    content: bytes | None = field(repr=False)

    @property
    def unchanged(self) -> bool:
        """Whether the same file is still there, and nothing was done to it since it was read."""
        try:
            real = self.named.resolve()
            if (real, _stamp(self.named, real)) != (self.real, self.stamp):
                return False
            return ours(real) or read(self.mark, self.named, copied=False).digest == self.digest
        except (OSError, ValueError, RuntimeError):
            return False


def read(mark: str, named: Path, *, copied: bool = True) -> ProgramFile:
    """Raises OSError, ValueError or RuntimeError for what is no file, too large, or changed while it was read."""
    real = named.resolve()
    before = _stamp(named, real)
    with os.fdopen(os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise ValueError("no file")
        keep = copied and about.st_size <= MOST_COPIED and not only_root_writes(real)
        digest, left, parts = hashlib.sha256(), MOST_BYTES, list[bytes]()
        while data := file.read(CHUNK):
            left -= len(data)
            if left < 0:
                raise ValueError("too large")
            digest.update(data)
            if keep:
                parts.append(data)
        if before[-1] != _times(os.fstat(file.fileno())):
            raise ValueError("it is being changed")
    content = b"".join(parts) if keep else None
    return ProgramFile(mark, named, real, f"sha256:{digest.hexdigest()}", before, content)


def places(named: Path) -> tuple[Path, ...]:
    """Wherever somebody who may write could make it another file: where it is, and the links that lead there."""
    return (named.resolve(), *(link.parent.resolve() / link.name for link in links(named)))


def only_root_writes(path: Path) -> bool:
    """Whether neither the file nor a folder above it can be changed by any account but root."""
    found = [each.lstat() for each in (path, *path.parents)]
    return not any(about.st_uid or about.st_mode & _OTHERS_WRITE for about in found)


def ours(path: Path) -> bool:
    """Whether root and the guard's own account alone can change it, and what it lies in."""
    accounts, file, above = {0, os.geteuid()}, path.lstat(), [each.lstat() for each in path.parents]
    if file.st_mode & _OTHERS_WRITE or any(about.st_uid not in accounts for about in (file, *above)):
        return False
    return not any(about.st_mode & _OTHERS_WRITE and not about.st_mode & stat.S_ISVTX for about in above)


def _stamp(named: Path, real: Path) -> Stamp:
    """The times of the links on the way, and last those of the file."""
    return (*(_times(each.lstat()) for each in links(named)), _times(real.stat()))


def links(path: Path, most: int = 40) -> Iterator[Path]:
    """The links that the path goes through, where they are. Raises ValueError for too many of them."""
    left, at = list(reversed(path.absolute().parts[1:])), Path("/")
    while left:
        part = left.pop()
        at = at.parent if part == ".." else at / part
        if at.is_symlink():
            if not (most := most - 1):
                raise ValueError("a link that leads nowhere")
            yield at
            to = at.readlink()
            left.extend(reversed(to.parts[1:] if to.is_absolute() else to.parts))
            at = Path("/") if to.is_absolute() else at.parent


def _times(about: os.stat_result) -> tuple[int, ...]:
    return (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
