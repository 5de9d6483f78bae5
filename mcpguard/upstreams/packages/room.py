"""What an installation takes, watched while it runs.

A folder that was given as writable is bounded by nothing but the disk; so it is looked at from time to time. Between
two looks there may be more: as much as can be written in that time.
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
from mcpguard.upstreams.sandbox.watching import within_memory

EVERY = 0.5
BLOCK = 512


def room(folder: Path, most: int, entries: int) -> Watch:
    """Ends it when the folder holds more than so many bytes, or files."""

    async def watch(_: int) -> str:
        while True:
            await anyio.sleep(EVERY)
            if await to_thread.run_sync(partial(_over, folder, most, entries), abandon_on_cancel=True):
                return f"it takes more than {most // MEBIBYTE} MiB or {entries} files"

    return watch


def memory(most: int) -> Watch:
    async def watch(process: int) -> str:
        await within_memory(process, most)
        return f"the installation took more than {most // MEBIBYTE} MiB of memory"

    return watch


def _over(folder: Path, most: int, entries: int) -> bool:
    taken = 0
    for count, about in enumerate(_all(folder), 1):
        taken += about.st_blocks * BLOCK
        if taken > most or count > entries:
            return True
    return False


def _all(folder: Path) -> Iterator[os.stat_result]:
    """Of a folder that changes meanwhile: what is gone already is nothing."""
    left = [str(folder)]
    while left:
        with suppress(OSError), os.scandir(left.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    yield entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
