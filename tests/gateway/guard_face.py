"""Agents at the guard face, over both transports and in both eras, and what its tools answer them."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.lowlevel import checkpoint

from tests.gate import Gate
from tests.patience import PATIENCE
from tests.simulators.client import RawClient
from tests.simulators.script import Script
from tests.simulators.words import Json

FACE = "/mcp"


@asynccontextmanager
async def agent(guard: Gate, how: str = "http modern", token: str | None = None) -> AsyncIterator[RawClient]:
    transport, era = how.split()
    if transport == "stream":
        async with guard.stream(modern=era == "modern", face="guard", token=token) as client:
            if era == "legacy":
                await client.initialize()
            yield client
    else:
        yield guard.client(FACE, token=token) if era == "modern" else await guard.legacy(FACE, token=token)


async def answer(client: RawClient, tool: str, **arguments: Any) -> Json:  # noqa: ANN401 - JSON
    """What one of the face's tools answers."""
    result = (await client.call(tool, arguments)).result
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    found: Json = result["structuredContent"]
    return found


async def refused(client: RawClient, tool: str, **arguments: Any) -> Json:  # noqa: ANN401 - JSON
    result = (await client.call(tool, arguments)).result
    assert result["isError"] is True
    found: Json = result["_meta"]["mcpguard/refusal"]
    assert (found["status"], found["executed"]) == ("refused", "no")
    return found


async def found(client: RawClient, query: str, **more: Any) -> Json:  # noqa: ANN401 - JSON
    """What is found, once the index has followed."""
    with anyio.fail_after(PATIENCE):
        while not (said := await answer(client, "retrieve_tools", query=query, **more))["tools"]:
            await checkpoint()
    return said


def calls_to(script: Script) -> list[Any]:
    return [message["params"]["name"] for message in script.calls if message["method"] == "tools/call"]
