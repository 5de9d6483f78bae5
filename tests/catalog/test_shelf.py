"""What one server offers: what can be said back to us is offered, and the rest is left out and counted."""

from typing import Any

import pytest

from mcpguard.catalog.shelf import Shelf, make_shelf
from mcpguard.codec.uris import LONGEST_URI, wrap_uri
from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.servers.listings import Listing

TOOL, RESOURCE = CapabilityKind.TOOL, CapabilityKind.RESOURCE
TEMPLATE, PROMPT = CapabilityKind.TEMPLATE, CapabilityKind.PROMPT


def approved(_kind: CapabilityKind, _name: str) -> Effect:
    return Effect.READ


def tools(*definitions: Any) -> Shelf:  # noqa: ANN401 - raw JSON
    return make_shelf("web", Listing(tools=definitions), approved)


def test_the_order_is_the_servers_and_the_definition_is_whole() -> None:
    definitions = [{"name": name, "inputSchema": None, "odd": [1e300]} for name in ("b", "a", "c")]
    made = tools(*definitions).entries_of(TOOL)
    assert list(made) == ["b", "a", "c"]
    assert [each.definition for each in made.values()] == definitions


@pytest.mark.parametrize("name", [None, "", 5, [], {}, True])
def test_what_has_no_name_is_left_out(name: object) -> None:
    made = tools({"name": name}, {}, {"name": "good"})
    assert list(made.entries_of(TOOL)) == ["good"]


def test_only_what_has_an_effect_is_offered() -> None:
    effects = {"a": Effect.WRITE, "b": Effect.DESTRUCTIVE}
    listing = Listing(tools=({"name": "a"}, {"name": "b"}, {"name": "c"}, {"name": "a"}), prompts=({"name": "a"},))
    made = make_shelf("web", listing, lambda kind, name: effects.get(name) if kind is TOOL else None)
    assert {name: each.effect for name, each in made.entries_of(TOOL).items()} == effects
    assert not made.entries_of(PROMPT)
    assert made.odd == ()


def test_a_name_that_grows_too_long_for_the_direct_face_is_left_out() -> None:
    room = 128 - len("web::")
    made = tools({"name": "x" * room}, {"name": "y" * (room + 1)})
    assert list(made.entries_of(TOOL)) == ["x" * room]
    assert made.odd == ("a tool whose name grows longer than 128 characters",)


def test_a_uri_that_could_not_be_asked_for_is_left_out() -> None:
    longest = "x:" + "a" * 6000
    while len(wrap_uri("web", longest + "a")) <= LONGEST_URI:
        longest += "a"
    resources = tuple({"uri": uri} for uri in (longest, longest + "a", "x:" + "\u20ac" * 3000))
    templates = tuple({"uriTemplate": "y:{x}" + "a" * length} for length in (8000, 8187))
    made = make_shelf("web", Listing(resources=resources, templates=templates), approved)
    assert list(made.entries_of(RESOURCE)) == [longest]
    assert len(made.entries_of(TEMPLATE)) == 1
    assert made.odd == (
        "a resource whose uri grows longer than 8192 characters, 2 times",
        "a template whose uriTemplate grows longer than 8192 characters",
    )


def test_a_server_that_offers_nothing_good_fills_no_log() -> None:
    made = make_shelf("web", Listing(tools=({},) * 5000, prompts=({"name": ""},) * 5000), approved)
    assert (made.odd, list(made.entries_of(TOOL)), list(made.entries_of(PROMPT))) == ((), [], [])


def test_what_is_no_tool_only_reads() -> None:
    made = make_shelf("web", Listing(resources=({"uri": "x:y"},), prompts=({"name": "p"},)), approved)
    assert [pinned.effect for kind in (RESOURCE, PROMPT) for pinned in made.entries_of(kind).values()] == [
        Effect.READ
    ] * 2
