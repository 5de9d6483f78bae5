"""The allow-list of host files that a confined process can see.

Rules kept here:
1. The system's programs and libraries are visible, read-only; from /etc only the files that programs need to start and,
   with a network, to resolve names and check certificates. Nothing else of the system is: no /home, /root, /run, /var,
   /sys.
2. Every file has the same path as outside, so that no configuration has to be changed.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mcpguard.upstreams.process.secret_arguments import SecretArgument, Word

SYSTEM = Path("/usr")
BESIDE = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Links into /usr on most systems, folders on some."""
STARTING = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/mime.types",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/ssl/cert.pem",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/ca-trust/extracted",
    "/etc/crypto-policies",
)
FINDING_OTHERS = (
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/nsswitch.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
)


@dataclass(frozen=True, slots=True)
class Bind:
    """A file or folder `source` that is visible at the path `at`.

    `beside`: it only lies beside a wanted file. It may be gone by then, and its name must not be visible to others.
    """

    at: Path
    source: Path
    writable: bool = False
    beside: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    at: Path
    to: str


@dataclass(frozen=True, slots=True)
class Copy:
    """A file with this content, whatever lies at that path outside."""

    at: Path
    content: bytes = field(repr=False)


Place = Bind | Link | Copy


def system_places(*, network: bool) -> Iterator[Place]:
    yield Bind(SYSTEM, SYSTEM)
    for name in BESIDE:
        path = Path(name)
        if path.is_symlink():
            yield Link(path, str(path.readlink()))
        elif path.is_dir():
            yield Bind(path, path)
    for name in (*STARTING, *(FINDING_OTHERS if network else ())):
        path = Path(name)
        if path.exists():
            yield Bind(path, path.resolve())


def in_system(path: Path) -> bool:
    return path.is_relative_to(SYSTEM) or any(path.is_relative_to(name) for name in BESIDE)


def staged_places(places: Iterable[Place]) -> list[Place]:
    """Return the places for the second step, in which every source is at its final path already."""
    return [replace(place, source=place.at) if isinstance(place, Bind) else place for place in places]


def bwrap_options(places: Iterable[Place]) -> Iterator[Word]:
    """Yield bubblewrap's options that create the places: outer folders before inner ones, and each path once."""
    made, bound, beside = set[Path](), set[Path](), list[Word]()
    # Later places win over earlier ones at the same path. Sorted by path, a folder comes before what lies in it:
    # mounted the other way round, the folder would cover it.
    for place in sorted({place.at: place for place in places}.values(), key=lambda place: place.at.parts):
        is_beside = isinstance(place, Bind) and place.beside
        if not is_beside:
            yield from _unseen(beside)
            beside.clear()
        above = [each for each in reversed(place.at.parents[:-1]) if each not in made and not _within(each, bound)]
        folders: list[Word] = [word for each in above for word in ("--perms", "0755", "--dir", str(each))]
        made.update(above)
        match place:
            case Bind(at, source) if is_beside:
                beside += (*folders, "--ro-bind-try", str(source), str(at))
            case Bind(at, source, writable):
                yield from (*folders, "--bind" if writable else "--ro-bind", str(source), str(at))
            case Copy(at, content):
                way = "--ro-bind-data" if _within(at, bound) else "--file"
                yield from (*folders, "--perms", "0555", way, SecretArgument(content), str(at))
            case Link(at, to):
                yield from (*folders, "--symlink", to, str(at))
        if not isinstance(place, Link):
            bound.add(place.at)
    yield from _unseen(beside)


def _within(path: Path, folders: set[Path]) -> bool:
    return not folders.isdisjoint((path, *path.parents))


def _unseen(words: Sequence[Word]) -> Iterator[Word]:
    """Yield the words through a file without a name, so that nobody who reads the command line sees them."""
    if words:
        yield from ("--args", SecretArgument(b"".join(os.fsencode(str(word)) + b"\0" for word in words)))
