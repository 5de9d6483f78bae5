"""What of the machine a confined process gets to see: an allow-list.

Rules kept here:
1. Programs and libraries of the system, read-only; of /etc what programs need to start, and with a network what they
   need to find others and to check their certificates. Nothing else of the system: no /home, /root, /run, /var, /sys.
2. Everything is where it is outside, so that nothing has to be told where it is.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

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


Place = Bind | Link


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
    """The same, once they are where they belong."""
    return [replace(place, source=place.at) if isinstance(place, Bind) else place for place in places]


def options(places: Iterable[Place]) -> Iterator[str]:
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
            case Link(at, to):
                yield from ("--symlink", to, str(at))
