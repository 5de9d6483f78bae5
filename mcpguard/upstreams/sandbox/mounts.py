"""Checks the folders that a declaration mounts for a confined process.

Rules kept here:
1. A mount neither contains the data directory nor lies in it, is or contains no home directory, and is no folder of the
   operating system.
2. It contains no socket with a listener: through it a server could command a process outside (a container engine, an
   SSH agent). A folder that cannot be searched is refused too. A socket without a listener is just a file: any process
   that may write to a mount can create one, and must not be able to block other servers from starting.
3. A server's program lies in no folder that any server may write to, because it could be replaced there.
4. Mounts are checked at each process start, with their links resolved at that moment.
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
"""Folders without ordinary files: they hold the state of the running system."""
WHOLE = ("/etc", "/usr", "/var", "/var/lib", "/home", "/root", "/boot", "/tmp", "/var/tmp", *BESIDE)  # noqa: S108
PEOPLE = 1000
NOBODY = 65534


def admit_mounts(mounts: Iterable[Mount], data: Path, account: int, group: int) -> Iterator[Bind]:
    """Yield the mounts. `account` and `group` will use them. Raises NotConfined for the first one that is forbidden."""
    kept = data.resolve()
    for mount in mounts:
        at = Path(mount.path)
        if not at.is_absolute() or ".." in at.parts:
            raise NotConfined(f"{mount.path} cannot be mounted: write it as an absolute path")
        source = at.resolve()
        if not source.is_dir():
            raise NotConfined(f"{mount.path} cannot be mounted: the folder does not exist")
        # Both the name and its target: a link with a harmless name could lead to the data directory or to a home.
        for path in (at, source):
            _allowed(mount.path, path, kept)
        _accessible(mount, source, account, group)
        if inside := _socket(mount.path, source, account):
            raise NotConfined(f"{mount.path} cannot be mounted: {inside} is a socket in use")
        yield Bind(at, source, mount.writable)


def check_data_hidden(places: Iterable[Place], data: Path) -> None:
    """Raise NotConfined where any of the places, for whatever reason it is shown, would show the data directory."""
    kept = data.resolve()
    for place in places:
        if isinstance(place, Bind) and _meet(place.source.resolve(), kept):
            raise NotConfined(f"{place.at} would expose the data directory {kept}; move the data directory")


def check_own_paths(own: Iterable[Bind], places: Iterable[Place]) -> None:
    """Raise NotConfined where a place lies at a path that the guard uses itself."""
    taken = list(places)
    for mine in own:
        for place in taken:
            if _meet(place.at, mine.at):
                raise NotConfined(f"{place.at} cannot be mounted: {mine.at} is reserved for its package")


def check_unwritable(files: Iterable[Path], writable: Iterable[tuple[str, Mount]]) -> None:
    """Raise NotConfined where one of the files lies in a folder that one of the named servers may write to."""
    kept = list(files)
    for server, mount in writable:
        folder = Path(mount.path).resolve()
        for each in kept:
            if each.is_relative_to(folder):
                raise NotConfined(
                    f"its program {each} lies in {mount.path}, to which {server} may write, so it could be replaced "
                    "after inspection; mount a folder that contains no program"
                )


def _allowed(named: str, path: Path, kept: Path) -> None:
    if _meet(path, kept):
        raise NotConfined(f"{named} cannot be mounted: it overlaps the data directory of mcpguard")
    if any(path.is_relative_to(each) for each in LIVING):
        raise NotConfined(f"{named} cannot be mounted: it belongs to the operating system")
    if str(path) == "/" or str(path) in WHOLE:
        raise NotConfined(f"{named} cannot be mounted as a whole; mount a folder in it")
    if any(home.is_relative_to(path) for home in _homes()):
        raise NotConfined(f"{named} cannot be mounted: it is or contains a home directory; mount a folder in it")


def _accessible(mount: Mount, source: Path, account: int, group: int) -> None:
    """Raise NotConfined where the server's account may not use the folder: a guard that is root runs it as another."""
    if account == os.geteuid():
        return
    about = source.stat()
    asked = 0o7 if mount.writable else 0o5
    shift = 6 if about.st_uid == account else 3 if about.st_gid == group else 0
    if asked & ~(about.st_mode >> shift):
        what, mode = ("write to", "g+rwX") if mount.writable else ("read", "g+rX")
        path = quote(mount.path)
        raise NotConfined(
            f"{mount.path} cannot be mounted: the server runs as user {account} in group {group}, which may not {what} "
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
    """Return a socket in the folder, at any depth, on which a process listens; None if there is none."""
    left, seen = [folder], 0
    while left:
        for each in _entries(named, left.pop()):
            seen += 1
            # A folder that is too large to be searched counts as dangerous: a socket may be among the entries that were
            # not seen.
            if seen > MOST_ENTRIES:
                raise NotConfined(f"{named} cannot be mounted: it has too many entries to be searched for sockets")
            try:
                mode = each.stat(follow_symlinks=False).st_mode
            except FileNotFoundError:
                continue  # removed since the folder was listed
            if stat.S_ISSOCK(mode) and _answered(each.path, account):
                return Path(each.path)
            if stat.S_ISDIR(mode):
                left.append(Path(each.path))
    return None


def _answered(path: str, account: int) -> bool:
    """Tell whether a process listens there. By descriptor: a path may be too long, and lead to another socket by
    then.
    """
    try:
        # Held, and then reached through /proc: the path could lead to another socket at the next look.
        descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        tried = [_refusal(f"/proc/self/fd/{descriptor}", kind) for kind in (SOCK_STREAM, SOCK_SEQPACKET)]
        # Closed to the guard, and so to whatever it starts; unless the server's own account closed it and can open it.
        if EACCES in tried:
            return os.fstat(descriptor).st_uid != account
        return ECONNREFUSED not in tried
    finally:
        os.close(descriptor)


def _refusal(path: str, kind: int) -> int:
    """Return the error number with which connecting fails; 0 if it succeeds."""
    with socket(AF_UNIX, kind) as ours:
        ours.setblocking(False)
        return ours.connect_ex(path)


def _entries(named: str, folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as error:
        raise NotConfined(f"{named} cannot be mounted: cannot search {folder} ({error.strerror})") from None
