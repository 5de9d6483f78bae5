"""The workers of a guard as its machine sees them: which there are, what they compute, and their memory.

Only Linux tells this, and only there is a sandbox in which programs run.
"""

import os
import signal
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio

from mcpguard.engines.engine_worker import PACKAGE
from mcpguard.engines.engines import WORKER
from mcpguard.upstreams.process.tree import children, descendants, resident

PATIENCE: Final = 30.0
PAUSE: Final = 0.002
STEADY_SECONDS: Final = 0.06
"""A worker that has computed nothing for so long waits for its program."""
SAMPLE_SECONDS: Final = 0.005
MIB: Final = 1024 * 1024
_ENGINE: Final = "monty"
_COMMAND: Final = str(PACKAGE / WORKER.name).encode()
Tree = frozenset[int]


def computed_seconds(process: int) -> float:
    """The processor time of all threads of a process, also of those that have ended; 0 once it is gone."""
    with suppress(OSError):
        return time.clock_gettime((~process << 3) | 2)  # the number that the kernel gives this clock
    return 0.0


def worker_trees(guard: int) -> dict[int, Tree]:
    """Every worker of the guard by its first process, each with all processes that belong to it."""
    return {first: frozenset({first} | descendants(first)) for first in children(guard) if _is_worker(first)}


async def waiting_worker(guard: int) -> tuple[int, Tree]:
    """The only worker of the guard, once it waits for a program."""
    with anyio.fail_after(PATIENCE):
        before: Mapping[int, float] = {}
        while True:
            trees = worker_trees(guard)
            tree = next(iter(trees.values()), frozenset())
            now = {process: computed_seconds(process) for process in tree}
            if len(trees) == 1 and now == before and any(_name(process) == _ENGINE for process in tree):
                return next(iter(trees.items()))
            before = now
            await anyio.sleep(STEADY_SECONDS)


async def end_waiting_worker(guard: int) -> None:
    """Kill it, and return once the guard has noticed that."""
    first, _ = await waiting_worker(guard)
    os.kill(first, signal.SIGKILL)
    with anyio.fail_after(PATIENCE):
        while True:
            if first not in children(guard):
                return
            await anyio.sleep(PAUSE)


class MemoryWatch:
    """The most memory that the guard and one worker had while it was looked at, and what workers have computed."""

    def __init__(self, guard: int) -> None:
        self.guard_bytes = 0
        self.worker_bytes = 0
        self._guard = guard
        self._computed: dict[int, float] = {}

    def look(self) -> None:
        self.guard_bytes = max(self.guard_bytes, resident([self._guard]))
        for tree in worker_trees(self._guard).values():
            self.worker_bytes = max(self.worker_bytes, resident(tree))
            for process in tree:
                self._computed[process] = max(self._computed.get(process, 0.0), computed_seconds(process))

    async def keep_looking(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            self.look()
            await anyio.sleep(SAMPLE_SECONDS)

    def computed_without(self, tree: Iterable[int]) -> float:
        """What all workers but this one have computed in their whole lives, up to the last look at each."""
        return sum(seconds for process, seconds in self._computed.items() if process not in set(tree))


def _is_worker(process: int) -> bool:
    """Whether it is the first process of a worker. What has lost its parent becomes a child of the guard as well."""
    with suppress(OSError):
        command = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
        return _COMMAND in command and os.getsid(process) == process
    return False


def _name(process: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{process}/comm").read_text().strip()
    return ""
