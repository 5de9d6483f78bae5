"""Kills processes that servers left behind.

A server may start a process that leaves its process group, so that ending the group does not end it. Where the guard
adopts orphans (on Linux, as a subreaper), such a process becomes a child of the guard once its parent is gone. The
guard starts nothing but servers, so any other child of it is such an orphan.

Rules kept here:
1. A process whose server is gone is killed and reaped. So is one that cannot be attributed to a server.
2. A process of a running server may stay: it is in the server's session, or has the mark that the server was started
   with. It can do nothing that the server could not do itself, and it is killed when the server is gone.
"""

import os
import signal
from contextlib import suppress
from pathlib import Path

import anyio
import structlog

from mcpguard.domain.clock import Clock
from mcpguard.upstreams.process.child import RUNNING
from mcpguard.upstreams.process.tree import children

MARK = "MCPGUARD_STARTED"
"""The environment variable whose value attributes a process to the server that started it."""
SWEEP_SECONDS = 5.0
SOON = 0.01
log = structlog.get_logger("mcpguard.upstreams")


async def keep_sweeping(clock: Clock) -> None:
    """Sweep from time to time, until cancelled. Only for a process that adopts orphans and has no other children."""
    while True:
        await clock.sleep(SWEEP_SECONDS)
        sweep()


async def sweep_all(seconds: float = 1.0) -> None:
    """Sweep until nothing is left: the end of one process may make orphans of those that it had started."""
    with anyio.move_on_after(seconds):
        while orphans := sweep():
            for orphan in orphans:
                await _end_of(orphan)


def sweep() -> list[int]:
    """Kill every child that belongs to no running server, and return their numbers."""
    orphans = [child for child in children("self") - RUNNING if not _reaped(child)]
    # A process without a readable mark counts as nobody's: in doubt it is killed, so that none can hide here.
    marks = {_mark(server) for server in RUNNING} - {b""} if orphans else set()
    left = [orphan for orphan in orphans if _session(orphan) not in RUNNING and _mark(orphan) not in marks]
    for orphan in left:
        log.warning("upstream.orphan", process=orphan)
        with suppress(ProcessLookupError, PermissionError):
            # It is a child that was not waited for, so its number cannot belong to another process yet.
            os.kill(orphan, signal.SIGKILL)
        _reaped(orphan)  # if it is not gone yet, the next sweep finds it again
    return left


async def _end_of(child: int) -> None:
    try:
        descriptor = os.pidfd_open(child)
    except OSError:  # it is gone, or this kernel has no pidfd
        await anyio.sleep(SOON)
        return
    try:
        await anyio.wait_readable(descriptor)
    finally:
        os.close(descriptor)


def _reaped(child: int) -> bool:
    """Tell whether the child has ended; if so, it is reaped."""
    try:
        return os.waitpid(child, os.WNOHANG)[0] == child
    except ChildProcessError:
        return True


def _session(process: int) -> int:
    try:
        return os.getsid(process)
    except ProcessLookupError:
        return 0


def _mark(process: int) -> bytes:
    """Return the mark in a process's environment; empty where it has none, or none that can be read."""
    try:
        variables = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except OSError:
        return b""
    return next((each for each in variables if each.startswith(MARK.encode() + b"=")), b"")
