"""A bundle in one file: a tar with nothing in it but plain files, one after the other.

Rules kept here:
1. What is written is what everybody's tar can read.
2. What is read was written by anybody. Only plain files with short names are taken, and nothing is unpacked to a disk:
   a file is a part of the tar, by its place and its size.
"""

import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

BLOCK: Final = 512
CHUNK: Final = 256 * 1024
MOST: Final = 32
"""Files; a bundle of ours has fewer."""
_NAME, _SIZE, _SUM, _TYPE, _MAGIC, _PREFIX = (
    slice(0, 100), slice(124, 136), slice(148, 156), slice(156, 157), slice(257, 262), slice(345, 500),
)  # fmt: skip
MAGIC: Final = b"ustar"
_OCTAL: Final = frozenset(b"01234567")


class BadTar(ValueError):
    """This is no tar that we would have written. Says why, and repeats nothing of it."""


class TarPart(NamedTuple):
    """Where a file lies in the tar."""

    begin: int
    size: int


def packed(folder: Path, names: list[str]) -> Iterator[bytes]:
    """These files of a folder as a tar, some bytes at a time."""
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
    """The files in a tar. Raises BadTar."""
    end = file.seek(0, 2)
    place, found = 0, dict[str, TarPart]()
    while True:
        file.seek(place)
        head = file.read(BLOCK)
        if len(head) < BLOCK:
            raise BadTar("it ends where it should go on: it was cut")
        if not any(head):
            break
        name, size = _member(head)
        place += BLOCK
        if place + size > end:
            raise BadTar("it ends within a file: it was cut")
        if name in found or len(found) == MOST:
            raise BadTar("it holds a file twice, or too many")
        found[name] = TarPart(place, size)
        place += size + -size % BLOCK
    rest = file.read(2 * BLOCK + 1)
    if len(rest) != BLOCK or any(rest):
        raise BadTar("something follows its end, or its end was cut")
    return found


def _member(head: bytes) -> tuple[str, int]:
    summed = sum(head) - sum(head[_SUM]) + 8 * 0x20
    if head[_MAGIC] != MAGIC or _number(head[_SUM].strip(b" \0")) != summed:
        raise BadTar("it is no tar, or a head in it was changed")
    name = head[_NAME].rstrip(b"\0")
    if head[_TYPE] not in (b"0", b"\0") or any(head[_PREFIX]) or not name.isascii() or b"\0" in name:
        raise BadTar("it holds something else than plain files with short names")
    size = head[_SIZE]
    if size[0] == 0x80:  # GNU's way for what is larger than 8 GiB
        return name.decode(), int.from_bytes(size[1:])
    return name.decode(), _number(size.rstrip(b" \0"))


def _number(octal: bytes) -> int:
    if not octal or not _OCTAL.issuperset(octal):
        raise BadTar("a number in it cannot be read")
    return int(octal, 8)
