"""What belongs to one leg of the way is taken off and put on; nothing else is touched."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.codec import envelope

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(st.text(max_size=8), values, max_size=4)
US = {"name": "mcpguard", "version": "1"}
LEG = {
    envelope.PROTOCOL: "2026-07-28",
    envelope.CLIENT: {"name": "x"},
    envelope.CAPABILITIES: {},
    envelope.LOG_LEVEL: "debug",
    envelope.PROGRESS: 7,
    "io.modelcontextprotocol/anything": [1],
}


@given(params=objects, meta=objects)
def test_what_is_not_reserved_stays(params: dict[str, Any], meta: dict[str, Any]) -> None:
    own = {key: value for key, value in meta.items() if key != envelope.PROGRESS}
    said = {**params, "_meta": {**own, **LEG}}
    bare = envelope.bare_params(said)
    assert bare.pop("_meta", {}) == own
    assert bare == {key: value for key, value in params.items() if key != "_meta"}


def test_a_meta_of_which_nothing_is_left_is_left_out() -> None:
    assert envelope.bare_params({"name": "x", "_meta": dict(LEG)}) == {"name": "x"}
    assert envelope.bare_result({"content": [], "_meta": {envelope.SERVER: US}}) == {"content": []}


@pytest.mark.parametrize("meta", [None, {}, {"com.example/x": None}, 5, [], "text"])
def test_a_meta_that_says_nothing_of_a_leg_stays_as_it_is(meta: object) -> None:
    assert envelope.bare_params({"name": "x", "_meta": meta}) == {"name": "x", "_meta": meta}


def test_nothing_that_was_given_is_changed() -> None:
    given_ = {"name": "x", "_meta": dict(LEG)}
    result = {"resultType": "complete", "content": [], "_meta": {envelope.SERVER: US}}
    envelope.bare_params(given_)
    envelope.bare_result(result)
    envelope.modern_result("tools/call", result, US)
    assert given_ == {"name": "x", "_meta": LEG}
    assert result == {"resultType": "complete", "content": [], "_meta": {envelope.SERVER: US}}


@given(result=objects, meta=objects)
def test_a_result_goes_through_both_legs_unchanged(result: dict[str, Any], meta: dict[str, Any]) -> None:
    result = {key: value for key, value in result.items() if key not in {"resultType", "ttlMs", "cacheScope", "_meta"}}
    meta = {key: value for key, value in meta.items() if key != envelope.SERVER}
    result |= {"_meta": meta} if meta else {}
    for method in ("tools/call", "resources/read"):
        assert envelope.bare_result(envelope.modern_result(method, result, US)) == result


@pytest.mark.parametrize("method", sorted(envelope.CACHEABLE))
def test_what_may_be_cached_is_for_this_client_and_this_moment(method: str) -> None:
    said = envelope.modern_result(method, {"ttlMs": 10_000, "cacheScope": "public"}, US)
    assert (said["ttlMs"], said["cacheScope"]) == (0, "private")


def test_other_results_carry_no_hints() -> None:
    assert envelope.modern_result("tools/call", {"content": []}, US) == {
        "resultType": "complete",
        "content": [],
        "_meta": {envelope.SERVER: US},
    }


def test_a_server_of_the_handshake_era_cannot_ask_for_input_in_the_way_of_the_other() -> None:
    """To such a server `resultType` is a key like any other."""
    said = envelope.modern_result("tools/call", {"resultType": "input_required", "requestState": "x"}, US)
    assert said["resultType"] == "complete"


def test_a_server_cannot_say_that_it_is_somebody_else() -> None:
    said = envelope.modern_result("tools/call", {"_meta": {envelope.SERVER: {"name": "bank"}, "kept": 1}}, US)
    assert said["_meta"] == {envelope.SERVER: US, "kept": 1}


@pytest.mark.parametrize(
    ("params", "modern"),
    [
        (None, False),
        ({}, False),
        ({"_meta": None}, False),
        ({"_meta": []}, False),
        ({"_meta": "2026-07-28"}, False),
        ({"_meta": {"progressToken": 1}}, False),
        ({"_meta": {envelope.PROTOCOL: None}}, True),
        ({"_meta": {envelope.PROTOCOL: "2099-01-01"}}, True),
    ],
)
def test_a_request_is_modern_if_it_says_a_revision_for_itself(params: dict[str, Any] | None, modern: bool) -> None:
    assert envelope.is_modern(params) is modern


LOOK_ALIKES = [
    "mcpguard/x",
    " MCPGuard/x",
    "mcp\u00adguard/x",
    "mcp\x00guard/x",
    "mcp\tguard/x",
    "\uff4dcpguard/x",
    "m\u0441pguard/x",
    "\u043c\u0441\u0440\u0261\u03c5\u0430\u0433\u0501/x",
    "mcpgua\u0307rd/x",
    "\u3164mcpguard/x",
    "mcpguard\ufe0f/x",
    "mcpguard\uff0fx",
    "mcpguard\u2215x",
    "mcpguard\u2044x",
    "mcpguard/\u200bx",
    "\u200b" * 300 + "mcpguard/x",
    "mcp" + "\u200b" * 300 + "guard/x",
]
OTHERS = [
    "mcpguard",
    "mcpguard.x",
    "x/mcpguard/x",
    "mcpguards/x",
    "com.example/mcpguard/",
    "\u00fcber/x",
    "",
    "m\u4e2d/x",
]


@pytest.mark.parametrize("key", LOOK_ALIKES)
def test_what_looks_like_a_key_of_ours_is_taken_for_one(key: str) -> None:
    said = {key: 1, "kept": 2}
    assert envelope.without_our_keys(said) == {"kept": 2}
    assert envelope.without_our_keys({"_meta": said}) == {"_meta": {"kept": 2}}
    assert envelope.without_our_keys({"_meta": {key: 1}}) == {}


@pytest.mark.parametrize("key", OTHERS)
def test_every_other_key_stays(key: str) -> None:
    said = {key: 1, "_meta": {key: 1}}
    assert envelope.without_our_keys(said) is said


@pytest.mark.parametrize("path", [
    ["data"], ["data", "_meta"], ["data", "elicitations", 0], ["data", "elicitations", 0, "_meta"], ["data", 0],
    ["content", 0], ["content", 0, "annotations"], ["content", 0, "resource"], ["content", 0, "content", 0, "_meta"],
    ["contents", 0], ["messages", 0, "content", 0, "annotations"], ["completion"], ["tools", 0, "_meta"],
])  # fmt: skip
def test_it_is_taken_out_wherever_the_protocol_gives_an_object_a_meaning(path: list[str | int]) -> None:
    said: Any = {"mcpguard/call": 1, "kept": 2}
    rest: Any = {"kept": 2}
    for step in reversed(path):
        said, rest = ([said], [rest]) if isinstance(step, int) else ({step: said}, {step: rest})
    assert envelope.without_our_keys(said) == rest


@pytest.mark.parametrize("name", ["structuredContent", "inputSchema", "requestedSchema", "other"])
def test_what_means_something_to_the_server_alone_stays(name: str) -> None:
    said = {name: {"mcpguard/call": 1}}
    assert envelope.without_our_keys(said) is said


@pytest.mark.parametrize("data", ["text", 5, None, ["a"], True])
def test_data_of_an_error_that_is_no_object_stays_as_it_is(data: object) -> None:
    error = {"code": 1, "message": "x", "data": data}
    assert envelope.as_server_error(error) == error


def test_a_question_of_a_server_says_who_speaks() -> None:
    assert envelope.input_required({}, "state", US)["_meta"] == {envelope.SERVER: US, "mcpguard/speaker": "server"}


def test_an_error_says_who_speaks() -> None:
    error = {"code": 1, "message": "x"}
    assert envelope.as_server_error(error) == error | {"data": {"_meta": {"mcpguard/speaker": "server"}}}
    more = error | {"data": {"own": 1, "_meta": {"own": 2}}}
    assert envelope.as_guard_error(more)["data"] == {"own": 1, "_meta": {"own": 2, "mcpguard/speaker": "guard"}}
    assert more["data"] == {"own": 1, "_meta": {"own": 2}}
