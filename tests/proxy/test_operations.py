"""What the proxy tool is asked: one meaning, or a sentence that says what is wrong."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.proxy.definition import definition
from mcpguard.proxy.filtering import ListFilter
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
    ProxyOperation,
    ProxyType,
    read,
    validate_batch,
    validate_operation,
)
from tests.proxy.wrong_operations import ONE, WRONG


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
    assert read(asked) == ProxyOperation(Action.LIST, ProxyType.PROMPT)


def test_arguments_are_an_object_or_its_text() -> None:
    as_text = validate_operation("call", "tool", "web::add", '{"a": 1, "b": [null]}')
    assert as_text == validate_operation("call", "tool", "web::add", {"a": 1, "b": [None]})
    assert as_text.arguments == {"a": 1, "b": [None]}


def test_a_list_is_cut_where_it_is_asked_for() -> None:
    asked = {"action": "list", "type": "tool", "limit": 7, "offset": 14, "filter_server": "web"}
    assert read(asked) == ProxyOperation(Action.LIST, ProxyType.TOOL, limit=7, offset=14, server="web")
    assert validate_operation("list", "tool").limit == MOST_LISTED


def test_a_filter_is_an_object_or_its_text() -> None:
    as_text = validate_operation("list", "tool", filter='{"prefix": "calc", "tags": ["math"]}')
    assert as_text == validate_operation("list", "tool", filter={"prefix": "calc", "tags": ["math"]})
    assert as_text.filter == ListFilter("calc", ("math",))
    assert read(as_text.as_given()) == as_text
    assert validate_operation("list", "tool", filter={"prefix": "", "tags": []}) == validate_operation("list", "tool")


def test_a_batch_is_operations_as_they_are_by_themselves() -> None:
    listing = {"action": "list", "type": "prompt", "filter": {"prefix": "g"}}
    batch = read({"action": BATCH, OPERATIONS: [ONE, listing]})
    assert batch == Batch((validate_operation("call", "tool", "web::add"), _one(listing)))
    assert read(batch.as_given()) == batch == validate_batch([ONE, listing])


def test_the_arguments_of_a_batch_are_bounded_together() -> None:
    half = {**ONE, "args": {"a": "x" * (LARGEST_ARGUMENTS // 2)}}
    with pytest.raises(InvalidOperation, match=f"at most {LARGEST_ARGUMENTS} bytes together"):
        validate_batch([half, half])
    assert len(validate_batch([half, ONE]).operations) == 2
    with pytest.raises(InvalidOperation, match=r"^args: an object of JSON"):
        validate_batch([{**ONE, "args": {"a": float}}])


def _one(given: dict[str, Any]) -> ProxyOperation:
    operation = read(given)
    assert isinstance(operation, ProxyOperation)
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
    assert isinstance(operation, ProxyOperation)
    assert bool(operation.path) == (operation.action is not Action.LIST)
    assert operation.action is Action.CALL or not operation.arguments
    assert read(operation.as_given()) == operation


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
