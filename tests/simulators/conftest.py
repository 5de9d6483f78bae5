"""Every way to reach a script, for tests that hold on all of them."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters

from tests.simulators.over_http import HttpFace, serving_http
from tests.simulators.over_sse import serving_sse
from tests.simulators.processes import controlled
from tests.simulators.responding import Replies
from tests.simulators.script import Script

WAYS = ("http auto", "http json", "http sse", "stdio", "old sse")


@asynccontextmanager
async def reachable(script: Script, way: str, folder: Path) -> AsyncIterator[Any]:
    """What the SDK's client takes as a server."""
    match way.split():
        case ["http", replies]:
            face = HttpFace(script)
            face.replies = Replies(replies)
            async with serving_http(face) as url:
                yield url
        case ["stdio"]:
            async with controlled(script, folder) as server:
                yield StdioServerParameters(command=server.command, args=list(server.arguments))
        case _:
            async with serving_sse(script) as url:
                yield sse_client(url)


@pytest.fixture(params=[(way, mode) for way in WAYS for mode in ("legacy", "auto")], ids=" ".join)
def way(request: pytest.FixtureRequest) -> tuple[str, str]:
    """A transport and the mode of the SDK's client. The old transport knows one era only."""
    found: tuple[str, str] = request.param
    return found


@pytest.fixture
def script(way: tuple[str, str]) -> Script:
    return Script("legacy") if way[0] == "old sse" else Script()


@pytest.fixture
async def server(script: Script, way: tuple[str, str], tmp_path: Path) -> AsyncIterator[Any]:
    """The script, reachable in this way."""
    opened: AbstractAsyncContextManager[Any] = reachable(script, way[0], tmp_path)
    async with opened as found:
        yield found
