"""The digest of a tree of files: what is in it, and nothing of when, by whom or where it was put there.

Rules kept here:
1. It covers every path, its kind, whether it can be executed, its content, and where a link leads.
2. A tree is whole in itself: a link out of it, and what is neither file, folder nor link, has no digest. Nor has one
   that gives rights by being executed, or that is larger than a tree may be.
"""

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from mcpguard.text.visible import visible
from mcpguard.upstreams.packages.not_installed import NotInstalled
from mcpguard.upstreams.sandbox.limits import MEBIBYTE

MOST_FILES = 100_000
MOST_BYTES = 1024 * MEBIBYTE
CHUNK = 1_048_576
DOMAIN = b"mcpguard tree 1\n"


def tree_digest(tree: Path, bound: bytes = b"") -> str:
    """In hexadecimal; `bound` is covered with it. It reads everything: called in a thread. Raises NotInstalled."""
    digest = hashlib.sha256(DOMAIN + _sized(bound))
    left = MOST_BYTES
    for path, about in entries(tree):
        name = os.fsencode(path.relative_to(tree))
        if stat.S_ISLNK(about.st_mode):
            digest.update(b"l" + _sized(name) + _sized(_target(tree, path)))
        elif stat.S_ISDIR(about.st_mode):
            digest.update(b"d" + _sized(name))
        else:
            left -= about.st_size
            if left < 0:
                raise NotInstalled(f"it holds more than {MOST_BYTES // MEBIBYTE} MiB")
            kind = b"x" if about.st_mode & stat.S_IXUSR else b"f"
            digest.update(kind + _sized(name) + _content(path, about.st_size))
    return digest.hexdigest()


def entries(tree: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Everything in it, each folder before what it holds, by name. Raises NotInstalled for what may not be there."""
    left, seen = [tree], 0
    while left:
        with os.scandir(left.pop()) as found:
            entries = sorted(found, key=lambda each: os.fsencode(each.name))
        for entry in entries:
            seen += 1
            if seen > MOST_FILES:
                raise NotInstalled(f"it holds more than {MOST_FILES} files")
            about = entry.stat(follow_symlinks=False)
            path = Path(entry.path)
            _allowed(tree, path, about.st_mode)
            yield path, about
        left += [Path(entry.path) for entry in reversed(entries) if entry.is_dir(follow_symlinks=False)]


def _allowed(tree: Path, path: Path, mode: int) -> None:
    name = visible(str(path.relative_to(tree)))
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
        raise NotInstalled(f"{name} in it is neither a file nor a folder")
    if mode & (stat.S_ISUID | stat.S_ISGID) and stat.S_ISREG(mode):
        raise NotInstalled(f"{name} in it would run with the rights of somebody else")
    if stat.S_ISLNK(mode):
        _target(tree, path)


def _target(tree: Path, path: Path) -> bytes:
    """Where a link leads: by a way inside the tree, to something inside it."""
    target = path.readlink()
    lexical = Path(os.path.normpath(path.parent / target))
    if target.is_absolute() or not all(_in(each, tree) for each in (lexical, Path(os.path.realpath(path)))):
        raise NotInstalled(f"{visible(str(path.relative_to(tree)))} in it is a link that leads out of it")
    return os.fsencode(target)


def _in(path: Path, tree: Path) -> bool:
    return path.is_relative_to(tree) or path.is_relative_to(os.path.realpath(tree))


def _content(path: Path, size: int) -> bytes:
    digest, left = hashlib.sha256(), size
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        while data := file.read(CHUNK):
            left -= len(data)
            if left < 0:
                raise NotInstalled(f"{visible(path.name)} in it changes while it is read")
            digest.update(data)
    return digest.digest()


def _sized(data: bytes) -> bytes:
    return len(data).to_bytes(8, "big") + data
