"""Bundles in one file: a tar of regular files only.

Rules kept here:
1. Any tar program can read the files written here.
2. A tar that is read is untrusted. Only regular files with short names are accepted, and nothing is unpacked: a file is
   read in place, by its offset and its size.
"""

import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

BLOCK: Final = 512
CHUNK: Final = 256 * 1024
MOST: Final = 32
"""The most files; a bundle has fewer."""
_NAME, _SIZE, _SUM, _TYPE, _MAGIC, _PREFIX = (
    slice(0, 100), slice(124, 136), slice(148, 156), slice(156, 157), slice(257, 262), slice(345, 500),
)  # fmt: skip
MAGIC: Final = b"ustar"
_OCTAL: Final = frozenset(b"01234567")


class BadTar(ValueError):
    """This is not a tar that mcpguard would have written. Says why, and repeats nothing of it."""


class TarPart(NamedTuple):
    """The place of a file in the tar."""

    begin: int
    size: int


def tar_chunks(folder: Path, names: list[str]) -> Iterator[bytes]:
    """A tar of these files of a folder, some bytes at a time."""
    for name in names:
        with (folder / name).open("rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            info = tarfile.TarInfo(name)
            info.size, info.mode = size, 0o600
            yield info.tobuf(tarfile.GNU_FORMAT)
            while data := file.read(CHUNK):
                yield data
            yield bytes(-size % BLOCK)
    yield bytes(2 * BLOCK)


def parts(file: BinaryIO) -> dict[str, TarPart]:
    """The places of the files in a tar. Raises BadTar."""
    end = file.seek(0, 2)
    place, found = 0, dict[str, TarPart]()
    while True:
        file.seek(place)
        head = file.read(BLOCK)
        if len(head) < BLOCK:
            raise BadTar("it ends too early: it was truncated")
        if not any(head):
            break
        name, size = _member(head)
        place += BLOCK
        if place + size > end:
            raise BadTar("it ends within a file: it was truncated")
        # Programs differ in which of two they unpack: one could be verified and the other read.
        if name in found or len(found) == MOST:
            raise BadTar("it has a file twice, or too many files")
        found[name] = TarPart(place, size)
        place += size + -size % BLOCK
    # Exactly one more block of zeros: whatever follows would be read by other programs.
    rest = file.read(2 * BLOCK + 1)
    if len(rest) != BLOCK or any(rest):
        raise BadTar("something follows its end, or its end was truncated")
    return found


def _member(head: bytes) -> tuple[str, int]:
    summed = sum(head) - sum(head[_SUM]) + 8 * 0x20
    if head[_MAGIC] != MAGIC or _number(head[_SUM].strip(b" \0")) != summed:
        raise BadTar("it is not a tar file, or a header in it was changed")
    name = head[_NAME].rstrip(b"\0")
    if head[_TYPE] not in (b"0", b"\0") or any(head[_PREFIX]) or not name.isascii() or b"\0" in name:
        raise BadTar("it has something other than regular files with short names")
    size = head[_SIZE]
    if size[0] == 0x80:  # GNU's way for what is larger than 8 GiB
        return name.decode(), int.from_bytes(size[1:])
    return name.decode(), _number(size.rstrip(b" \0"))


def _number(octal: bytes) -> int:
    if not octal or not _OCTAL.issuperset(octal):
        raise BadTar("a number in it cannot be read")
    return int(octal, 8)
