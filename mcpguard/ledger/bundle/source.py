"""Reads a bundle from a folder or a tar file whose content is untrusted.

Rules kept here:
1. Only regular files are opened, and only in that folder; no link is followed, no read blocks, and nothing is written.
2. Decompression is limited by the sizes in the manifest, and line by line. Memory does not grow with the size of a
   file.
"""

import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger.bundle import tar
from mcpguard.ledger.bundle.manifest import MANIFEST

CHUNK: Final = 256 * 1024
LONGEST_LINE: Final = 32 * 1024 * 1024
"""A body may have 16 MiB, and base64 makes a third more of it."""
MOST_NAMES: Final = 100
_GZIP: Final = 31
_SQLITE: Final = b"SQLite format 3\0"


class UnreadableBundle(ValueError):
    """A file is not what the file of a bundle must be. Says why, and repeats nothing of it."""

    file = ""


class BundleSource:
    """The files of a bundle, wherever they are."""

    def __init__(self, sizes: dict[str, int], odd: tuple[str, ...] = ()) -> None:
        self.sizes = sizes
        """The size of every file, by name."""
        self.odd = odd
        """The names of whatever else is there: links, folders, devices."""

    @contextmanager
    def _opened(self, name: str) -> Iterator[tuple[BinaryIO, int]]:
        """The file, and how many bytes of it belong to it."""
        raise NotImplementedError

    def read(self, name: str) -> Iterator[bytes]:
        """The content of a file, some bytes at a time. Raises OSError."""
        with self._opened(name) as (file, size):
            taken = 0
            while taken < size and (data := file.read(min(CHUNK, size - taken))):
                taken += len(data)
                yield data

    def lines(self, name: str, *, packed: bool, most: int) -> Iterator[bytes]:
        """The lines of a file without their ends. `most`: its largest size, unpacked. Raises UnreadableBundle."""
        taken, rest = 0, b""
        for data in _unpacked(self.read(name)) if packed else self.read(name):
            taken += len(data)
            if taken > most:
                raise UnreadableBundle("it is larger than the manifest says")
            *whole, rest = (rest + data).split(b"\n") if b"\n" in data else (rest + data,)
            yield from whole
            if len(rest) > LONGEST_LINE:
                raise UnreadableBundle("a line in it is longer than mcpguard writes")
        if rest:
            raise UnreadableBundle("it ends within a line: it was truncated")


class _Folder(BundleSource):
    def __init__(self, folder: Path) -> None:
        sizes, odd = dict[str, int](), list[str]()
        with os.scandir(folder) as entries:
            for entry in entries:
                found = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(found.st_mode):
                    sizes[entry.name] = found.st_size
                else:
                    odd.append(entry.name)
                if len(sizes) + len(odd) > MOST_NAMES:
                    break  # no bundle has so many; those that are not in the manifest are reported
        super().__init__(sizes, tuple(sorted(odd)))
        self._folder = folder

    @contextmanager
    def _opened(self, name: str) -> Iterator[tuple[BinaryIO, int]]:
        # A link could lead to a file outside, a pipe would block for ever.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(self._folder / name, flags), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise UnreadableBundle("it is not a regular file")
            yield file, found.st_size


class _Tar(BundleSource):
    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._parts = tar.parts(file)
        super().__init__({name: part.size for name, part in self._parts.items()})
        self._path = path

    @contextmanager
    def _opened(self, name: str) -> Iterator[tuple[BinaryIO, int]]:
        with self._path.open("rb") as file:
            file.seek(self._parts[name].begin)
            yield file, self._parts[name].size


def is_bundle(path: Path) -> bool:
    """Tell whether this path is a bundle, a folder or a tar. Anything else may be a store."""
    if path.is_dir():
        return True
    try:
        with path.open("rb") as file:
            head = file.read(tar.BLOCK)
    except OSError:
        return False
    # A damaged tar should be reported as one, and not as a database that cannot be opened.
    return head[257:262] == tar.MAGIC or (path.suffix == ".tar" and not head.startswith(_SQLITE))


def open_bundle(path: Path) -> BundleSource:
    """Open a bundle. Raises StoreUnavailable if the path is none."""
    try:
        source = _Folder(path) if path.is_dir() else _Tar(path)
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be read: {error.strerror}") from error
    except tar.BadTar as error:
        raise StoreUnavailable(f"{path} is not a bundle: {error}") from None
    if MANIFEST not in source.sizes:
        raise StoreUnavailable(f"{path} is not a bundle: it has no {MANIFEST}")
    return source


def _unpacked(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Unpack gzip data, some bytes at a time. Several compressed pieces are read one after the other."""
    gzip, begun = zlib.decompressobj(wbits=_GZIP), False
    for data in parts:
        left = data
        while left:
            if gzip.eof:
                gzip = zlib.decompressobj(wbits=_GZIP)
            begun, plain = True, CHUNK
            while plain == CHUNK and not gzip.eof:  # what is full may not be all
                some = _inflated(gzip, left)
                plain, left = len(some), gzip.unconsumed_tail
                yield some
            left = gzip.unused_data if gzip.eof else b""
    if begun and not gzip.eof:
        raise UnreadableBundle("its compressed data ends early: it was truncated")


def _inflated(gzip: "zlib._Decompress", data: bytes) -> bytes:
    try:
        return gzip.decompress(data, CHUNK)
    except zlib.error:
        raise UnreadableBundle("its compressed data is damaged") from None
