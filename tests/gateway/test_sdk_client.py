"""The MCP SDK's own client, which checks what it gets against its own models, in both eras and at both faces."""

from pathlib import Path

import anyio
import pytest
from mcp import Client, MCPError
from mcp.shared.subscriptions import ToolsListChanged
from mcp_types import PromptReference, ResourceTemplateReference, TextContent

from tests.gate import DIRECT, Gate
from tests.gateway.speaking import ONLY, changed, guarded
from tests.simulators.asked import Asked
from tests.simulators.script import Script
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
MODES = ("legacy", "auto", "2026-07-28")
SCHEMA: Json = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}


def scripted() -> Script:
    async def suggest(asked: Asked) -> Json:
        return {"completion": {"values": [asked.params["argument"]["value"] + "!"], "total": 1, "hasMore": False}}

    script = Script()
    script.answers["completion/complete"] = suggest
    script.tool("sql", lambda asked: {"content": [], "structuredContent": asked.arguments}, inputSchema=SCHEMA)
    return script


def faces(guard: Gate) -> list[tuple[str, str]]:
    """Where to connect, and what stands before a name there."""
    return [(guard.where.url + DIRECT, "web::"), (guard.where.url + ONLY + "web", "")]


@pytest.mark.parametrize("mode", MODES)
async def test_everything_is_used_as_if_there_were_no_guard(mode: str, tmp_path: Path) -> None:
    async with guarded(tmp_path, scripted()) as guard:
        for url, before in faces(guard):
            async with Client(url, mode=mode) as client:
                assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
                if mode != "2026-07-28":
                    assert client.server_capabilities.tools is not None
                    assert client.server_info is not None
                    assert client.server_info.name == "mcpguard"
                tools = (await client.list_tools()).tools
                assert f"{before}echo" in [tool.name for tool in tools]
                steps: list[float] = []

                told = await client.call_tool(f"{before}progress", {"steps": 4}, progress_callback=Steps(steps))
                assert isinstance(told.content[0], TextContent)
                assert told.content[0].text == "4 steps"
                while len(steps) < 4:  # the SDK hands them over in tasks of their own
                    await anyio.lowlevel.checkpoint()
                assert steps == [1, 2, 3, 4]
                said = await client.call_tool(f"{before}sql", {"region": "\u00fc"})
                assert said.structured_content == {"region": "\u00fc"}
                assert (await client.call_tool(f"{before}fail", {})).is_error
                await read(client, before)


class Steps:
    """Notes how far a call is."""

    def __init__(self, steps: list[float]) -> None:
        self._steps = steps

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        assert total is not None
        assert message is not None
        self._steps.append(progress)


async def read(client: Client, before: str) -> None:
    """Resources, prompts and completions."""
    (resource,) = (await client.list_resources()).resources
    assert (await client.read_resource(str(resource.uri))).contents
    (template,) = (await client.list_resource_templates()).resource_templates
    numbered = await client.read_resource(template.uri_template.replace("{number}", "5"))
    assert numbered.contents[0].text == "note 5"  # type: ignore[union-attr]
    (prompt,) = (await client.list_prompts()).prompts
    assert prompt.name == f"{before}greet"
    assert (await client.get_prompt(prompt.name, {"name": "you"})).messages
    argument = {"name": "name", "value": "x"}
    by_prompt = PromptReference(type="ref/prompt", name=prompt.name)
    assert (await client.complete(by_prompt, argument)).completion.values == ["x!"]
    by_template = ResourceTemplateReference(type="ref/resource", uri=template.uri_template)
    assert (await client.complete(by_template, argument)).completion.values == ["x!"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_refusal_is_understood(mode: str, tmp_path: Path) -> None:
    async with guarded(tmp_path, scripted()) as guard, Client(guard.where.url + DIRECT, mode=mode) as client:
        told = await client.call_tool("web::nothing", {})
        assert told.is_error
        assert told.meta is not None
        assert told.meta["mcpguard/refusal"]["reason"] == "capability:unknown"
        with pytest.raises(MCPError) as raised:
            await client.get_prompt("web::nothing")
        assert raised.value.error.code == -32602
        assert raised.value.error.data["executed"] == "no"
        with pytest.raises(MCPError) as raised:
            await client.list_tools(cursor="nonsense")
        assert raised.value.error.code == -32602


async def test_a_modern_client_listens(tmp_path: Path) -> None:
    script = Script("legacy")
    async with guarded(tmp_path, script) as guard, Client(guard.where.url + DIRECT) as client:
        assert client.protocol_version == "2026-07-28"
        async with client.listen(tools_list_changed=True) as heard:
            script.tools.clear()
            await changed(guard, script)
            assert isinstance(await anext(aiter(heard)), ToolsListChanged)


@pytest.mark.parametrize("mode", MODES)
async def test_a_call_that_is_given_up_is_taken_back(mode: str, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard, Client(guard.where.url + DIRECT, mode=mode) as client:
        with anyio.CancelScope() as given_up:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "web::slow")
                await script.until(lambda: script.held == 1)
                given_up.cancel()
        await script.until(lambda: script.abandoned)
        while "outcome" not in (entry := guard.entries()[0]):
            await anyio.lowlevel.checkpoint()
        assert (entry["outcome"], entry["executed"]) == ("cancelled", "unknown")
        assert not (await client.call_tool("web::echo", {})).is_error, "and the connection goes on"
