"""Stores each server's standard error for the operator, in files of bounded size.

Rules kept here:
1. There are two files of bounded size, and the older one is overwritten. A flood overwrites only the lines of the same
   server.
2. Lines are cut at a maximum length. Control characters are made visible before storing, so that none can attack the
   terminal of a person who reads the log.
3. A log is read from its end, and no more than is needed.
4. Obvious secrets, and those that the server was given, are masked before storing (`hidden_secrets`).
5. A log that cannot be written never blocks the server or the guard.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import structlog

from mcpguard.text.visible import visible
from mcpguard.upstreams.process.hidden_secrets import SecretHiding

LONGEST_LINE = 4096
BEYOND = 512
"""Further bytes of a cut line that are searched, so that no part of a secret is left at its end."""
log = structlog.get_logger("mcpguard.upstreams")


@dataclass(frozen=True, slots=True)
class LogMark:
    """How far a server's log was written at some moment: the inode of the file and its size, or 0 without a file."""

    inode: int = 0
    size: int = 0


def mark(folder: Path, name: str) -> LogMark:
    """Return how far a server's log is written now."""
    try:
        found = (folder / f"{name}.log").lstat()
    except OSError:
        return LogMark()
    return LogMark(found.st_ino, found.st_size)


def last_lines(folder: Path, name: str, most_bytes: int, since: LogMark | None = None) -> tuple[str, ...]:
    """Return the last lines that the server wrote, or those `since` a mark: whole lines, as they were stored."""
    path, found = folder / f"{name}.log", ""
    for each in (path, path.with_name(path.name + ".1")):
        left = most_bytes - len(found.encode())
        text, begun = _end(each, left, since or LogMark()) if left > 0 else ("", False)
        found = text + found
        if begun:
            break
    return tuple(line for line in found.split("\n") if line)


def _end(path: Path, most_bytes: int, since: LogMark) -> tuple[str, bool]:
    """Return the end of a file, and whether it is the file of the mark, before which nothing is read."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            found = os.fstat(file.fileno())
            begun = found.st_ino == since.inode
            first = since.size if begun else 0
            start = max(found.st_size - most_bytes, first)
            file.seek(start)
            data = file.read(most_bytes)
    except OSError:
        return "", False
    if start > first:
        data = data.partition(b"\n")[2]  # the first line is cut off at its beginning, so it is left out
    return data.decode(errors="replace"), begun


class UpstreamLog:
    """The log of one server: `<name>.log`, and `<name>.log.1` with what came before."""

    def __init__(self, folder: Path, name: str, limit: int, hiding: SecretHiding | None = None) -> None:
        self.hiding = hiding or SecretHiding()
        self.path = folder / f"{name}.log"
        self._limit = limit
        self._partial = bytearray()
        self._broken = False

    def write(self, data: bytes) -> None:
        """Store what came, in whatever pieces it came."""
        text = ""
        for piece in data.splitlines(keepends=True):
            self._take(piece)
            if piece.endswith((b"\n", b"\r")):
                text += self._line()
            if len(text) >= LONGEST_LINE:
                self._store(text)
                text = ""
        if text:
            self._store(text)

    def close(self) -> None:
        """Store a last line that never ended."""
        if self._partial:
            self._store(self._line())

    def _take(self, piece: bytes) -> None:
        room = LONGEST_LINE + BEYOND - len(self._partial)
        self._partial += piece.rstrip(b"\r\n")[:room]

    def _line(self) -> str:
        """Return the finished line; a line that is too long is masked first and then cut."""
        full = len(self._partial) >= LONGEST_LINE + BEYOND
        text = self._partial.decode(errors="backslashreplace")
        if full or len(text) > LONGEST_LINE:
            text = self.hiding.line(text)
            text = text[: max(min(LONGEST_LINE, len(text) - BEYOND * full), 0)] + " […]"
        self._partial.clear()
        return text + "\n"

    def _store(self, text: str) -> None:
        text = "\n".join(map(visible, self.hiding(text).split("\n")))
        try:
            self._rotate_for(len(text.encode()))
            # No link is followed: somebody could have put one there that leads to another file of the guard.
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            # Reported once: a full disk would otherwise turn every line of a server into a line of the guard's log.
            if not self._broken:
                log.warning("upstream.log_unwritable", path=str(self.path), why=error.strerror)
            self._broken = True

    def _rotate_for(self, coming: int) -> None:
        try:
            size = self.path.stat().st_size
        except FileNotFoundError:
            return
        # Before the write, not after: the file never exceeds its limit, whatever comes at once.
        if size + coming > self._limit:
            self.path.replace(self.path.with_name(self.path.name + ".1"))
