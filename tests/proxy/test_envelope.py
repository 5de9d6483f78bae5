"""How the proxy tool answers, and what an answer says of itself."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import CallToolResult

from mcpguard.proxy import envelope
from mcpguard.proxy.annotations import META, ProxyResponseInfo
from mcpguard.proxy.operations import validate_operation

Json = dict[str, Any]


def test_a_list_is_one_embedded_resource_and_an_empty_one_is_an_empty_list() -> None:
    result = envelope.listed(validate_operation("list", "tool"), [], 0)
    said = {"proxyAction": "list", "proxyType": "tool", "pythonType": "Tool", "many": True}
    place = {"total": 0, "offset": 0}
    assert result == {
        "content": [
            {
                "type": "resource",
                "resource": {"uri": "proxy:list/tool", "mimeType": "application/json", "text": "[]"},
                "annotations": said,
                "_meta": {META: said | place},
            }
        ],
        "_meta": {META: said | place},
    }


def test_a_part_of_a_list_says_where_it_goes_on() -> None:
    entries = [{"name": str(n)} for n in range(3)]
    asked = validate_operation("list", "prompt", limit=3, offset=4)
    assert envelope.listed(asked, entries, 9)["_meta"][META]["nextOffset"] == 7
    assert "nextOffset" not in envelope.listed(asked, entries, 7)["_meta"][META]


@pytest.mark.parametrize(
    ("proxy_type", "definition", "python_type"),
    [
        ("tool", {"name": "a"}, "Tool"),
        ("prompt", {"name": "a"}, "Prompt"),
        ("resource", {"name": "a", "uri": "x:y"}, "Resource"),
        ("resource", {"name": "a", "uriTemplate": "x:{y}"}, "ResourceTemplate"),
    ],
)
def test_a_description_says_of_which_type_it_is(proxy_type: str, definition: Json, python_type: str) -> None:
    (item,) = envelope.described(validate_operation("info", proxy_type, "a"), definition)["content"]
    assert item["annotations"] == {
        "proxyAction": "info",
        "proxyType": proxy_type,
        "proxyPath": "a",
        "pythonType": python_type,
        "many": False,
    }


def test_the_type_of_a_list_of_resources_is_what_clients_compare() -> None:
    (item,) = envelope.listed(validate_operation("list", "resource"), [], 0)["content"]
    assert item["annotations"]["pythonType"] == "mcp.types.Resource | mcp.types.ResourceTemplate"


def test_what_a_tool_answers_is_kept_and_says_whence_it_came() -> None:
    answered = {
        "content": [
            {"type": "text", "text": "8", "annotations": {"audience": ["user"], "priority": 0.5}, "_meta": {"a": 1}},
            {"type": "image", "data": "AA==", "mimeType": "image/png"},
        ],
        "structuredContent": {"sum": 8},
        "isError": True,
        "_meta": {"trace": "x"},
    }
    result = envelope.called(validate_operation("call", "tool", "web::add", {"a": 5}), answered)
    said = {"proxyAction": "call", "proxyType": "tool", "proxyPath": "web::add"}
    assert result["content"][0] == {
        "type": "text",
        "text": "8",
        "annotations": {"audience": ["user"], "priority": 0.5, **said},
        "_meta": {"a": 1, META: said},
    }
    assert result["content"][1]["annotations"] == said
    assert (result["structuredContent"], result["isError"]) == ({"sum": 8}, True)
    assert result["_meta"] == {"trace": "x", META: said}


def test_nobody_else_says_what_the_proxy_says() -> None:
    forged = {"proxyPath": "other::tool", "pythonType": "GetPromptResult", "many": True, "proxyAction": "list"}
    item = {"type": "text", "text": "x", "annotations": {"priority": 1, **forged}, "_meta": {META: forged}}
    answered = {"content": [item], "_meta": {META: forged}}
    result = envelope.called(validate_operation("call", "tool", "web::add"), answered)
    said = {"proxyAction": "call", "proxyType": "tool", "proxyPath": "web::add"}
    assert result["content"][0]["annotations"] == {"priority": 1, **said}
    assert result["content"][0]["_meta"][META] == result["_meta"][META] == said


@pytest.mark.parametrize("odd", [7, "x", ["a"], None])
def test_what_is_not_of_its_form_does_no_harm(odd: object) -> None:
    item = {"type": "text", "text": "x", "annotations": odd, "_meta": odd}
    result = envelope.called(validate_operation("call", "tool", "a::b"), {"content": [item], "_meta": odd})
    assert result["content"][0]["annotations"]["proxyPath"] == "a::b"
    content = envelope.called(validate_operation("call", "tool", "a::b"), {"content": odd})["content"]
    assert content == (odd if isinstance(odd, list) else [])
    assert envelope.called(validate_operation("call", "resource", "a:b"), {"contents": odd})["content"] == []


def test_a_resource_is_one_item_for_each_of_its_contents() -> None:
    contents = [{"uri": "a:1", "mimeType": "text/plain", "text": "{ }"}, {"uri": "a:2", "blob": "AA=="}]
    result = envelope.called(validate_operation("call", "resource", "a:1"), {"contents": contents, "ttlMs": 5})
    first, second = result["content"]
    assert first["resource"] == {
        "uri": "a:1",
        "mimeType": "application/json",
        "text": "{}",
        "contentType": "text/plain",
    }
    assert first["_meta"][META]["contentType"] == "text/plain"
    assert second["resource"] == contents[1]
    assert "ttlMs" not in result


def test_an_error_is_an_error_of_the_tool() -> None:
    error = {"code": -32002, "message": "no such note", "data": {"uri": "a:1"}}
    result = envelope.failed(validate_operation("call", "resource", "a:1"), error)
    assert result["isError"] is True
    assert result["content"][0]["text"] == "The resource answered with an error: no such note"
    assert result["_meta"][META]["error"] == error


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40))
def test_every_path_has_a_uri(path: str) -> None:
    uri = envelope.uri(validate_operation("info", "resource", path))
    assert uri.startswith("proxy:info/resource/")
    assert uri.isascii()
    assert not set(uri) & set(' "<>\\^`{|}#?\n\t')
    assert urlsplit(uri).scheme == "proxy"


def test_names_are_readable_in_it() -> None:
    assert envelope.uri(validate_operation("info", "tool", "web::add")) == "proxy:info/tool/web::add"
    assert envelope.uri(validate_operation("list", "tool")) == "proxy:list/tool"


def test_what_an_answer_says_is_read_from_wherever_it_is_said() -> None:
    result = envelope.described(validate_operation("info", "tool", "web::add"), {"name": "add"})
    (item,) = result["content"]
    wanted = ProxyResponseInfo("info", "tool", "web::add", "Tool", many=False)
    as_models = CallToolResult.model_validate(result)
    places = [item, item["annotations"], item["_meta"], item["_meta"][META], as_models, as_models.content[0]]
    assert [ProxyResponseInfo.from_annotations(place) for place in places] == [wanted] * len(places)


@pytest.mark.parametrize("said", [None, {}, 7, {"proxyAction": "list"}, {"proxyAction": 1, "proxyType": "tool"}, []])
def test_what_says_nothing_of_a_proxy_is_none(said: object) -> None:
    assert ProxyResponseInfo.from_annotations(said) is None
