"""Clients that nobody here wrote, in the versions that people have, in front of a real guard: each does what agents do,
and can read why it was refused.

What each sees is the same, whichever client it is, and so is what the audit log has of it.
"""

import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import pytest

from mcpguard.codec.uris import wrap_uri
from mcpguard.domain.reasons import Reason
from mcpguard.gateway.tools.answers import OWN as UNUSABLE
from mcpguard.gateway.tools.definitions import tool_definitions
from mcpguard.settings.model import Settings
from tests.attacks.sandboxed import works
from tests.clients import installed
from tests.conformance import tools
from tests.gate import Gate
from tests.gateway.speaking import EVERYTHING, TOKEN, callers, changed, guarded
from tests.process import MCPGUARD, environment
from tests.simulators.asked import Asked
from tests.simulators.built_in import NUMBER, schema
from tests.simulators.script import Script
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
WALKS = Path(__file__).parent / "walks"
LEGACY, MODERN = "2025-11-25", "2026-07-28"
OWN_TOOLS = sorted(tool["name"] for tool in tool_definitions(Settings.model_validate({"code": {"enabled": True}})))


@dataclass(frozen=True)
class Client:
    """A client in a version. `mode`: how it is told which era to speak, where it can be told. `meta`: whether it shows
    what is in `_meta` of a refusal."""

    walk: str
    where: str
    revision: str | None
    mode: str | None = None
    meta: bool = True

    @property
    def command(self) -> Sequence[str]:
        if self.walk.endswith(".mjs"):
            return str(tools.node()), str(WALKS / self.walk), self.where
        return str(installed.for_python(self.where)), str(WALKS / self.walk)


CLIENTS = {
    "TypeScript SDK 1.12": Client("typescript_sdk_1.mjs", "sdk-1-12", None),
    "TypeScript SDK 1": Client("typescript_sdk_1.mjs", "sdk-1", LEGACY),
    "TypeScript SDK 2, handshake": Client("typescript_sdk_2.mjs", "client-2", LEGACY, "legacy"),
    "TypeScript SDK 2": Client("typescript_sdk_2.mjs", "client-2", MODERN, "auto"),
    "Python SDK 1": Client("python_sdk_1.py", "python-sdk-1", LEGACY),
    "Python SDK 2, handshake": Client("python_sdk_2.py", "python-sdk-2", LEGACY, "legacy"),
    "Python SDK 2": Client("python_sdk_2.py", "python-sdk-2", MODERN, "auto"),
    "FastMCP 2.9": Client("fast_mcp.py", "fastmcp-2.9", "2025-03-26", meta=False),
    "FastMCP 4, handshake": Client("fast_mcp.py", "fastmcp-4", LEGACY, "legacy", meta=False),
    "FastMCP 4": Client("fast_mcp.py", "fastmcp-4", MODERN, "auto", meta=False),
}


@dataclass(frozen=True)
class Ask:
    """A call of a tool. `said`: what the text of the answer begins with; `own`: the guard answers by itself, so that it
    is no call of a server."""

    tool: str
    arguments: Json
    said: str
    reason: Reason | None = None
    own: bool = False


def refused(tool: str, arguments: Json, reason: Reason) -> Ask:
    return Ask(tool, arguments, reason.sentence, reason)


ADD, WRONG = {"a": 2, "b": 3}, {"a": "x", "b": 1}
PROXY = {"action": "call", "type": "tool", "path": "web::add", "args": WRONG}
OWN = (
    Ask("retrieve_tools", {"query": "add two numbers"}, '{"tools":', own=True),
    Ask("describe_tool", {"names": ["web:add"]}, '{"tools":', own=True),
    Ask("upstream_servers", {"operation": "list"}, '{"servers":', own=True),
    Ask("retrieve_tools", {"query": "x", "limit": 1000}, UNUSABLE, Reason.ARGUMENTS_INVALID, own=True),
    Ask("describe_tool", {"names": []}, UNUSABLE, Reason.ARGUMENTS_INVALID, own=True),
    replace(refused("upstream_servers", {"operation": "add"}, Reason.AUTHORITY_PERSON), own=True),
    refused("call_tool_destructive", {"name": "web:add", "arguments": WRONG}, Reason.ARGUMENTS_INVALID),
    refused("call_tool_destructive", {"name": "web:nothing", "arguments": {}}, Reason.CAPABILITY_UNKNOWN),
    refused("proxy", PROXY, Reason.ARGUMENTS_INVALID),
    Ask("call_tool_read", {"name": "web:add", "arguments": ADD}, "5"),
    Ask(
        "code_execution",
        {"code": "call_tool('web', 'add', input)['result']['sum']", "input": ADD},
        '{"ok":true,"value":5',
    ),
    Ask("code_execution", {"code": "1 +"}, '{"ok":false,"error":{"code":"SYNTAX_ERROR"', own=True),
)
DIRECT = (
    Ask("web::add", ADD, "5"),
    refused("web::add", WRONG, Reason.ARGUMENTS_INVALID),
    refused("web::progress", {"steps": -1}, Reason.ARGUMENTS_INVALID),
    refused("web::nothing", {}, Reason.CAPABILITY_UNKNOWN),
)
ONLY = (Ask("add", ADD, "5"), refused("add", WRONG, Reason.ARGUMENTS_INVALID))
CHANGED = (Ask("web::turn", {}, "turned"), refused("web::turned", {}, Reason.CAPABILITY_CHANGED))
ASKED = {"/mcp": OWN, "/mcp/all": DIRECT, "/mcp/only/web": ONLY, "stdio": DIRECT, "changed": CHANGED}
LISTED = ["add", "ask", "big", "echo", "fail", "progress", "slow", "turn", "turned"]


