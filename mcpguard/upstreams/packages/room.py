"""Watches how much disk space and memory an installation takes while it runs.

Only the disk limits the size of a writable folder, so it is measured at intervals. Between two measurements it may grow
by as much as can be written in that time. An entry that cannot be read counts as too much: otherwise an attacker could
evade the limit with a path that is too long outside the sandbox, but not inside.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio
from anyio import to_thread

from mcpguard.upstreams.packages.program_run import Watch
from mcpguard.upstreams.sandbox.limits import MEBIBYTE
from mcpguard.upstreams.sandbox.memory_watch import watch_memory

EVERY = 0.5
BLOCK = 512
_GONE = (FileNotFoundError, NotADirectoryError)


def room(folder: Path, most: int, entries: int) -> Watch:
    """Return a watch that ends the installation once the folder exceeds the bytes or entries, or cannot be measured."""

    async def watch(_: int) -> str:
        while True:
            await anyio.sleep(EVERY)
            if why := await to_thread.run_sync(partial(too_much, folder, most, entries), abandon_on_cancel=True):
                return why

    return watch


def memory(most: int) -> Watch:
    async def watch(process: int) -> str:
        await watch_memory(process, most)
        return f"the installation used more than {most // MEBIBYTE} MiB of memory"

    return watch


def too_much(folder: Path, most: int, entries: int) -> str:
    """Return why the installation has to end, or an empty text."""
    taken = 0
    try:
        for count, about in enumerate(_all(folder), 1):
            taken += about.st_blocks * BLOCK
            # Entries are limited as well: a million empty files take no bytes that are counted here, but fill the
            # disk's inodes.
            if taken > most or count > entries:
                return f"it uses more than {most // MEBIBYTE} MiB or {entries} files"
    except OSError as error:
        return f"it wrote an entry that cannot be read: {error.strerror}"
    return ""


def _all(folder: Path) -> Iterator[os.stat_result]:
    """Yield every entry of a folder that changes meanwhile; an entry that is gone already counts as nothing."""
    left = [str(folder)]
    while left:
        with suppress(*_GONE), os.scandir(left.pop()) as entries:
            for entry in entries:
                with suppress(*_GONE):
                    yield entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
