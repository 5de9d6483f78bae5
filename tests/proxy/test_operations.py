"""What the proxy tool is asked: one meaning, or a sentence that says what is wrong."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.proxy.definition import definition
from mcpguard.proxy.filtering import Filter
from mcpguard.proxy.operations import (
    BATCH,
    LARGEST_ARGUMENTS,
    MEMBERS,
    MOST_LISTED,
    MOST_OPERATIONS,
    OPERATIONS,
    Action,
    Batch,
    InvalidOperation,
    Operation,
    ProxyType,
    read,
    validate_batch,
    validate_operation,
)

ONE: dict[str, Any] = {"action": "call", "type": "tool", "path": "web::add"}

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"type": "tool"}, "action: one of list, info, call"),
    ({"action": "list"}, "type: one of tool, resource, prompt"),
    ({"action": "List", "type": "tool"}, "action: one of list, info, call"),
    ({"action": "drop", "type": "tool"}, "action: one of list, info, call"),
    ({"action": ["list"], "type": "tool"}, "action: one of list, info, call"),
    ({"action": "list", "type": "template"}, "type: one of tool, resource, prompt"),
    ({"action": "info", "type": "tool"}, "path: info needs the name or the URI of what is meant, as list gives it"),
    ({"action": "call", "type": "tool"}, "path: call needs the name or the URI of what is meant, as list gives it"),
    (
        {"action": "call", "type": "tool", "path": ""},
        "path: call needs the name or the URI of what is meant, as list gives it",
    ),
    (
        {"action": "info", "type": "tool", "path": None},
        "path: info needs the name or the URI of what is meant, as list gives it",
    ),
    ({"action": "list", "type": "tool", "path": "web::add"}, "path: list takes none; info and call do"),
    ({"action": "list", "type": "tool", "args": {"a": 1}}, "args: list takes none; call does"),
    ({"action": "info", "type": "tool", "path": "x", "args": {"a": 1}}, "args: info takes none; call does"),
    ({"action": "call", "type": "tool", "path": 7}, "path: a text without NUL characters"),
    ({"action": "call", "type": "tool", "path": "a\0b"}, "path: a text without NUL characters"),
    ({"action": "call", "type": "tool", "path": "x" * 8193}, "path: at most 8192 characters"),
    ({"action": "call", "type": "tool", "path": "x", "args": [1]}, "args: an object, or the text of one as JSON"),
    ({"action": "call", "type": "tool", "path": "x", "args": "[1]"}, "args: an object, or the text of one as JSON"),
    ({"action": "call", "type": "tool", "path": "x", "args": "{"}, "args: an object, or the text of one as JSON"),
    ({"action": "call", "type": "tool", "path": "x", "args": '{"a":1,"a":2}'}, "args: an object, or the text of one"),
    ({"action": "call", "type": "tool", "path": "x", "args": "\ud800"}, "args: an object, or the text of one as JSON"),
    ({"action": "list", "type": "tool", "limit": 0}, "limit: a whole number from 1 to 1000"),
    ({"action": "list", "type": "tool", "limit": 1001}, "limit: a whole number from 1 to 1000"),
    ({"action": "list", "type": "tool", "limit": True}, "limit: a whole number from 1 to 1000"),
    ({"action": "list", "type": "tool", "limit": "5"}, "limit: a whole number from 1 to 1000"),
    ({"action": "list", "type": "tool", "offset": -1}, "offset: a whole number from 0 to"),
    ({"action": "list", "type": "tool", "filter_server": 1}, "filter_server: a text"),
    (
        {"action": "info", "type": "tool", "path": "x", "limit": 5},
        "limit, offset, filter_server and filter: info takes none",
    ),
    (
        {"action": "call", "type": "tool", "path": "x", "filter_server": "w"},
        "limit, offset, filter_server and filter: call",
    ),
    ({"action": "list", "type": "tool", "filter": "x"}, "filter: an object, or the text of one as JSON"),
    ({"action": "list", "type": "tool", "filter": {"names": ["x"]}}, "filter: it has no members but prefix, tags"),
    ({"action": "list", "type": "tool", "filter": {"prefix": 1}}, "filter.prefix: a text without NUL characters"),
    ({"action": "list", "type": "tool", "filter": {"prefix": "x" * 8193}}, "filter.prefix: at most 8192 characters"),
    ({"action": "list", "type": "tool", "filter": {"tags": "x"}}, "filter.tags: a list of at most 20 texts"),
    ({"action": "list", "type": "tool", "filter": {"tags": ["x"] * 21}}, "filter.tags: a list of at most 20 texts"),
    ({"action": "list", "type": "tool", "filter": {"tags": [""]}}, "filter.tags: texts of 1 to 200 characters"),
    ({"action": "list", "type": "tool", "filter": {"tags": [{"x": []}]}}, "filter.tags: texts of 1 to 200 characters"),
    ({"action": "info", "type": "tool", "path": "x", "filter": {"prefix": "y"}}, "limit, offset, filter_server and"),
    ({"action": "list", "type": "tool", "operations": [ONE]}, "operations: batch takes them, and no other action"),
    ({"action": "batch"}, "operations: a list of 1 to 20 operations"),
    ({"action": "batch", "operations": []}, "operations: a list of 1 to 20 operations"),
    ({"action": "batch", "operations": ONE}, "operations: a list of 1 to 20 operations"),
    ({"action": "batch", "operations": [ONE] * 21}, "operations: a list of 1 to 20 operations"),
    ({"action": "batch", "operations": [ONE], "type": "tool"}, "batch takes operations and nothing else"),
    ({"action": "batch", "operations": [ONE], "path": "x"}, "batch takes operations and nothing else"),
    ({"action": "batch", "operations": [ONE, "x"]}, "operations[1]: an object"),
    ({"action": "batch", "operations": [ONE, {"action": "call"}]}, "operations[1]: type: one of tool, resource"),
    ({"action": "batch", "operations": [{**ONE, "intent": {}}]}, "operations[0]: there are no arguments but action"),
    (
        {"action": "batch", "operations": [{"action": "batch", "operations": [ONE]}]},
        "operations[0]: there are no arguments but action",
    ),
    ({"action": "batch", "operations": [{**ONE, "action": "batch"}]}, "operations[0]: action: one of list, info, call"),
    ({"action": "list", "type": "tool", "arguments": {}}, "there are no arguments but action, type, path, args, limit"),
]


@pytest.mark.parametrize(("asked", "said"), WRONG)
def test_what_is_no_operation_is_told_what_would_be(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidOperation) as refused:
        read(asked)
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize("empty", [{}, "", None, "{}", " "])
@pytest.mark.parametrize("path", ["", None])
def test_what_is_empty_is_not_given(empty: object, path: object) -> None:
    asked = {"action": "list", "type": "prompt", "path": path, "args": empty, "limit": None, "offset": None}
    asked |= {"filter": empty, "operations": []}
    assert read(asked) == Operation(Action.LIST, ProxyType.PROMPT)


def test_arguments_are_an_object_or_its_text() -> None:
    as_text = validate_operation("call", "tool", "web::add", '{"a": 1, "b": [null]}')
    assert as_text == validate_operation("call", "tool", "web::add", {"a": 1, "b": [None]})
    assert as_text.arguments == {"a": 1, "b": [None]}


def test_a_list_is_cut_where_it_is_asked_for() -> None:
    asked = {"action": "list", "type": "tool", "limit": 7, "offset": 14, "filter_server": "web"}
    assert read(asked) == Operation(Action.LIST, ProxyType.TOOL, limit=7, offset=14, server="web")
    assert validate_operation("list", "tool").limit == MOST_LISTED


def test_a_filter_is_an_object_or_its_text() -> None:
    as_text = validate_operation("list", "tool", filter='{"prefix": "calc", "tags": ["math"]}')
    assert as_text == validate_operation("list", "tool", filter={"prefix": "calc", "tags": ["math"]})
    assert as_text.filter == Filter("calc", ("math",))
    assert read(as_text.given()) == as_text
    assert validate_operation("list", "tool", filter={"prefix": "", "tags": []}) == validate_operation("list", "tool")


def test_a_batch_is_operations_as_they_are_by_themselves() -> None:
    listing = {"action": "list", "type": "prompt", "filter": {"prefix": "g"}}
    batch = read({"action": BATCH, OPERATIONS: [ONE, listing]})
    assert batch == Batch((validate_operation("call", "tool", "web::add"), _one(listing)))
    assert read(batch.given()) == batch == validate_batch([ONE, listing])


def test_the_arguments_of_a_batch_are_bounded_together() -> None:
    half = {**ONE, "args": {"a": "x" * (LARGEST_ARGUMENTS // 2)}}
    with pytest.raises(InvalidOperation, match=f"at most {LARGEST_ARGUMENTS} bytes together"):
        validate_batch([half, half])
    assert len(validate_batch([half, ONE]).operations) == 2
    with pytest.raises(InvalidOperation, match=r"^args: an object of JSON"):
        validate_batch([{**ONE, "args": {"a": float}}])


def _one(given: dict[str, Any]) -> Operation:
    operation = read(given)
    assert isinstance(operation, Operation)
    return operation


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(max_size=20),
    st.sampled_from(["list", "info", "call", "tool", "resource", "prompt", "web::add", '{"a": 1}']),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    st.lists(st.integers(), max_size=2),
)


@given(st.dictionaries(st.sampled_from([*MEMBERS, "other"]), VALUES, max_size=7))
def test_whatever_is_asked_is_an_operation_or_a_sentence(asked: dict[str, Any]) -> None:
    try:
        operation = read(asked)
    except InvalidOperation:
        return
    assert isinstance(operation, Operation)
    assert bool(operation.path) == (operation.action is not Action.LIST)
    assert operation.action is Action.CALL or not operation.arguments
    assert read(operation.given()) == operation


def test_what_the_tool_says_it_takes_is_what_it_takes() -> None:
    schema = definition("p")["inputSchema"]
    assert tuple(schema["properties"]) == MEMBERS
    for action in Action:
        for proxy_type in schema["properties"]["type"]["enum"]:
            path = None if action == "list" else "x"
            assert validate_operation(action, proxy_type, path).action == action
    assert schema["properties"]["action"]["enum"] == [*Action, BATCH]
    assert schema["properties"][OPERATIONS]["maxItems"] == MOST_OPERATIONS
    assert schema["properties"]["limit"]["maximum"] == MOST_LISTED
    assert "proxy" in definition()["description"].lower()
    assert definition()["name"] == "proxy"
