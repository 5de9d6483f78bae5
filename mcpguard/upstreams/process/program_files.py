"""Reads the executed files of a server once, so that a sandbox shows exactly the bytes that were hashed.

Rules kept here:
1. A file is opened once, so the digest and the copy are of the same bytes even if an attacker then swaps the path. The
   links on the way to it are read once, too.
2. A file that only root can change needs no copy, and a file that is too large gets none: copies are kept in memory.
3. Once the server has sent its first message, the files are checked again. Another file, a modified one, or one that
   was moved away and put back shows in its change time, which no program can set. Writing through an earlier memory
   mapping may leave the times unchanged, so a file that others may write to is hashed again, too.
"""

import hashlib
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mcpguard.upstreams.process.changeable_files import find_changeable, only_root_writes

MOST_BYTES: Final = 512 * 1024 * 1024
MOST_COPIED: Final = 16 * 1024 * 1024
MOST_LINKS: Final = 40
CHUNK: Final = 1_048_576
Stamp = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class ProgramPath:
    """Where a path leads: the links on the way, each with its own path and its target, and the file at the end."""

    named: Path
    links: tuple[tuple[Path, str], ...]
    real: Path

    @property
    def places(self) -> tuple[Path, ...]:
        """Every place at which somebody with write access could make the path lead to another file."""
        return (self.real, *(link for link, _ in self.links))


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """A file as it was read. `mark` is its part in the launch; `content` is its copy, if it has one."""

    mark: str
    way: ProgramPath
    digest: str
    stamp: Stamp
    content: bytes | None = field(repr=False)

    @property
    def unchanged(self) -> bool:
        """Whether the same file is still there, and was not modified since it was read."""
        try:
            way = follow_links(self.way.named)
            if (way, _stamp(way)) != (self.way, self.stamp):
                return False
            return (
                find_changeable(way.real) is None
                or read_program(self.mark, way.named, copied=False).digest == self.digest
            )
        except (OSError, ValueError):
            return False


def read_program(mark: str, named: Path, *, copied: bool = True) -> ProgramFile:
    """Read and hash a file. Raises OSError or ValueError where it is no file, too large, or changed meanwhile."""
    way = follow_links(named)
    before = _stamp(way)
    # Without blocking: somebody may have put a pipe at this path, and opening that would wait for ever.
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
        # The times were taken by path before it was opened, and now by descriptor: they differ if the path led to
        # another file in between, or if it was written to while it was read.
        if before[-1] != _times(os.fstat(file.fileno())):
            raise ValueError("it is being changed")
    content = b"".join(parts) if keep else None
    return ProgramFile(mark, way, f"sha256:{digest.hexdigest()}", before, content)


def follow_links(named: Path) -> ProgramPath:
    """Return where the path leads now. Raises ValueError for links that go in circles, and OSError."""
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
    """Return the times of the links on the way, and last those of the file."""
    return (*(_times(link.lstat()) for link, _ in way.links), _times(way.real.stat()))


def _times(about: os.stat_result) -> tuple[int, ...]:
    return (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
