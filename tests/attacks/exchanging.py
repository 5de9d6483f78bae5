"""A program that waits until somebody has read a file, puts another one in its place, and may put the first one back.

`python exchanging.py FILE OTHER [back]`. It hears of the reading from the kernel, says `watching` when it does, and
what it has done then.
"""

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CLOSED_UNWRITTEN = 0x10
LIBRARY = ctypes.CDLL(None, use_errno=True)


def read_once(file: str) -> None:
    """Until somebody who has read the file closes it."""
    descriptor = LIBRARY.inotify_init1(os.O_CLOEXEC)
    if LIBRARY.inotify_add_watch(descriptor, file.encode(), CLOSED_UNWRITTEN) < 0:
        raise OSError(ctypes.get_errno(), file)
    print("watching", flush=True)  # noqa: T201 - this is how it tells
    os.read(descriptor, 4096)
    os.close(descriptor)


def exchange(file: str, other: str, *, back: bool) -> None:
    kept = f"{other}.kept"
    read_once(file)
    os.link(file, kept)
    Path(other).rename(file)
    print("exchanged", flush=True)  # noqa: T201 - likewise
    if back:
        os.link(file, other)
        Path(kept).rename(file)  # over the other one: there is a file at every moment
        print("back", flush=True)  # noqa: T201 - likewise


@contextmanager
def exchanged(file: Path, other: Path, *how: str) -> Iterator[subprocess.Popen[str]]:
    """Whoever does that, once the guard has read the file."""
    command = [sys.executable, __file__, str(file), str(other), *how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as attacker:
        try:
            assert attacker.stdout is not None
            assert attacker.stdout.readline() == "watching\n"
            yield attacker
        finally:
            attacker.kill()


if __name__ == "__main__":
    exchange(sys.argv[1], sys.argv[2], back="back" in sys.argv[3:])
