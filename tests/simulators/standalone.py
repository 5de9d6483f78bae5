"""A script in a process of its own, that nobody controls: for benchmarks, and for programs that only take a command."""

import os
import sys

import anyio
from anyio import to_thread

from tests.simulators.script import Script
from tests.simulators.spoken import Spoken

CHUNK = 65_536


def play(script: Script | None = None) -> None:
    """Speak on the standard streams until the input ends."""
    anyio.run(_play, script or Script(*sys.argv[1:]))


async def _play(script: Script) -> None:
    async with anyio.create_task_group() as tasks:
        with Spoken(script, tasks, _write, _end) as spoken:
            while data := await to_thread.run_sync(os.read, 0, CHUNK):
                spoken.feed(data)
            tasks.cancel_scope.cancel()


async def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


async def _end() -> None:
    sys.stdout.flush()
    os._exit(0)
