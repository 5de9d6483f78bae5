"""The memory of a confined process and all below it, held to its limit.

The kernel bounds each process, and would bound all of them where a control group can be had. Where none can, what
they occupy together is looked at from time to time, and all are killed when it is too much. Between two looks there
may be more: as much as they can write in that time.
"""

import os
import signal
from contextlib import suppress

import anyio
import structlog

from mcpguard.upstreams.transports.tree import Descendants, resident

EVERY = 0.25
log = structlog.get_logger("mcpguard.upstreams")


async def within_memory(process: int, most: int) -> None:
    """Until cancelled, or until it was killed for what it took; what follows is what follows whenever a server ends.

    Not to be run any longer than the process is there and has not been waited for.
    """
    while True:
        await anyio.sleep(EVERY)
        taken = resident(process)
        if taken > most:
            log.warning("upstream.memory", process=process, taken=taken, most=most)
            with Descendants(process) as below:
                below.look()
                below.kill()
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process, signal.SIGKILL)
            return
