"""Where an export goes: to standard output, or to a file that has another name until it is whole, and that can be gone
on with where it was interrupted.

Rules kept here:
1. Nothing that is there is written over unless that was asked for. Only our own account can read what is made.
2. Beside the unfinished file stands how far it is good: which bytes are on the disk, and after which record to go on.
   What stands behind them is cut off and made again, so nothing is there twice.
3. A terminal obeys what is written to it, so none gets records as they are.
"""

import hashlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, Final, Self

import orjson

from mcpguard.domain.errors import StoreUnavailable

EVERY: Final = 16 * 1024 * 1024
"""Bytes between two marks."""
_CHUNK: Final = 1024 * 1024
STANDARD: Final = "-"
What = Mapping[str, str | bool]


class Standard:
    """Standard output."""

    def __init__(self) -> None:
        """Raises StoreUnavailable at a terminal."""
        if sys.stdout.isatty():
            raise StoreUnavailable("records are not for a terminal; name a file with --output, or pipe them on")
        self.seq = self.records = self.bytes = 0
        self._sha = hashlib.sha256()
        self._out = sys.stdout.buffer

    due = False

    @property
    def sha256(self) -> str:
        return self._sha.hexdigest()

    @property
    def how_to_go_on(self) -> str:
        return f"what follows the record {self.seq}, which may not have been read, comes with --after {self.seq}"

    def write(self, data: bytes) -> None:
        self._out.write(data)
        self._sha.update(data)
        self.bytes += len(data)

    def took(self, seq: int, records: int) -> None:
        """What was written last is these records, to that number."""
        self.seq = seq
        self.records += records

    def mark(self) -> None:
        """Nothing is kept here."""

    def finish(self) -> None:
        self._out.flush()

    def close(self) -> None:
        """It is not ours to close."""


class Unfinished:
    """The file `path`, while it is made of something that `what` names."""

    def __init__(self, path: Path, what: What, file: BinaryIO, seq: int = 0, records: int = 0) -> None:
        self.seq, self.records = seq, records
        self.bytes = 0
        self._path, self._what, self._file = path, what, file
        self._sha = hashlib.sha256()
        self._marked, self._good = -EVERY, seq

    @classmethod
    def new(cls, path: Path, what: What, *, force: bool) -> Self:
        """Raises StoreUnavailable where something is there already."""
        if not force:
            if os.path.lexists(path):
                raise StoreUnavailable(f"{path} is there already; --force writes over it")
            if os.path.lexists(_part(path)):
                raise StoreUnavailable(
                    f"{_part(path)} is there, of an export that was interrupted: --resume goes on with it, "
                    "--force begins anew"
                )
        try:
            for old in (_part(path), _mark(path)):
                old.unlink(missing_ok=True)
        except OSError as error:
            raise StoreUnavailable(f"{path} cannot be written: {error.strerror}") from error
        return cls(path, what, _opened(_part(path), os.O_CREAT | os.O_EXCL))

    @classmethod
    def resumed(cls, path: Path, what: What) -> Self:
        """Where it was left. Raises StoreUnavailable where nothing of the kind was begun."""
        try:
            said = orjson.loads(_mark(path).read_bytes())
            seq, records, size = int(said.pop("seq")), int(said.pop("records")), int(said.pop("bytes"))
        except FileNotFoundError:
            raise StoreUnavailable(f"nothing of {path} can be gone on with: {_mark(path)} is not there") from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise StoreUnavailable(f"{_mark(path)} cannot be read; remove it and begin anew") from None
        if differ := [name for name in what.keys() | said.keys() if what.get(name) != said.get(name)]:
            raise StoreUnavailable(f"{_part(path)} was begun otherwise: {', '.join(sorted(differ))}")
        unfinished = cls(path, what, _opened(_part(path), 0), seq, records)
        try:
            unfinished._take_up(size)
        except StoreUnavailable:
            unfinished.close()
            raise
        return unfinished

    @property
    def sha256(self) -> str:
        return self._sha.hexdigest()

    @property
    def how_to_go_on(self) -> str:
        if self._marked < 0:
            return "nothing of it was kept"
        return f"--resume goes on with {self._path} after record {self._good}; another file would begin with --after"

    @property
    def due(self) -> bool:
        """Whether so much was written since the last mark that the next is worth it."""
        return self.bytes - self._marked >= EVERY

    def write(self, data: bytes) -> None:
        self._sha.update(data)
        self.bytes += self._file.write(data)

    def took(self, seq: int, records: int) -> None:
        """What was written last is these records, to that number."""
        self.seq = seq
        self.records += records

    def mark(self) -> None:
        """What was written so far is good by itself, and is kept."""
        self._file.flush()
        os.fsync(self._file.fileno())
        said = {**self._what, "seq": self.seq, "records": self.records, "bytes": self.bytes}
        beside = _mark(self._path).with_suffix(".new")
        with _opened(beside, os.O_CREAT | os.O_TRUNC) as file:
            file.write(orjson.dumps(said))
        beside.replace(_mark(self._path))
        self._marked, self._good = self.bytes, self.seq

    def finish(self) -> None:
        """It is whole, and gets its name."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        _part(self._path).replace(self._path)
        self._marked = self.bytes
        _mark(self._path).unlink(missing_ok=True)

    def close(self) -> None:
        """What can be gone on with stays; anything else is of no use."""
        self._file.close()
        if self._marked < 0 and not _mark(self._path).exists():
            _part(self._path).unlink(missing_ok=True)

    def _take_up(self, size: int) -> None:
        while self.bytes < size and (data := self._file.read(min(_CHUNK, size - self.bytes))):
            self._sha.update(data)
            self.bytes += len(data)
        if self.bytes != size:
            raise StoreUnavailable(f"{_part(self._path)} is shorter than it was; remove it and begin anew")
        self._file.truncate(size)
        self._file.seek(size)
        self._marked = size


def _part(path: Path) -> Path:
    return path.with_name(path.name + ".part")


def _mark(path: Path) -> Path:
    return path.with_name(path.name + ".part-at")


def _opened(path: Path, flags: int) -> BinaryIO:
    try:
        return os.fdopen(os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | flags, 0o600), "r+b")
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be written: {error.strerror}") from error
