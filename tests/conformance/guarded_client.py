"""A whole guard as the suite's client scenarios start it: in front of the scenario's server, with a client of it.

What reaches the scenario's server is what the guard's upstream side says. `MCP_CONFORMANCE_CONTEXT` may name the calls.
"""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import anyio
from mcp.shared.inbound import mcp_param_headers, x_mcp_header_map

sys.path.insert(0, str(Path(__file__).parents[2]))

from mcpguard.domain.asks import AskKind
from mcpguard.domain.servers.launches import Era
from tests.gate import gate, remote
from tests.simulators.http_client import HttpClient
from tests.simulators.words import MODERN, Json


async def main(url: str) -> None:
    """Call what the scenario wants called; every tool once where it does not say."""
    version = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", MODERN)
    era = Era.MODERN if version >= MODERN else Era.LEGACY
    with tempfile.TemporaryDirectory() as folder:
        async with gate(Path(folder), remote("suite", url, era=era), may_ask={"suite": AskKind}) as guard:
            face = "/mcp/only/suite"
            client = guard.client(face) if era is Era.MODERN else await guard.legacy(face)
            client.on["elicitation/create"] = _filled_in
            await _calls(client)


async def _calls(client: HttpClient) -> None:
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    tools = {tool["name"]: tool for tool in (await client.request("tools/list")).result["tools"]}
    wanted = context.get("toolCalls") or [{"name": name, "arguments": _made_up(tool)} for name, tool in tools.items()]
    for call in wanted:
        if call["name"] in tools:
            params = {"name": call["name"], "arguments": call.get("arguments") or {}}
            await client.fulfil("tools/call", params, headers=_mirrored(tools[call["name"]], call))
    for kind, key, method, of in (
        ("resources/list", "resources", "resources/read", "uri"),
        ("prompts/list", "prompts", "prompts/get", "name"),
    ):
        reply = await client.request(kind)
        for one in (reply.message or {}).get("result", {}).get(key, []):
            await client.request(method, {of: one[of]})


def _filled_in(params: Json) -> Json:
    """What a person leaves as it is: the form's own values."""
    fields: dict[str, Any] = params["requestedSchema"]["properties"]
    content = {name: each["default"] for name, each in fields.items() if "default" in each}
    return {"action": "accept", "content": content}


def _mirrored(tool: Json, call: Json) -> dict[str, str]:
    """The client's own leg has to repeat arguments in headers as well."""
    return mcp_param_headers(x_mcp_header_map(tool["inputSchema"]), call.get("arguments") or {})


def _made_up(tool: Json) -> Json:
    wanted: dict[str, Any] = tool["inputSchema"].get("properties", {})
    values = {"number": 1, "integer": 1, "boolean": True, "string": "text"}
    return {name: values.get(each.get("type"), "") for name, each in wanted.items()}


if __name__ == "__main__":
    anyio.run(main, sys.argv[1])
