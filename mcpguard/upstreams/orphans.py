"""Processes that servers left behind.

A server may start a process that leaves its group, so that ending the group does not end it. Where the guard adopts
orphans (on Linux, as the subreaper of what it starts), such a process becomes a child of the guard once its parent is
gone. The guard starts nothing but servers, so any other child of it is one of those: it is killed and reaped.
"""

import os
import signal
from contextlib import suppress
from pathlib import Path

import structlog

from mcpguard.domain.clock import Clock
from mcpguard.upstreams.transports.child import RUNNING

SWEEP_SECONDS = 5.0
log = structlog.get_logger("mcpguard.upstreams")


async def sweeping(clock: Clock) -> None:
    """Sweep from time to time, until cancelled. Only a process that adopts orphans and has no other children may."""
    while True:
        await clock.sleep(SWEEP_SECONDS)
        sweep()


def sweep() -> int:
    """Kill and reap every child that is no server. How many those were."""
    orphans = _children() - RUNNING
    for orphan in orphans:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(orphan, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(orphan, os.WNOHANG)  # if it is not gone yet, the next sweep finds it again
        log.warning("upstream.orphan", process=orphan)
    return len(orphans)


def _children() -> set[int]:
    """Our children; none where the system does not tell."""
    found: set[int] = set()
    for task in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            found.update(int(pid) for pid in task.read_text().split())
    return found
