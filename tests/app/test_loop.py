"""Whoever stops waiting for a socket as something comes is not woken once more."""

import asyncio
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream
from anyio.lowlevel import checkpoint

pytestmark = pytest.mark.anyio


async def test_what_comes_as_nobody_waits_any_more_is_no_error(tmp_path: Path) -> None:
    wrong: list[object] = []
    loop = asyncio.get_running_loop()
    handler = loop.get_exception_handler()
    loop.set_exception_handler(lambda _, context: wrong.append(context))
    there: list[SocketStream] = []

    async def keep(stream: SocketStream) -> None:
        async with stream:
            there.append(stream)
            await anyio.sleep_forever()

    async with await anyio.create_unix_listener(tmp_path / "socket") as listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, keep)
        async with await anyio.connect_unix(tmp_path / "socket") as here:
            while not there:
                await checkpoint()
            for steps in range(40):
                async with anyio.create_task_group() as waiting:
                    waiting.start_soon(here.receive)
                    await checkpoint()
                    await checkpoint()
                    await there[0].send(b"x")
                    for _ in range(steps % 4):
                        await checkpoint()
                    waiting.cancel_scope.cancel()
                with anyio.move_on_after(0.001):
                    await here.receive()
            tasks.cancel_scope.cancel()
    loop.set_exception_handler(handler)
    assert wrong == []
