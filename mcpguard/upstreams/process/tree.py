"""What a process has started, and what that has started, as far as it is still below it.

Rules kept here:
1. A process is held by a descriptor of its own, so that no other one with its number is ever killed for it.
2. Where the system does not tell who descends from whom (it is Linux that does), nobody does.
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
    """Everything below it at this moment. It may be incomplete while somebody forks as fast as they can."""
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
    """The folders of its threads. It may end in any moment: then there are none."""
    with suppress(OSError), os.scandir(f"/proc/{process}/task") as entries:
        return [entry.path for entry in entries]
    return []


def resident(processes: Iterable[int]) -> int:
    """The bytes of memory that they occupy. What they share counts for each of them."""
    return sum(map(_resident, processes))


def _resident(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


class Descendants:
    """The processes below one, held on to."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._held: dict[int, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        while self._held:
            os.close(self._held.popitem()[1])

    def look(self) -> None:
        """Hold on to those that are there now. Only while the process itself has not been waited for."""
        for pid in descendants(self._process) - self._held.keys():
            with suppress(OSError):  # it is gone, or it cannot be held here
                self._held[pid] = os.pidfd_open(pid)

    def kill(self) -> None:
        for descriptor in self._held.values():
            with suppress(ProcessLookupError, PermissionError):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)

    async def ended(self, seconds: float) -> None:
        """Until they have all ended, or the time is over."""
        with anyio.move_on_after(seconds):
            for descriptor in self._held.values():
                await anyio.wait_readable(descriptor)
