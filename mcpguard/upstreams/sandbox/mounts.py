"""Folders that a person names for a confined process.

Rules kept here:
1. None holds the data directory or lies in it, none is or holds a home, none is one of the system's own.
2. None holds a socket at which somebody takes orders. What cannot be looked through is refused too. A socket that
   nobody listens at is nothing but a file: whoever may write to a mount can make one, and keeps nobody from starting.
3. What is executed for a server lies in none that any server may write to: it could put another program there.
4. They are looked at each time that a process is started, where their links lead at that moment.
"""

import os
import pwd
import stat
from collections.abc import Iterable, Iterator
from errno import EACCES, ECONNREFUSED
from pathlib import Path
from shlex import quote
from socket import AF_UNIX, SOCK_SEQPACKET, SOCK_STREAM, socket

from mcpguard.domain.servers.launches import Mount
from mcpguard.upstreams.sandbox.not_confined import NotConfined
from mcpguard.upstreams.sandbox.places import BESIDE, Bind, Place

MOST_ENTRIES = 200_000
LIVING = ("/proc", "/sys", "/dev", "/run", "/var/run")
"""Nothing in them is a file that somebody keeps."""
WHOLE = ("/etc", "/usr", "/var", "/var/lib", "/home", "/root", "/boot", "/tmp", "/var/tmp", *BESIDE)  # noqa: S108
PEOPLE = 1000
NOBODY = 65534


def admitted(mounts: Iterable[Mount], data: Path, account: int, group: int) -> Iterator[Bind]:
    """`account` and `group` are who will see them. Raises NotConfined for the first that may not be."""
    kept = data.resolve()
    for mount in mounts:
        at = Path(mount.path)
        if not at.is_absolute() or ".." in at.parts:
            raise NotConfined(f"{mount.path} cannot be mounted: it has to be written as an absolute path")
        source = at.resolve()
        if not source.is_dir():
            raise NotConfined(f"{mount.path} cannot be mounted: there is no such folder")
        for path in (at, source):
            _allowed(mount.path, path, kept)
        _accessible(mount, source, account, group)
        if inside := _socket(mount.path, source, account):
            raise NotConfined(f"{mount.path} cannot be mounted: {inside} is a socket")
        yield Bind(at, source, mount.writable)


def apart(places: Iterable[Place], data: Path) -> None:
    """None of them, however it came to be seen, may show the data directory. Raises NotConfined."""
    kept = data.resolve()
    for place in places:
        if isinstance(place, Bind) and _meet(place.source.resolve(), kept):
            raise NotConfined(f"{place.at} would be seen, and the data directory {kept} is there: it has to move")


def free(own: Iterable[Bind], places: Iterable[Place]) -> None:
    """Where the guard puts something of its own, nothing else is. Raises NotConfined."""
    taken = list(places)
    for mine in own:
        for place in taken:
            if _meet(place.at, mine.at):
                raise NotConfined(f"{place.at} cannot be seen by it: {mine.at} is where its package is put")


def unwritten(files: Iterable[Path], writable: Iterable[tuple[str, Mount]]) -> None:
    """None of these lies where a confined server may write, whose name stands with the folder. Raises NotConfined."""
    kept = list(files)
    for server, mount in writable:
        folder = Path(mount.path).resolve()
        for each in kept:
            if each.is_relative_to(folder):
                raise NotConfined(
                    f"its program {each} lies in {mount.path}, where {server} may write: what was looked at could be "
                    "another program when it runs; mount a folder that holds no program"
                )


def _allowed(named: str, path: Path, kept: Path) -> None:
    if _meet(path, kept):
        raise NotConfined(f"{named} cannot be mounted: the data directory of the guard is there")
    if any(path.is_relative_to(each) for each in LIVING):
        raise NotConfined(f"{named} cannot be mounted: what is there belongs to the system")
    if str(path) == "/" or str(path) in WHOLE:
        raise NotConfined(f"{named} cannot be mounted as a whole: name a folder in it")
    if any(home.is_relative_to(path) for home in _homes()):
        raise NotConfined(f"{named} cannot be mounted: it is somebody's home, or holds one; name a folder in it")


def _accessible(mount: Mount, source: Path, account: int, group: int) -> None:
    """A guard that runs as root starts processes as somebody else, for whom root's folders may be closed."""
    if account == os.geteuid():
        return
    about = source.stat()
    asked = 0o7 if mount.writable else 0o5
    shift = 6 if about.st_uid == account else 3 if about.st_gid == group else 0
    if asked & ~(about.st_mode >> shift):
        what, mode = ("write to", "g+rwX") if mount.writable else ("read", "g+rX")
        path = quote(mount.path)
        raise NotConfined(
            f"{mount.path} cannot be mounted: user {account} in group {group}, as whom the server runs, may not {what} "
            f"it (chgrp -R {group} {path} && chmod -R {mode} {path})"
        )


def _meet(one: Path, other: Path) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)


def _homes() -> Iterator[Path]:
    yield Path.home().resolve()
    for account in pwd.getpwall():
        if account.pw_uid == 0 or PEOPLE <= account.pw_uid < NOBODY:
            yield Path(account.pw_dir)


def _socket(named: str, folder: Path, account: int) -> Path | None:
    """One in the folder, at any depth, at which somebody listens."""
    left, seen = [folder], 0
    while left:
        for each in _entries(named, left.pop()):
            seen += 1
            if seen > MOST_ENTRIES:
                raise NotConfined(f"{named} cannot be mounted: it has too many entries to tell whether one is a socket")
            mode = each.stat(follow_symlinks=False).st_mode
            if stat.S_ISSOCK(mode) and _answered(each.path, account):
                return Path(each.path)
            if stat.S_ISDIR(mode):
                left.append(Path(each.path))
    return None


def _answered(path: str, account: int) -> bool:
    """Whether somebody listens there. Asked by its descriptor: the path may be too long, and another one's by then."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        tried = [_refusal(f"/proc/self/fd/{descriptor}", kind) for kind in (SOCK_STREAM, SOCK_SEQPACKET)]
        if EACCES in tried:  # closed to the guard, and so to all that it starts, unless it is theirs and they closed it
            return os.fstat(descriptor).st_uid != account
        return ECONNREFUSED not in tried
    finally:
        os.close(descriptor)


def _refusal(path: str, kind: int) -> int:
    """The number of the error with which connecting fails; 0 where it does not."""
    with socket(AF_UNIX, kind) as ours:
        ours.setblocking(False)
        return ours.connect_ex(path)


def _entries(named: str, folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as error:
        raise NotConfined(f"{named} cannot be mounted: {folder} cannot be looked into ({error.strerror})") from None
