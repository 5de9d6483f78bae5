"""From answers of the tool to types of the SDK, and what is no such answer."""

from typing import Any

import pytest
from mcp_types import CallToolResult, EmbeddedResource, Prompt, Resource, ResourceTemplate, TextContent, Tool

from mcpguard.client import (
    deserialize_embedded_resource_python_object,
    get_embedded_resource_python_object,
    get_proxy_query_result,
    tool_result_as_prompt_result,
    tool_result_as_resource_result,
    validate_operation,
)
from mcpguard.proxy import envelope

TOOL = {"name": "add", "inputSchema": {"type": "object"}}
RESOURCE = {"name": "note", "uri": "note://1"}
TEMPLATE = {"name": "notes", "uriTemplate": "note://{n}"}
PROMPT = {"name": "greet"}


def result(said: dict[str, Any]) -> CallToolResult:
    return CallToolResult.model_validate(said)


def test_lists_are_lists_of_what_they_say() -> None:
    for proxy_type, entries, wanted in (
        ("tool", [TOOL], [Tool]),
        ("resource", [RESOURCE, TEMPLATE], [Resource, ResourceTemplate]),
        ("prompt", [PROMPT], [Prompt]),
    ):
        found = get_proxy_query_result(
            result(envelope.list_answer(validate_operation("list", proxy_type), entries, len(entries))[0])
        )
        assert [type(each) for each in found] == wanted
    assert get_proxy_query_result(result(envelope.list_answer(validate_operation("list", "tool"), [], 0)[0])) == []


@pytest.mark.parametrize(
    ("proxy_type", "definition", "wanted"),
    [
        ("tool", TOOL, Tool),
        ("resource", RESOURCE, Resource),
        ("resource", TEMPLATE, ResourceTemplate),
        ("prompt", PROMPT, Prompt),
    ],
)
def test_a_description_is_one_of_them(proxy_type: str, definition: dict[str, Any], wanted: type) -> None:
    template = wanted is ResourceTemplate
    described = result(
        envelope.definition_answer(validate_operation("info", proxy_type, "x"), definition, template=template)
    )
    assert isinstance(get_proxy_query_result(described), wanted)


def test_the_pieces_can_be_had_one_by_one() -> None:
    listed = result(envelope.list_answer(validate_operation("list", "resource"), [RESOURCE, TEMPLATE], 2)[0])
    (item,) = listed.content
    assert isinstance(item, EmbeddedResource)
    python_type, data, many = get_embedded_resource_python_object(item)
    assert (python_type, data, many) == ("mcp.types.Resource | mcp.types.ResourceTemplate", [RESOURCE, TEMPLATE], True)
    union = Resource | ResourceTemplate
    found = deserialize_embedded_resource_python_object(union, python_type, data, many)
    assert [type(each) for each in found] == [Resource, ResourceTemplate]
    for short in ("Resource | ResourceTemplate", "Resource|ResourceTemplate"):
        assert deserialize_embedded_resource_python_object(union, short, data, True) == found
    with pytest.raises(ValueError, match="of the type"):
        deserialize_embedded_resource_python_object(Tool, python_type, data, many)


def test_what_a_prompt_and_a_resource_gave() -> None:
    prompt = {"messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}], "description": "d"}
    called = result(envelope.call_answer(validate_operation("call", "prompt", "greet"), prompt))
    assert tool_result_as_prompt_result(called).messages[0].role == "user"
    contents = [{"uri": "a:1", "mimeType": "text/plain", "text": "[ 1 ]"}, {"uri": "a:2", "blob": "AA=="}]
    read = result(envelope.call_answer(validate_operation("call", "resource", "a:1"), {"contents": contents}))
    first, second = tool_result_as_resource_result(read)
    assert (first.uri, first.mime_type) == ("a:1", "text/plain")
    assert second.model_dump(exclude_none=True) == {"uri": "a:2", "blob": "AA=="}
    with pytest.raises(ValueError, match="not of a prompt"):
        tool_result_as_prompt_result(result(envelope.definition_answer(validate_operation("info", "tool", "x"), TOOL)))


PLAIN = {"type": "text", "text": "8"}
UNSAID = {"type": "resource", "resource": {"uri": "a:1", "text": "[]"}}
ODD = UNSAID | {
    "_meta": {"mcpguard/proxy": {"proxyAction": "list", "proxyType": "tool", "pythonType": "os.system", "many": True}}
}


@pytest.mark.parametrize("content", [[], [PLAIN], [UNSAID], [UNSAID, UNSAID], [ODD]])
def test_what_comes_from_no_proxy_is_refused(content: list[dict[str, Any]]) -> None:
    answer = result({"content": content})
    for read in (get_proxy_query_result, tool_result_as_prompt_result):
        with pytest.raises(ValueError, match="the answer"):
            read(answer)
    if any(isinstance(each, TextContent) for each in answer.content):
        with pytest.raises(ValueError, match="not of a resource"):
            tool_result_as_resource_result(answer)
