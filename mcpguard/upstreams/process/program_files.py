"""The files that are executed for a server: read once, so that what was hashed is what a sandbox shows.

Rules kept here:
1. A file is opened once. The digest and the copy are of the same bytes, whatever its path leads to a moment later. The
   links on the way to it are read once, too.
2. What nobody but root can change needs no copy, nor does what is too large for one: a copy is kept in memory.
3. Once the server has spoken, the files are looked at again: another file, the same one written to, or one that was
   moved away and put back, shows in its times, which nobody can set. A page of memory that was mapped before may be
   written to without that, so what others than root and the guard's own account may write to is hashed again, too.
"""

import hashlib
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mcpguard.upstreams.process.changeable_files import changeable, only_root_writes

MOST_BYTES: Final = 512 * 1024 * 1024
MOST_COPIED: Final = 16 * 1024 * 1024
MOST_LINKS: Final = 40
CHUNK: Final = 1_048_576
Stamp = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class ProgramPath:
    """Where a path leads: the links that it goes through, each where it is and with what it says, and the file."""

    named: Path
    links: tuple[tuple[Path, str], ...]
    real: Path

    @property
    def places(self) -> tuple[Path, ...]:
        """Wherever somebody who may write could make it lead to another file."""
        return (self.real, *(link for link, _ in self.links))


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """`mark` says what it is to the server. `content` is its copy, if it has one."""

    mark: str
    way: ProgramPath
    digest: str
    stamp: Stamp
    content: bytes | None = field(repr=False)

    @property
    def unchanged(self) -> bool:
        """Whether the same file is still there, and nothing was done to it since it was read."""
        try:
            way = followed(self.way.named)
            if (way, _stamp(way)) != (self.way, self.stamp):
                return False
            return changeable(way.real) is None or read(self.mark, way.named, copied=False).digest == self.digest
        except (OSError, ValueError):
            return False


def read(mark: str, named: Path, *, copied: bool = True) -> ProgramFile:
    """Raises OSError or ValueError for what is no file, too large, or changed while it was read."""
    way = followed(named)
    before = _stamp(way)
    with os.fdopen(os.open(way.real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise ValueError("no file")
        keep = copied and about.st_size <= MOST_COPIED and not only_root_writes(way.real)
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
    return ProgramFile(mark, way, f"sha256:{digest.hexdigest()}", before, content)


def followed(named: Path) -> ProgramPath:
    """Where it leads now. Raises ValueError for a link that leads nowhere, and OSError."""
    left, at, links = list(reversed(named.absolute().parts[1:])), Path("/"), list[tuple[Path, str]]()
    while left:
        part = left.pop()
        at = at.parent if part == ".." else at / part
        if at.is_symlink():
            if len(links) == MOST_LINKS:
                raise ValueError("a link that leads nowhere")
            to = at.readlink()
            links.append((at, str(to)))
            left.extend(reversed(to.parts[1:] if to.is_absolute() else to.parts))
            at = Path("/") if to.is_absolute() else at.parent
    return ProgramPath(named, tuple(links), at)


def _stamp(way: ProgramPath) -> Stamp:
    """The times of the links on the way, and last those of the file."""
    return (*(_times(link.lstat()) for link, _ in way.links), _times(way.real.stat()))


def _times(about: os.stat_result) -> tuple[int, ...]:
    return (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