@asynccontextmanager
async def met(folder: Path) -> AsyncIterator[tuple[Gate, Script]]:
    """A guard in front of a server of which a tool, `turned`, becomes another when `turn` is called."""
    script = Script()

    async def turn(asked: Asked) -> Json:
        tool = next(each for each in asked.script.tools if each["name"] == "turned")
        tool["description"] = "Another."
        await changed(guard, script)
        return {"content": [{"type": "text", "text": "turned"}]}

    script.tool("turn", turn)
    script.tool("turned", "never", outputSchema=schema("sum", sum=NUMBER))
    works()
    async with guarded(folder, script, callers=callers(**{TOKEN: EVERYTHING}), code__enabled=True) as guard:
        yield guard, script


def places(guard: Gate, client: Client) -> list[Json]:
    """Where the walk goes, and what it does there. It lists the tools first, at each."""
    url, data_dir = guard.where.url, str(guard.now.settings.data_dir)
    command = [sys.executable, *MCPGUARD[1:], "stdio", "--face", "direct", "--data-dir", data_dir]
    found: dict[str, Json] = {
        "/mcp": {},
        "/mcp/": {},
        "/mcp/all": {"resource": wrap_uri("web", "note://first"), "prompt": "web::greet"},
        "/mcp/all/": {},
        "/mcp/only/web": {},
        "/mcp/only/web/": {"resource": "note://first", "prompt": "greet"},
        "stdio": {"command": command, "environ": environment({"MCPGUARD_TOKEN": TOKEN})},
        "changed": {"url": f"{url}/mcp/all"},
    }
    for name, place in found.items():
        calls = [{"tool": each.tool, "arguments": each.arguments} for each in ASKED.get(name, ())]
        place |= {"name": name, "token": TOKEN, "mode": client.mode, "calls": calls}
        if name.startswith("/"):
            place["url"] = url + name
    return list(found.values())


async def walked(client: Client, guard: Gate) -> Json:
    said = json.dumps(places(guard, client)).encode()
    done = await anyio.run_process(
        client.command, input=said, cwd=installed.for_node(), env=tools.environment(), check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    seen: Json = json.loads(done.stdout)
    return seen


def read(call: Json, ask: Ask, client: Client) -> None:
    """The client says what was answered, or that it was refused, and why."""
    assert (call["failed"], call["text"].startswith(ask.said)) == (ask.reason is not None, True), call
    if client.meta and ask.reason:
        assert (call["refusal"]["reason"], call["refusal"]["executed"]) == (ask.reason.value, "no"), call
    else:
        assert call["refusal"] is None, call


@pytest.mark.parametrize("name", CLIENTS)
async def test_a_client_does_what_agents_do_and_reads_why_it_is_refused(name: str, tmp_path: Path) -> None:
    client = CLIENTS[name]
    async with met(tmp_path) as (guard, script):
        seen = await walked(client, guard)
        assert {place["revision"] for place in seen.values()} == {client.revision}
        qualified = [f"web::{tool}" for tool in LISTED]
        listed = {"/mcp": OWN_TOOLS, "/mcp/all": qualified, "/mcp/only/web": LISTED}
        listed |= {f"{path}/": names for path, names in listed.items()} | {"stdio": qualified, "changed": qualified}
        assert {path: sorted(place["tools"]) for path, place in seen.items()} == listed
        for path, asked in ASKED.items():
            for call, ask in zip(seen[path]["calls"], asked, strict=True):
                read(call, ask, client)
        for path in ("/mcp/all", "/mcp/only/web/"):
            assert (seen[path]["resource"], seen[path]["prompt"]) == ("a note", "Greet Ada.")
        calls = [ask for asked in ASKED.values() for ask in asked if not ask.own]
        sent = [ask for ask in calls if ask.reason is None]
        assert len(script.called("tools/call")) == len(sent), "what was refused never reached the server"
        kept = [each["reason"] for each in guard.entries() if each["outcome"] == "refused"]
        assert kept == [ask.reason.value for ask in calls if ask.reason], "each refusal is one entry"
