"""The server made with the SDK, in a process of its own: started as anybody would start it."""

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import ByteReceiveStream
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.patience import PATIENCE
from tests.process import ROOT, environment

COMMAND = (sys.executable, "-m", "tests.conformance.sdk_server")
_RUNS = b"Uvicorn running on "
_LONGEST_LINE = 65_536


@asynccontextmanager
async def serving_sdk() -> AsyncIterator[str]:
    """The URL of the server over streamable HTTP, for as long as the block runs."""
    process = await anyio.open_process(
        [*COMMAND, "--port", "0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=environment({}),
    )
    assert process.stderr is not None
    try:
        with anyio.fail_after(PATIENCE):
            address = await _address(BufferedByteReceiveStream(process.stderr))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_drain, process.stderr)
            yield f"{address}/mcp"
            tasks.cancel_scope.cancel()
    finally:
        process.kill()
        with anyio.CancelScope(shield=True):
            await process.aclose()


async def _address(log: BufferedByteReceiveStream) -> str:
    """Where it listens, which it says once it does."""
    while True:
        _, found, address = (await log.receive_until(b"\n", _LONGEST_LINE)).partition(_RUNS)
        if found:
            return address.split()[0].decode()


async def _drain(log: ByteReceiveStream) -> None:
    """Read what else it says, so that it never waits for somebody to do so."""
    async for _ in log:
        pass
