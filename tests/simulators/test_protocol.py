"""The script speaks the protocol: the SDK's own client says so, in both eras and over every transport."""

from typing import Any

import anyio
import pytest
from mcp.client import Client, ClientRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitRequestParams, ElicitResult, TextContent

from tests.simulators.script import Script

pytestmark = pytest.mark.anyio


def said(result: Any) -> str:  # noqa: ANN401 - a result of the SDK
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    assert context is not None
    assert params.message == "Who is it?"
    return ElicitResult(action="accept", content={"name": "Ada"})


async def test_both_sides_agree_on_the_era(script: Script, server: Any, way: tuple[str, str]) -> None:  # noqa: ANN401
    script.instructions = "Be kind."
    async with Client(server, mode=way[1]) as client:
        modern = way[1] == "auto" and "modern" in script.eras
        assert client.protocol_version == ("2026-07-28" if modern else "2025-11-25")
        assert client.instructions == "Be kind."
        assert client.server_info is not None
        assert client.server_info.name == "simulated"
        assert client.server_capabilities.tools is not None


async def test_what_is_offered_is_listed_and_answers(script: Script, server: Any, way: tuple[str, str]) -> None:  # noqa: ANN401
    script.page = 3
    async with Client(server, mode=way[1]) as client:
        tools: list[str] = []
        cursor: str | None = None
        for _ in range(3):
            page = await client.list_tools(cursor=cursor)
            tools += [tool.name for tool in page.tools]
            cursor = page.next_cursor
        assert cursor is None
        assert tools == ["echo", "add", "slow", "fail", "progress", "big", "ask"]
        assert said(await client.call_tool("add", {"a": 1, "b": 2})) == "3"
        assert (await client.call_tool("echo", {"a": [1]})).structured_content == {"a": [1]}
        assert (await client.call_tool("fail", {})).is_error
        assert len(said(await client.call_tool("big", {"bytes": 300_000}))) == 300_000
        assert (await client.read_resource("note://first")).contents[0].text == "a note"  # type: ignore[union-attr]
        assert (await client.read_resource("note://7/text")).contents[0].text == "note 7"  # type: ignore[union-attr]
        assert [each.name for each in (await client.list_prompts()).prompts] == ["greet"]
        assert "Ada" in (await client.get_prompt("greet", {"name": "Ada"})).messages[0].content.text  # type: ignore[union-attr]
        for missing in (client.call_tool("none", {}), client.get_prompt("none"), client.read_resource("note://none")):
            with pytest.raises(MCPError):
                await missing


async def test_progress_is_heard_before_the_answer(server: Any, way: tuple[str, str]) -> None:  # noqa: ANN401
    steps: list[float] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)
        assert (total, message) == (3, f"step {progress:.0f}")

    async with Client(server, mode=way[1]) as client:
        assert said(await client.call_tool("progress", {"steps": 3}, progress_callback=heard)) == "3 steps"
    if way[0] == "http json":  # a response of JSON has room for the answer only; the rest goes its own way, or nowhere
        assert len(steps) <= (0 if way[1] == "auto" else 3)
    else:
        assert steps == [1, 2, 3]


async def test_it_asks_in_the_way_of_the_era(script: Script, server: Any, way: tuple[str, str]) -> None:  # noqa: ANN401
    async with Client(server, mode=way[1], elicitation_callback=answer) as client:
        assert said(await client.call_tool("ask", {"message": "Who is it?"})) == "accept: Ada"
        rounds = 2 if client.protocol_version == "2026-07-28" else 1
    assert len(script.called("tools/call", "ask")) == rounds


async def test_a_call_that_is_given_up_is_taken_back(script: Script, server: Any, way: tuple[str, str]) -> None:  # noqa: ANN401
    async with Client(server, mode=way[1]) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "slow", {})
        await script.until(lambda: script.held)
        tasks.cancel_scope.cancel()
    await script.until(lambda: script.abandoned)
    (taken_back,) = script.abandoned
    assert taken_back["params"]["name"] == "slow"


async def test_a_change_is_announced(script: Script, server: Any, way: tuple[str, str]) -> None:  # noqa: ANN401
    heard: list[Any] = []
    changed = anyio.Event()

    async def handle(message: Any) -> None:  # noqa: ANN401
        heard.append(message)
        changed.set()

    async with Client(server, mode=way[1], message_handler=handle) as client:
        script.tool("new", "here")
        if client.protocol_version == "2026-07-28":
            async with client.listen(tools_list_changed=True) as events:
                await script.changed_list("tools")
                async for event in events:
                    assert "ToolsListChanged" in type(event).__name__
                    script.close_listens()
        else:
            await script.until(lambda: any(party.initialized for party in script.parties))
            await script.changed_list("tools")
            await changed.wait()
            assert "ToolListChanged" in type(heard[0]).__name__
        assert said(await client.call_tool("new", {})) == "here"


@pytest.mark.parametrize("way", [("http auto", "auto"), ("stdio", "auto")])
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_server_of_one_era_is_understood(script: Script, server: Any, era: str) -> None:  # noqa: ANN401
    script.eras = frozenset([era])
    async with Client(server) as client:
        assert client.protocol_version == {"legacy": "2025-11-25", "modern": "2026-07-28"}[era]
        assert said(await client.call_tool("add", {"a": 1, "b": 2})) == "3"


@pytest.mark.parametrize("way", [("http auto", "legacy"), ("stdio", "legacy")])
async def test_a_server_of_the_modern_era_turns_others_away(script: Script, server: Any) -> None:  # noqa: ANN401
    script.eras = frozenset(["modern"])
    with pytest.raises((MCPError, BaseExceptionGroup)):
        async with Client(server, mode="legacy"):
            pass
