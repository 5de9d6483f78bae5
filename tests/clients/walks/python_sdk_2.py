"""The walk of the Python SDK 2."""

from contextlib import AsyncExitStack, asynccontextmanager

import httpx2
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from walking import headers, main, told


@asynccontextmanager
async def connected(place):
    async with AsyncExitStack() as stack:
        if "url" in place:
            http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers(place), timeout=60))
            transport = streamable_http_client(place["url"], http_client=http)
        else:
            command, *words = place["command"]
            transport = stdio_client(StdioServerParameters(command=command, args=words, env=place["environ"]))
        yield await stack.enter_async_context(Client(transport, mode=place["mode"]))


async def walk(place):
    async with connected(place) as client:
        said = {
            "revision": client.protocol_version,
            "tools": [tool.name for tool in (await client.list_tools()).tools],
            "calls": [],
        }
        for call in place["calls"]:
            result = await client.call_tool(call["tool"], call["arguments"])
            said["calls"].append(told(result.content, result.meta, failed=bool(result.is_error)))
        if "resource" in place:
            said["resource"] = (await client.read_resource(place["resource"])).contents[0].text
        if "prompt" in place:
            prompt = await client.get_prompt(place["prompt"], {"name": "Ada"})
            said["prompt"] = prompt.messages[0].content.text
        return said


main(walk)
