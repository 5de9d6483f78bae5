"""What an installation takes, watched while it runs.

A folder that was given as writable is bounded by nothing but the disk; so it is looked at from time to time. Between
two looks there may be more: as much as can be written in that time. What cannot be looked at cannot be counted, so it
is too much: a path that is longer here than inside the sandbox would be a place without bounds.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio
from anyio import to_thread

from mcpguard.upstreams.packages.running import Watch
from mcpguard.upstreams.sandbox.limits import MEBIBYTE
from mcpguard.upstreams.sandbox.memory_watch import within_memory

EVERY = 0.5
BLOCK = 512
_GONE = (FileNotFoundError, NotADirectoryError)


def room(folder: Path, most: int, entries: int) -> Watch:
    """Ends it when the folder holds more than so many bytes, or files, or what cannot be counted."""

    async def watch(_: int) -> str:
        while True:
            await anyio.sleep(EVERY)
            if why := await to_thread.run_sync(partial(too_much, folder, most, entries), abandon_on_cancel=True):
                return why

    return watch


def memory(most: int) -> Watch:
    async def watch(process: int) -> str:
        await within_memory(process, most)
        return f"the installation took more than {most // MEBIBYTE} MiB of memory"

    return watch


def too_much(folder: Path, most: int, entries: int) -> str:
    """Why it has to end, or nothing."""
    taken = 0
    try:
        for count, about in enumerate(_all(folder), 1):
            taken += about.st_blocks * BLOCK
            if taken > most or count > entries:
                return f"it takes more than {most // MEBIBYTE} MiB or {entries} files"
    except OSError as error:
        return f"it writes what cannot be looked at: {error.strerror}"
    return ""


def _all(folder: Path) -> Iterator[os.stat_result]:
    """Of a folder that changes meanwhile: what is gone already is nothing."""
    left = [str(folder)]
    while left:
        with suppress(*_GONE), os.scandir(left.pop()) as entries:
            for entry in entries:
                with suppress(*_GONE):
                    yield entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
