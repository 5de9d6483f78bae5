"""Kills a confined process and its descendants when their total memory exceeds the limit.

The kernel limits each process; only a control group, which is not used here, would limit their total. So their memory
is measured at intervals, and all are killed when it is too much. Between two measurements it may grow by as much as
they can write in that time.

Resident memory counts, and so does every file in /tmp and /dev/shm: even an empty file takes memory, which the size
limit of a file system does not cover. Buffers of pipes and sockets do not count.
"""

import os
import signal
from contextlib import suppress
from pathlib import Path

import anyio
import structlog
from anyio import CapacityLimiter, to_thread

from mcpguard.upstreams.process.tree import Descendants, descendants, resident
from mcpguard.upstreams.sandbox.bwrap_command import SHARED_MEMORY, TEMPORARY

EVERY = 0.25
FOR_A_FILE = 1024
"""Measured: the kernel's memory for an empty file with its name."""
log = structlog.get_logger("mcpguard.upstreams")


async def watch_memory(process: int, most: int) -> None:
    """Watch until cancelled, or until the limit was exceeded and the processes were killed.

    Only while the process has not been waited for: its number may belong to another process afterwards.
    """
    while True:
        await anyio.sleep(EVERY)
        taken = await to_thread.run_sync(_taken, process, limiter=CapacityLimiter(1), abandon_on_cancel=True)
        # Killed and not asked: a process that allocates this fast could exhaust the host before it answers.
        if taken > most:
            log.warning("upstream.memory", process=process, taken=taken, most=most)
            with Descendants(process) as below:
                # Held before the first is killed: once their parent is gone, nothing leads to the others any more.
                below.look()
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process, signal.SIGKILL)
                below.kill()
            return


def _taken(process: int) -> int:
    """Return the bytes that the process and its descendants use. Slow for many processes: call it in a thread."""
    below = descendants(process)
    return resident({process, *below}) + FOR_A_FILE * _files(below)


def _files(below: set[int]) -> int:
    """Return the number of files in the in-memory file systems that the innermost process sees."""
    # The outer processes are bubblewrap's own, which see the host's /tmp.
    innermost = max(below, key=_depth, default=None)
    if innermost is None or _depth(innermost) == _depth(os.getpid()):
        return 0  # not confined yet, or gone already: those file systems would be the host's
    found = 0
    for folder in (TEMPORARY, SHARED_MEMORY):
        with suppress(OSError):
            about = os.statvfs(f"/proc/{innermost}/root{folder}")
            found += about.f_files - about.f_ffree
    return found


def _depth(process: int) -> int:
    """Return how many process namespaces a process is inside of."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("NSpid:"):
                return len(line.split())
    return 0
