"""What of the machine a confined process gets to see: an allow-list.

Rules kept here:
1. Programs and libraries of the system, read-only; of /etc what programs need to start, and with a network what they
   need to find others and to check their certificates. Nothing else of the system: no /home, /root, /run, /var, /sys.
2. Everything is where it is outside, so that nothing has to be told where it is.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from mcpguard.upstreams.transports.handed import Handed, Word

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
    """A file or folder, `source`, that is seen at `at`."""

    at: Path
    source: Path
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    at: Path
    to: str


@dataclass(frozen=True, slots=True)
class Copy:
    """A file that holds this, whatever lies at that path outside."""

    at: Path
    content: bytes = field(repr=False)


Place = Bind | Link | Copy


def system(*, network: bool) -> Iterator[Place]:
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


def staged(places: Iterable[Place]) -> list[Place]:
    """The same, once they are where they belong. What a copy was put over comes with the copy."""
    last = list({place.at: place for place in places}.values())
    folders = [place.at for place in last if isinstance(place, Bind)]
    return [_staged(place) for place in last if not isinstance(place, Copy) or not _below(place.at, folders)]


def _staged(place: Place) -> Place:
    match place:
        case Bind():
            return replace(place, source=place.at)
        case Copy(at):
            return Bind(at, at)
        case Link():
            return place


def _below(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def copies(files: Iterable[tuple[Path, bytes]], places: Iterable[Place]) -> Iterator[Copy]:
    """Wherever one of these files would be seen, its content as it was read."""
    binds = [(place.at, place.source.resolve()) for place in places if isinstance(place, Bind)]
    for path, content in files:
        for at, source in binds:
            if path.is_relative_to(source):
                yield Copy(at / path.relative_to(source), content)


def options(places: Iterable[Place]) -> Iterator[Word]:
    """Those of bubblewrap that put the places where they belong: what is above another one first, and each once."""
    made, bound = set[Path](), list[Path]()
    for place in sorted({place.at: place for place in places}.values(), key=lambda place: place.at.parts):
        for above in reversed(place.at.parents[:-1]):
            if above not in made and not any(above.is_relative_to(at) for at in bound):
                yield from ("--perms", "0755", "--dir", str(above))
                made.add(above)
        match place:
            case Bind(at, source, writable):
                yield from ("--bind" if writable else "--ro-bind", str(source), str(at))
                bound.append(at)
            case Copy(at, content):
                # What is bound from memory has no name left, so it cannot be bound once more by a second stage.
                way = "--ro-bind-data" if _below(at, bound) else "--file"
                yield from ("--perms", "0555", way, Handed(content), str(at))
                bound.append(at)
            case Link(at, to):
                yield from ("--symlink", to, str(at))
