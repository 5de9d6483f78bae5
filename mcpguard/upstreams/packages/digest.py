"""Computes the digest of a file tree's content, independent of when, where and by whom it was written.

Rules kept here:
1. The digest covers every path, its kind, whether it is executable, its content, and the target of a link.
2. A tree must be self-contained: with a link that leads out of it, or an entry that is neither file, folder nor link,
   it has no digest. Nor has a tree with a setuid or setgid file, or one above the size limit.
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
    """Return the digest in hexadecimal; it covers `bound` too. Reads every file: call it in a thread.

    Raises NotInstalled.
    """
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
                raise NotInstalled(f"the package is larger than {MOST_BYTES // MEBIBYTE} MiB")
            kind = b"x" if about.st_mode & stat.S_IXUSR else b"f"
            digest.update(kind + _sized(name) + _content(path, about.st_size))
    return digest.hexdigest()


def entries(tree: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield every entry by name, each folder before its content. Raises NotInstalled for an entry no tree may hold."""
    left, seen = [tree], 0
    while left:
        with os.scandir(left.pop()) as found:
            entries = sorted(found, key=lambda each: os.fsencode(each.name))
        for entry in entries:
            seen += 1
            if seen > MOST_FILES:
                raise NotInstalled(f"the package has more than {MOST_FILES} files")
            about = entry.stat(follow_symlinks=False)
            path = Path(entry.path)
            # Before the entry is used: a device or a pipe must not even be opened.
            _allowed(tree, path, about.st_mode)
            yield path, about
        left += [Path(entry.path) for entry in reversed(entries) if entry.is_dir(follow_symlinks=False)]


def _allowed(tree: Path, path: Path, mode: int) -> None:
    name = visible(str(path.relative_to(tree)))
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
        raise NotInstalled(f"the package contains {name}, which is neither a file nor a folder")
    if mode & (stat.S_ISUID | stat.S_ISGID) and stat.S_ISREG(mode):
        raise NotInstalled(f"the package contains {name}, which is setuid or setgid")
    if stat.S_ISLNK(mode):
        _target(tree, path)


def _target(tree: Path, path: Path) -> bytes:
    """Return the target of a link. Raises NotInstalled where it leaves the tree, at its end or on the way."""
    target = path.readlink()
    lexical = Path(os.path.normpath(path.parent / target))
    # Both readings must stay inside: `..` behind a link to a folder is one path as text, and another to the kernel.
    if target.is_absolute() or not all(_in(each, tree) for each in (lexical, Path(os.path.realpath(path)))):
        raise NotInstalled(f"the package contains {visible(str(path.relative_to(tree)))}, a link that leads out of it")
    return os.fsencode(target)


def _in(path: Path, tree: Path) -> bool:
    return path.is_relative_to(tree) or path.is_relative_to(os.path.realpath(tree))


def _content(path: Path, size: int) -> bytes:
    digest, left = hashlib.sha256(), size
    # Not following links and not blocking: an entry that became a link or a pipe since the scan must not be read.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        while data := file.read(CHUNK):
            left -= len(data)
            if left < 0:
                raise NotInstalled(f"{visible(path.name)} in the package changed while it was being read")
            digest.update(data)
    return digest.digest()


def _sized(data: bytes) -> bytes:
    return len(data).to_bytes(8, "big") + data
