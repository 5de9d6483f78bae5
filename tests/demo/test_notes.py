"""The honest server and the SDK's client, which checks what it gets against its own models, in both eras."""

import json

import pytest
from mcp import Client, MCPError
from mcp_types import CallToolResult, TextContent, TextResourceContents

from mcpguard.demo.notes import AT_FIRST, MOST_NOTES
from tests.demo.starting import MODES, by_client
from tests.simulators.words import Json

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("mode", MODES)]
HINTS = {
    "list_notes": (True, None),
    "read_note": (True, None),
    "write_note": (False, False),
    "delete_note": (False, True),
    "word_count": (True, None),
}


def text(told: CallToolResult) -> str:
    (content,) = told.content
    assert isinstance(content, TextContent)
    return content.text


async def called(client: Client, name: str, /, **arguments: object) -> Json:
    """A call that succeeds. The client has checked the result against the schema that is listed."""
    told = await client.call_tool(name, arguments)
    assert not told.is_error, told
    assert told.structured_content is not None
    assert json.loads(text(told)) == told.structured_content
    found: Json = told.structured_content
    return found


async def refused(client: Client, name: str, /, **arguments: object) -> str:
    told = await client.call_tool(name, arguments)
    assert told.is_error
    return text(told)


async def test_it_says_what_it_is(mode: str) -> None:
    async with Client(by_client("honest"), mode=mode) as client:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
        if mode != "2026-07-28":
            assert client.server_info is not None
            assert client.server_info.name == "mcpguard-demo-notes"
            assert client.instructions is not None
            assert len(client.instructions) < 100
        tools = (await client.list_tools()).tools
    hints = {}
    for tool in tools:
        assert tool.annotations is not None
        assert tool.annotations.open_world_hint is False
        hints[tool.name] = (tool.annotations.read_only_hint, tool.annotations.destructive_hint)
        assert tool.title
        assert tool.description
        assert tool.output_schema
        assert all(schema["description"] for schema in tool.input_schema["properties"].values())
        assert {*tool.input_schema.get("required", [])} == {*tool.input_schema["properties"]}
    assert hints == HINTS


async def test_notes_are_listed_read_written_and_deleted(mode: str) -> None:
    async with Client(by_client("honest"), mode=mode) as client:
        for name, note in AT_FIRST.items():
            assert await called(client, "read_note", name=name) == {"name": name, "text": note}
        assert await called(client, "write_note", name="a-new-one", text="ü\n") == {
            "name": "a-new-one",
            "characters": 2,
        }
        assert "already" in await refused(client, "write_note", name="a-new-one", text="other")
        assert (await called(client, "read_note", name="a-new-one"))["text"] == "ü\n"
        assert await called(client, "delete_note", name="garden") == {"name": "garden", "left": 3}
        assert "no note" in await refused(client, "delete_note", name="garden")
        listed = (await called(client, "list_notes"))["notes"]
        assert [note["name"] for note in listed] == ["a-new-one", "ideas", "shopping"]
        assert await called(client, "word_count", text="two  words\n") == {"words": 2, "characters": 11}
    async with Client(by_client("honest"), mode=mode) as client:
        listed = (await called(client, "list_notes"))["notes"]
        assert listed == [{"name": name, "characters": len(AT_FIRST[name])} for name in sorted(AT_FIRST)], "as at first"


async def test_arguments_are_held_to_the_schema(mode: str) -> None:
    async with Client(by_client("honest"), mode=mode) as client:
        assert "missing" in await refused(client, "read_note")
        assert "no argument" in await refused(client, "list_notes", what="all")
        for name in (7, None, "", "Upper", "a/b", "a\n", "x" * 65):
            assert "schema" in await refused(client, "write_note", name=name, text="")
        assert "schema" in await refused(client, "write_note", name="x", text="x" * 10_001)
        for number in range(MOST_NOTES - len(AT_FIRST)):
            await called(client, "write_note", name=f"{number}", text="")
        assert "room" in await refused(client, "write_note", name="one-more", text="")
        assert len((await called(client, "list_notes"))["notes"]) == MOST_NOTES
        with pytest.raises(MCPError):
            await client.call_tool("read_n0te", {"name": "garden"})


async def test_resources_the_template_and_the_prompt(mode: str) -> None:
    async def read(uri: str) -> str:
        (content,) = (await client.read_resource(uri)).contents
        assert isinstance(content, TextResourceContents)
        assert str(content.uri) == uri
        return content.text

    async with Client(by_client("honest"), mode=mode) as client:
        resources = (await client.list_resources()).resources
        about, index = [await read(str(resource.uri)) for resource in resources]
        assert "mcpguard" in about
        assert json.loads(index) == sorted(AT_FIRST)
        (template,) = (await client.list_resource_templates()).resource_templates
        assert await read(template.uri_template.replace("{name}", "garden")) == AT_FIRST["garden"]
        with pytest.raises(MCPError):
            await read("note://nothing")
        (prompt,) = (await client.list_prompts()).prompts
        (message,) = (await client.get_prompt(prompt.name, {"name": "garden"})).messages
        assert isinstance(message.content, TextContent)
        assert AT_FIRST["garden"] in message.content.text
        with pytest.raises(MCPError):
            await client.get_prompt(prompt.name)
