"""The target of an export: standard output, or a resumable file that gets its final name when it is complete.

Rules kept here:
1. Nothing is overwritten unless that was requested. Only the user's own account can read the created files.
2. A file beside the partial one states how far it is valid: which bytes are on disk, and the record after which to
   resume. Anything after them is cut off and written again, so that no record is written twice.
3. A terminal obeys control characters written to it, so records are never written to one.
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


class StandardOutput:
    """An export to standard output."""

    def __init__(self) -> None:
        """Raise StoreUnavailable if standard output is a terminal."""
        if sys.stdout.isatty():
            raise StoreUnavailable("records are not printed to a terminal; name a file with --output, or use a pipe")
        self.seq = self.records = self.bytes = 0
        self._sha = hashlib.sha256()
        self._out = sys.stdout.buffer

    due = False

    @property
    def sha256(self) -> str:
        return self._sha.hexdigest()

    @property
    def resume_hint(self) -> str:
        return f"--after {self.seq} continues after record {self.seq}, if that one was read"

    def write(self, data: bytes) -> None:
        self._out.write(data)
        self._sha.update(data)
        self.bytes += len(data)

    def advance(self, seq: int, records: int) -> None:
        """Take note that the records up to this number were written."""
        self.seq = seq
        self.records += records

    def mark(self) -> None:
        """Do nothing: standard output cannot be resumed."""

    def finish(self) -> None:
        self._out.flush()

    def close(self) -> None:
        """Do nothing: standard output is not ours to close."""


class PartialFile:
    """The file `path` while it is written. `what` identifies the export, so that no other one resumes it."""

    def __init__(self, path: Path, what: What, file: BinaryIO, seq: int = 0, records: int = 0) -> None:
        self.seq, self.records = seq, records
        self.bytes = 0
        self._path, self._what, self._file = path, what, file
        self._sha = hashlib.sha256()
        self._marked, self._good = -EVERY, seq

    @classmethod
    def new(cls, path: Path, what: What, *, force: bool) -> Self:
        """Start a new file. Raises StoreUnavailable if it exists already."""
        if not force:
            if os.path.lexists(path):
                raise StoreUnavailable(f"{path} already exists; --force overwrites it")
            if os.path.lexists(_part(path)):
                raise StoreUnavailable(
                    f"{_part(path)} is left from an interrupted export: --resume continues it, --force starts over"
                )
        try:
            for old in (_part(path), _mark(path)):
                old.unlink(missing_ok=True)
        except OSError as error:
            raise StoreUnavailable(f"{path} cannot be written: {error.strerror}") from error
        return cls(path, what, _opened(_part(path), os.O_CREAT | os.O_EXCL))

    @classmethod
    def resume(cls, path: Path, what: What) -> Self:
        """Continue an interrupted file. Raises StoreUnavailable if there is none, or it is of another export."""
        try:
            said = orjson.loads(_mark(path).read_bytes())
            seq, records, size = int(said.pop("seq")), int(said.pop("records")), int(said.pop("bytes"))
        except FileNotFoundError:
            raise StoreUnavailable(f"{path} cannot be resumed: {_mark(path)} does not exist") from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise StoreUnavailable(f"{_mark(path)} cannot be read; remove it and start over") from None
        if differ := [name for name in what.keys() | said.keys() if what.get(name) != said.get(name)]:
            raise StoreUnavailable(f"{_part(path)} was started with other options: {', '.join(sorted(differ))}")
        partial = cls(path, what, _opened(_part(path), 0), seq, records)
        try:
            partial._take_up(size)
        except StoreUnavailable:
            partial.close()
            raise
        return partial

    @property
    def sha256(self) -> str:
        return self._sha.hexdigest()

    @property
    def resume_hint(self) -> str:
        if self._marked < 0:
            return "nothing was saved"
        return f"--resume continues {self._path} after record {self._good}; in another file, --after does"

    @property
    def due(self) -> bool:
        """Whether enough was written since the last mark for the next one."""
        return self.bytes - self._marked >= EVERY

    def write(self, data: bytes) -> None:
        self._sha.update(data)
        self.bytes += self._file.write(data)

    def advance(self, seq: int, records: int) -> None:
        """Take note that the records up to this number were written."""
        self.seq = seq
        self.records += records

    def mark(self) -> None:
        """Save that what was written so far is complete by itself."""
        self._file.flush()
        os.fsync(self._file.fileno())
        said = {**self._what, "seq": self.seq, "records": self.records, "bytes": self.bytes}
        beside = _mark(self._path).with_suffix(".new")
        with _opened(beside, os.O_CREAT | os.O_TRUNC) as file:
            file.write(orjson.dumps(said))
        beside.replace(_mark(self._path))
        self._marked, self._good = self.bytes, self.seq

    def finish(self) -> None:
        """Give the complete file its name."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        _part(self._path).replace(self._path)
        self._marked = self.bytes
        _mark(self._path).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file. A partial file that cannot be resumed is removed."""
        self._file.close()
        if self._marked < 0 and not _mark(self._path).exists():
            _part(self._path).unlink(missing_ok=True)

    def _take_up(self, size: int) -> None:
        while self.bytes < size and (data := self._file.read(min(_CHUNK, size - self.bytes))):
            self._sha.update(data)
            self.bytes += len(data)
        if self.bytes != size:
            raise StoreUnavailable(f"{_part(self._path)} is shorter than it was; remove it and start over")
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
