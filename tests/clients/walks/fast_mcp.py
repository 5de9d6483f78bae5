"""The walk of FastMCP 2.9 and 4. Its tools raise what they were told, and what is in `_meta` is not seen then."""

from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from fastmcp.exceptions import ToolError
from walking import headers, main, told


def transport(place):
    if "url" in place:
        return StreamableHttpTransport(place["url"], headers=headers(place))
    command, *words = place["command"]
    return StdioTransport(command, words, env=place["environ"])


async def called(client, call):
    try:
        result = await client.call_tool(call["tool"], call["arguments"])
    except ToolError as error:
        return {"failed": True, "text": str(error), "refusal": None}
    return told(result if isinstance(result, list) else result.content)


def revision(client):
    return client.protocol_version if hasattr(client, "protocol_version") else client.initialize_result.protocolVersion


async def walk(place):
    async with Client(transport(place), **({"mode": place["mode"]} if place["mode"] else {})) as client:
        said = {
            "revision": revision(client),
            "tools": [tool.name for tool in await client.list_tools()],
            "calls": [await called(client, call) for call in place["calls"]],
        }
        if "resource" in place:
            said["resource"] = (await client.read_resource(place["resource"]))[0].text
        if "prompt" in place:
            prompt = await client.get_prompt(place["prompt"], {"name": "Ada"})
            said["prompt"] = prompt.messages[0].content.text
        return said


main(walk)
