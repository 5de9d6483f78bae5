"""Ends a process with everything that it started.

Its input is closed, then it gets SIGTERM, then SIGKILL, and with it everything in its group and all its descendants.
"""

import math
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import anyio
import structlog

from mcpguard.upstreams.process.child import Child
from mcpguard.upstreams.process.tree import Descendants

MOMENT = 0.5
log = structlog.get_logger("mcpguard.upstreams")


@dataclass(frozen=True, slots=True)
class StdioPatience:
    """How many seconds a server gets to end by itself after its input was closed, and after SIGTERM."""

    input_ended: float = 2.0
    terminated: float = 2.0


async def end_process(child: Child, patience: StdioPatience, last: Callable[[], None] = lambda: None) -> None:
    """End a process, its group and its descendants, and return once they are gone.

    `last` is called before its pipes are closed.
    """
    # Shielded: whoever is cancelled here would leave a server running that nobody knows of.
    with anyio.CancelScope(shield=True), Descendants(child.pid) as below:
        try:
            _look(child, below)  # before the first step: once the process has ended, its descendants cannot be found
            child.close_input()
            await _ended_within(child, patience.input_ended)
            _look(child, below)
            _signal_group(child.pid, signal.SIGTERM)
            await _ended_within(child, patience.terminated)
        finally:
            _look(child, below)
            # The group's signal reaches what stayed in the group after its leader ended; `below` reaches what has left
            # the group with setsid to escape that.
            _signal_group(child.pid, signal.SIGKILL)
            below.kill()
            try:
                await _ended_within(child, math.inf)
                await below.wait(MOMENT)
            finally:
                last()
                child.close()
        log.debug("upstream.ended", process=child.pid, code=child.code)


def _look(child: Child, below: Descendants) -> None:
    if child.code is None:  # otherwise the number may belong to another process by now
        below.look()


async def _ended_within(child: Child, seconds: float) -> None:
    if child.code is None:  # otherwise the number may belong to another process by now
        with anyio.move_on_after(seconds):
            await child.wait()


def _signal_group(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
