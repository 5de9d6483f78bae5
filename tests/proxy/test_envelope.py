"""How the proxy tool answers, and what an answer says of itself."""

import json
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
    result, given = envelope.list_answer(validate_operation("list", "tool"), [], 0)
    assert given == 0
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
    assert envelope.list_answer(asked, entries, 9)[0]["_meta"][META]["nextOffset"] == 7
    assert "nextOffset" not in envelope.list_answer(asked, entries, 7)[0]["_meta"][META]


def test_a_list_ends_where_it_becomes_too_large_and_gives_one_entry_at_least() -> None:
    large = [{"name": str(n), "description": "x" * (envelope.LARGEST_LIST // 2)} for n in range(3)]
    for entries, many in ((large, 1), ([{"name": "x" * envelope.LARGEST_LIST * 2}, *large], 1), (large[:1], 1)):
        result, given = envelope.list_answer(validate_operation("list", "tool"), entries, len(entries))
        assert given == many
        assert len(json.loads(result["content"][0]["resource"]["text"])) == many
        assert result["_meta"][META].get("nextOffset") == (1 if len(entries) > 1 else None)


@pytest.mark.parametrize(
    ("proxy_type", "definition", "python_type"),
    [
        ("tool", {"name": "a"}, "Tool"),
        ("prompt", {"name": "a"}, "Prompt"),
        ("resource", {"name": "a", "uri": "x:y"}, "Resource"),
        ("resource", {"name": "a", "uri": "x:y", "uriTemplate": "x:{y}"}, "Resource"),
        ("resource", {"name": "a", "uriTemplate": "x:{y}"}, "ResourceTemplate"),
    ],
)
def test_a_description_says_of_which_type_it_is(proxy_type: str, definition: Json, python_type: str) -> None:
    template = python_type == "ResourceTemplate"
    (item,) = envelope.definition_answer(validate_operation("info", proxy_type, "a"), definition, template=template)[
        "content"
    ]
    assert item["annotations"] == {
        "proxyAction": "info",
        "proxyType": proxy_type,
        "proxyPath": "a",
        "pythonType": python_type,
        "many": False,
    }


def test_the_type_of_a_list_of_resources_is_what_clients_compare() -> None:
    (item,) = envelope.list_answer(validate_operation("list", "resource"), [], 0)[0]["content"]
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
    result = envelope.call_answer(validate_operation("call", "tool", "web::add", {"a": 5}), answered)
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
    result = envelope.call_answer(validate_operation("call", "tool", "web::add"), answered)
    said = {"proxyAction": "call", "proxyType": "tool", "proxyPath": "web::add"}
    assert result["content"][0]["annotations"] == {"priority": 1, **said}
    assert result["content"][0]["_meta"][META] == result["_meta"][META] == said


@pytest.mark.parametrize("odd", [7, "x", ["a"], None])
def test_what_is_not_of_its_form_does_no_harm(odd: object) -> None:
    item = {"type": "text", "text": "x", "annotations": odd, "_meta": odd}
    result = envelope.call_answer(validate_operation("call", "tool", "a::b"), {"content": [item], "_meta": odd})
    assert result["content"][0]["annotations"]["proxyPath"] == "a::b"
    told = envelope.call_answer(validate_operation("call", "tool", "a::b"), {"content": odd})
    assert told["content"] == odd if isinstance(odd, list) else told["isError"]
    assert envelope.call_answer(validate_operation("call", "resource", "a:b"), {"contents": odd})["isError"] is True


def test_what_has_no_list_around_it_is_the_only_one() -> None:
    item = {"type": "text", "text": "x"}
    (told,) = envelope.call_answer(validate_operation("call", "tool", "a::b"), {"content": item})["content"]
    assert told.items() >= item.items()
    content = {"uri": "a:1", "text": "x"}
    (told,) = envelope.call_answer(validate_operation("call", "resource", "a:1"), {"contents": content})["content"]
    assert told["resource"] == content
    assert envelope.call_answer(validate_operation("call", "tool", "a::b"), {"structuredContent": {}})["content"] == []
    assert envelope.call_answer(validate_operation("call", "resource", "a:1"), {"contents": []})["content"] == []
    assert envelope.call_answer(validate_operation("call", "resource", "a:1"), {})["isError"] is True


def test_many_small_items_do_not_make_an_answer_huge() -> None:
    forged = {"annotations": {"proxyPath": "x", "priority": 1}, "_meta": {META: {"many": True}, "a": 1}}
    path, count = "a:" + "x" * 8000, 50_000
    for type_, answered in (
        ("tool", {"content": [{"type": "text", "text": "", **forged}] * count}),
        ("resource", {"contents": [{"uri": "a:1", "text": "", **forged}] * count}),
    ):
        result = envelope.call_answer(validate_operation("call", type_, path), answered)
        assert len(result["content"]) == count
        assert len(json.dumps(result)) < len(json.dumps(answered)) + 10_000_000
        said = [ProxyResponseInfo.from_annotations(item) for item in result["content"]]
        assert {info.proxy_path for info in said if info} == {path}
        assert said[envelope.MOST_ANNOTATED :] == [None] * (count - envelope.MOST_ANNOTATED)
        last = result["content"][-1] if type_ == "tool" else result["content"][-1]["resource"]
        assert (last["annotations"], last["_meta"]) == ({"priority": 1}, {"a": 1})


def test_nobody_else_says_in_a_resource_what_the_proxy_says() -> None:
    forged = {"contentType": "text/html", "_meta": {META: {"proxyAction": "list", "proxyType": "tool"}, "a": 1}}
    contents = [{"uri": "a:1", "mimeType": "text/plain", "text": "x", **forged}]
    (item,) = envelope.call_answer(validate_operation("call", "resource", "a:1"), {"contents": contents})["content"]
    assert item["resource"] == {"uri": "a:1", "mimeType": "text/plain", "text": "x", "_meta": {"a": 1}}
    assert ProxyResponseInfo.from_annotations(item["resource"]) is None
    assert ProxyResponseInfo.from_annotations(item) == ProxyResponseInfo("call", "resource", "a:1")


def test_a_resource_that_said_no_type_says_that_it_said_none() -> None:
    contents = [{"uri": "a:1", "text": "{}"}]
    (item,) = envelope.call_answer(validate_operation("call", "resource", "a:1"), {"contents": contents})["content"]
    assert "contentType" not in item["resource"]
    assert ProxyResponseInfo.from_annotations(item) == ProxyResponseInfo("call", "resource", "a:1", rewritten=True)


def test_a_resource_is_one_item_for_each_of_its_contents() -> None:
    contents = [{"uri": "a:1", "mimeType": "text/plain", "text": "{ }"}, {"uri": "a:2", "blob": "AA=="}]
    result = envelope.call_answer(validate_operation("call", "resource", "a:1"), {"contents": contents, "ttlMs": 5})
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
    result = envelope.error_answer(validate_operation("call", "resource", "a:1"), error)
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
    result = envelope.definition_answer(validate_operation("info", "tool", "web::add"), {"name": "add"})
    (item,) = result["content"]
    wanted = ProxyResponseInfo("info", "tool", "web::add", "Tool", many=False)
    as_models = CallToolResult.model_validate(result)
    places = [item, item["annotations"], item["_meta"], item["_meta"][META], as_models, as_models.content[0]]
    assert [ProxyResponseInfo.from_annotations(place) for place in places] == [wanted] * len(places)


@pytest.mark.parametrize("said", [None, {}, 7, {"proxyAction": "list"}, {"proxyAction": 1, "proxyType": "tool"}, []])
def test_what_says_nothing_of_a_proxy_is_none(said: object) -> None:
    assert ProxyResponseInfo.from_annotations(said) is None
