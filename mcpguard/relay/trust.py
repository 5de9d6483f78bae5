"""What must be true before a token is sent: everything on the way to the guard belongs to our own account.

Rules kept here:
1. The folder of the socket is ours and closed to others, so nobody else can put a socket there.
2. The socket is ours, and so is the process that listens on it, by the kernel's word.
3. What cannot be established is refused. That nothing is there yet is no refusal.
"""

import os
import socket
import stat
import struct
import sys
from pathlib import Path
from typing import Final

from mcpguard.relay.problem import CannotRelay

_UCRED: Final = struct.Struct("3i")
_SOL_LOCAL: Final = 0  # macOS
_LOCAL_PEERCRED: Final = 0x001
_XUCRED: Final = struct.Struct("II")
_XUCRED_SIZE: Final = 76


def make_private(folder: Path) -> None:
    """Create the directory for our own account only; refuse one that is not ours or that others can enter."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise CannotRelay(f"the directory {folder} cannot be made: {error.strerror}") from None
    is_private(folder)


def is_private(folder: Path) -> bool:
    """Return True if the directory is ours alone, False if there is none. Any other is refused."""
    found = _found(folder)
    if found is None:
        return False
    if not stat.S_ISDIR(found.st_mode):  # nor is a link, wherever it leads
        raise CannotRelay(f"{folder} is not a directory")
    if found.st_uid != os.getuid():
        raise CannotRelay(f"the directory {folder} belongs to user {found.st_uid}, not to your own account")
    if found.st_mode & 0o077:
        raise CannotRelay(
            f"the directory {folder} is accessible to others (mode {found.st_mode & 0o777:o}); "
            f"run: chmod 700 {folder}, or choose another with --data-dir"
        )
    return True


def connect_to_own_socket(path: Path) -> socket.socket | None:
    """Return a connection to our own guard; None if nobody listens, also if a killed guard left its socket."""
    if not is_private(path.parent) or not _is_our_socket(path):
        return None
    guard = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        guard.connect(str(path))
        refuse_others(guard)
    except (FileNotFoundError, ConnectionRefusedError):
        guard.close()
        return None
    except OSError as error:
        guard.close()
        raise CannotRelay(f"{path} cannot be connected to: {error.strerror or error}") from None
    except CannotRelay:
        guard.close()
        raise
    return guard


def refuse_others(guard: socket.socket) -> None:
    """Raise CannotRelay unless the process at the other end belongs to our own account."""
    user = _linux(guard) if sys.platform == "linux" else _macos(guard)
    if user != os.getuid():
        raise CannotRelay(f"the listening process belongs to user {user}, not to your own account")


def _is_our_socket(path: Path) -> bool:
    found = _found(path)
    if found is None:
        return False
    if not stat.S_ISSOCK(found.st_mode):
        raise CannotRelay(f"{path} is not a socket")
    if found.st_uid != os.getuid():
        raise CannotRelay(f"the socket {path} belongs to user {found.st_uid}, not to your own account")
    return True


def _found(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise CannotRelay(f"{path} cannot be inspected: {error.strerror}") from None


def _linux(guard: socket.socket) -> int:
    _, user, _ = _UCRED.unpack(guard.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size))
    return int(user)


def _macos(guard: socket.socket) -> int:
    _, user = _XUCRED.unpack_from(guard.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED_SIZE))
    return int(user)
