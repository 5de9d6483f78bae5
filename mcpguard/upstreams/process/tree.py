"""Finds and kills the descendants of a process, as far as they are still below it in the process tree.

Rules kept here:
1. Each process is held by a descriptor (pidfd), so that a process that later reuses its PID is never killed in its
   place.
2. Only Linux reports which processes descend from which; elsewhere none are found.
"""

import os
import resource
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio

MOST = 10_000
PAGE = resource.getpagesize()


def descendants(process: int) -> set[int]:
    """Return the numbers of all processes below this one now. It may be incomplete while one of them keeps forking."""
    found, left = set[int](), [process]
    while left and len(found) < MOST:
        new = children(left.pop()) - found
        found |= new
        left.extend(new)
    return found


def children(process: int | str) -> set[int]:
    found = set[int]()
    for task in _tasks(process):
        with suppress(OSError):
            found.update(map(int, Path(task, "children").read_text().split()))
    return found


def _tasks(process: int | str) -> list[str]:
    """Return the folders of its threads; none if the process has just ended."""
    with suppress(OSError), os.scandir(f"/proc/{process}/task") as entries:
        return [entry.path for entry in entries]
    return []


def resident(processes: Iterable[int]) -> int:
    """Return the bytes of memory that the processes occupy. Shared memory counts for each of them."""
    return sum(map(_resident, processes))


def _resident(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


class Descendants:
    """The descendants of a process, held by descriptors."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._held: dict[int, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        while self._held:
            os.close(self._held.popitem()[1])

    def look(self) -> None:
        """Hold those that exist now. Only while the process itself has not been waited for."""
        for pid in descendants(self._process) - self._held.keys():
            with suppress(OSError):  # it is gone already, or this kernel has no pidfd
                self._held[pid] = os.pidfd_open(pid)

    def kill(self) -> None:
        for descriptor in self._held.values():
            with suppress(ProcessLookupError, PermissionError):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)

    async def wait(self, seconds: float) -> None:
        """Return once they have all ended, or when the time is over."""
        with anyio.move_on_after(seconds):
            for descriptor in self._held.values():
                await anyio.wait_readable(descriptor)
