"""A server over HTTP that goes when it is told to."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskStatus

from tests.simulators.over_http import serving_http
from tests.simulators.script import Script


class Leaving:
    """It is at `url` until it goes."""

    def __init__(self, script: Script) -> None:
        self.url = ""
        self._script = script
        self._leave = anyio.Event()
        self._gone = anyio.Event()

    async def serve(self, *, task_status: TaskStatus[None]) -> None:
        async with serving_http(self._script) as self.url:
            task_status.started()
            await self._leave.wait()
        self._gone.set()

    async def go(self) -> None:
        self._leave.set()
        await self._gone.wait()


@asynccontextmanager
async def leaving(script: Script) -> AsyncIterator[Leaving]:
    async with anyio.create_task_group() as tasks:
        server = Leaving(script)
        await tasks.start(server.serve)
        yield server
        await server.go()
