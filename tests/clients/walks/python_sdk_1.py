"""The walk of the Python SDK 1."""

from contextlib import asynccontextmanager

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from walking import headers, main, told


@asynccontextmanager
async def session(place):
    if "url" in place:
        transport = streamablehttp_client(place["url"], headers=headers(place))
    else:
        command, *words = place["command"]
        transport = stdio_client(StdioServerParameters(command=command, args=words, env=place["environ"]))
    async with transport as (read, write, *_), ClientSession(read, write) as found:
        yield found


async def walk(place):
    async with session(place) as client:
        hello = await client.initialize()
        said = {
            "revision": hello.protocolVersion,
            "tools": [tool.name for tool in (await client.list_tools()).tools],
            "calls": [],
        }
        for call in place["calls"]:
            result = await client.call_tool(call["tool"], call["arguments"])
            said["calls"].append(told(result.content, result.meta, failed=bool(result.isError)))
        if "resource" in place:
            said["resource"] = (await client.read_resource(place["resource"])).contents[0].text
        if "prompt" in place:
            prompt = await client.get_prompt(place["prompt"], {"name": "Ada"})
            said["prompt"] = prompt.messages[0].content.text
        return said


main(walk)
