"""Identifies the process at the other end of the operator's socket, as the kernel reports it.

Rules kept here:
1. Only the guard's own account and root are accepted. Root controls the guard anyway, so root is accepted even where a
   guard without root rights cannot read root's namespaces.
2. A process in another pid or user namespace is refused (a sandboxed server that obtained the path), and so is every
   descendant of the guard: programs that agents or servers start must not inherit the operator's authority. The exit of
   a parent does not hide a descendant (`keep_orphans`), but the exit of the guard itself does.
3. A process whose identity cannot be established is refused.
"""

import ctypes
import os
import socket
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

_UCRED = struct.Struct("3i")
_LOCAL_PEERPID = 0x002  # macOS
_SOL_LOCAL = 0
_PR_SET_CHILD_SUBREAPER = 36


class NotTheOperator(Exception):
    """The process at the other end may not act as the operator."""


@dataclass(frozen=True, slots=True)
class OperatorPeer:
    """A process that holds the operator's authority."""

    pid: int
    uid: int


def keep_orphans() -> None:
    """Make descendants whose parent ends children of the guard, not of init, so that their ancestry stays visible.

    Code that starts processes for the guard must wait for these too, or they stay as zombies when they end.
    """
    if sys.platform == "linux" and ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "orphans cannot be kept")


def identify(connection: socket.socket) -> OperatorPeer:
    """Return the process at the other end of a connection. Raises NotTheOperator."""
    try:
        peer = _linux(connection) if sys.platform == "linux" else _macos(connection)
    except OSError as error:
        raise NotTheOperator(f"its credentials cannot be read: {error}") from error
    if peer.uid not in (os.getuid(), 0):
        raise NotTheOperator(f"user {peer.uid} is not the guard's own")
    if sys.platform == "linux":
        if peer.uid == os.getuid():
            _same_namespaces(peer.pid)
        _no_descendant(peer.pid)
    return peer


def _linux(connection: socket.socket) -> OperatorPeer:
    option = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
    pid, uid, _ = _UCRED.unpack(option)
    return OperatorPeer(pid, uid)


def _macos(connection: socket.socket) -> OperatorPeer:
    # struct xucred: version, uid, number of groups, groups
    credentials = connection.getsockopt(_SOL_LOCAL, 0x001, 76)
    pid = struct.unpack("i", connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID, 4))[0]
    return OperatorPeer(pid, struct.unpack_from("II", credentials)[1])


def _same_namespaces(pid: int) -> None:
    for name in ("pid", "user"):
        try:
            same = Path(f"/proc/{pid}/ns/{name}").readlink() == Path(f"/proc/self/ns/{name}").readlink()
        except OSError as error:
            raise NotTheOperator(f"the {name} namespace of process {pid} cannot be read") from error
        if not same:
            raise NotTheOperator(f"process {pid} is in another {name} namespace")


def _no_descendant(pid: int) -> None:
    ours, at = os.getpid(), _parent(pid)
    while at > 1:
        if at == ours:
            raise NotTheOperator(f"process {pid} was started by the guard")
        at = _parent(at)


def _parent(pid: int) -> int:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError as error:
        raise NotTheOperator(f"process {pid} cannot be looked at") from error
    return int(stat.rpartition(")")[2].split()[1])  # the name before it may contain anything
