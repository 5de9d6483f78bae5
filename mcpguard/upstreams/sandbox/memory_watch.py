"""The memory of a confined process and all below it, held to its limit.

The kernel bounds each process, and would bound all of them where a control group can be had. As none is used, what they
occupy together is looked at from time to time, and all are killed when it is too much. Between two looks there may be
more: as much as they can write in that time.

What counts is what is resident, and every file in /tmp and /dev/shm: an empty one takes memory too, and no size of a
file system bounds that. What the kernel keeps in pipes and sockets does not count.
"""

import os
import signal
from contextlib import suppress
from pathlib import Path

import anyio
import structlog
from anyio import CapacityLimiter, to_thread

from mcpguard.upstreams.process.tree import Descendants, descendants, resident
from mcpguard.upstreams.sandbox.wrapping import SHARED_MEMORY, TEMPORARY

EVERY = 0.25
FOR_A_FILE = 1024
"""Measured: the kernel's part of an empty file in memory, with its name."""
log = structlog.get_logger("mcpguard.upstreams")


async def within_memory(process: int, most: int) -> None:
    """Until cancelled, or until it was killed for what it took; what follows is what follows whenever a server ends.

    Not to be run any longer than the process is there and has not been waited for.
    """
    while True:
        await anyio.sleep(EVERY)
        taken = await to_thread.run_sync(_taken, process, limiter=CapacityLimiter(1), abandon_on_cancel=True)
        if taken > most:
            log.warning("upstream.memory", process=process, taken=taken, most=most)
            with Descendants(process) as below:
                below.look()
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process, signal.SIGKILL)
                below.kill()
            return


def _taken(process: int) -> int:
    """With many processes it takes long, and nobody else is to wait for it."""
    below = descendants(process)
    return resident({process, *below}) + FOR_A_FILE * _files(below)


def _files(below: set[int]) -> int:
    """How many there are in the file systems in memory that the innermost of the processes sees."""
    innermost = max(below, key=_depth, default=None)
    if innermost is None or _depth(innermost) == _depth(os.getpid()):
        return 0  # it is not confined yet, or no longer there: what it sees is everybody's
    found = 0
    for folder in (TEMPORARY, SHARED_MEMORY):
        with suppress(OSError):
            about = os.statvfs(f"/proc/{innermost}/root{folder}")
            found += about.f_files - about.f_ffree
    return found


def _depth(process: int) -> int:
    """How many times its number has been counted anew above it."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("NSpid:"):
                return len(line.split())
    return 0
