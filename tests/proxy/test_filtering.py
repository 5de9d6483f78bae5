"""A filter of a list: what begins so, and has all of these tags."""

from typing import Any

import pytest

from mcpguard.proxy.filtering import EVERYTHING, ListFilter

TOOL: dict[str, Any] = {
    "name": "calc::add",
    "_meta": {"mcpguard/origin": {"server": "calc", "name": "add"}, "fastmcp": {"tags": ["math", "sums"]}},
}
RESOURCE: dict[str, Any] = {
    "name": "settings",
    "uri": "proxy://resource/x",
    "tags": ["config"],
    "_meta": {"mcpguard/origin": {"server": "web", "uri": "note://config"}},
}
HOSTILE: list[dict[str, Any]] = [
    {},
    {"name": 7, "uri": ["x"], "_meta": "x", "tags": "math"},
    {"name": None, "_meta": {"mcpguard/origin": "x", "fastmcp": ["math"], "_fastmcp": {"tags": {"math": 1}}}},
    {"tags": [["math"], {"math": 1}, None, 1], "_meta": {"fastmcp": {"tags": None}}},
]


@pytest.mark.parametrize("prefix", ["", "c", "calc::", "calc::add", "add", "a"])
def test_a_name_as_it_is_listed_or_as_its_server_has_it_begins_so(prefix: str) -> None:
    assert ListFilter(prefix).wants(TOOL)


@pytest.mark.parametrize("prefix", ["note://", "settings", "proxy://"])
def test_of_a_resource_its_uri_and_its_name_count(prefix: str) -> None:
    assert ListFilter(prefix).wants(RESOURCE)


@pytest.mark.parametrize("prefix", ["calc::addition", "Calc", "dd", "math"])
def test_what_begins_otherwise_is_left_out(prefix: str) -> None:
    assert not ListFilter(prefix).wants(TOOL)


def test_all_tags_are_needed_wherever_servers_put_them() -> None:
    assert ListFilter(tags=("math", "sums")).wants(TOOL)
    assert ListFilter(tags=("config",)).wants(RESOURCE)
    assert ListFilter(tags=("math",)).wants({"_meta": {"_fastmcp": {"tags": ["math"]}}})
    assert not ListFilter(tags=("math", "more")).wants(TOOL)
    assert not ListFilter(tags=("math",)).wants(RESOURCE)
    assert not ListFilter("elsewhere", ("math",)).wants(TOOL)


@pytest.mark.parametrize("entry", HOSTILE)
def test_whatever_a_server_wrote_is_no_name_and_no_tag(entry: dict[str, Any]) -> None:
    assert EVERYTHING.wants(entry)
    assert not ListFilter("m").wants(entry)
    assert not ListFilter(tags=("math",)).wants(entry)
