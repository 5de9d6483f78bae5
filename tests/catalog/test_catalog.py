"""The catalog: one state of things, in an order that does not change by itself, in which a name means one thing."""

import pytest

from mcpguard.catalog.catalog import Catalog
from mcpguard.catalog.shelf import Shelf, make_shelf
from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.servers.listings import Listing

TOOL, PROMPT = CapabilityKind.TOOL, CapabilityKind.PROMPT


def offering(server: str, *names: str) -> Shelf:
    return make_shelf(server, Listing(tools=tuple({"name": name} for name in names)), lambda *_: Effect.READ)


def catalog(**servers: str) -> Catalog:
    made = Catalog()
    for server, names in servers.items():
        made = made.with_shelf(offering(server, *names.split()))
    return made


def meant(made: Catalog, name: str) -> list[str]:
    return [f"{one.capability.server}/{one.capability.name}" for one in made.by_qualified_name(TOOL, name)]


def test_the_order_is_by_server_and_then_the_servers_own_whatever_came_first() -> None:
    one, other = catalog(b="z y", a="x"), catalog(a="x", b="z y")
    assert [str(each.capability) for each in one.entries(TOOL)] == ["tool:a:x", "tool:b:z", "tool:b:y"]
    assert list(one.entries(TOOL)) == list(other.entries(TOOL))


def test_a_snapshot_does_not_change() -> None:
    before = catalog(a="x")
    before.with_shelf(offering("b", "y"))
    before.with_shelf(offering("a", "other"))
    before.without_server("a")
    assert [str(each.capability) for each in before.entries(TOOL)] == ["tool:a:x"]


@pytest.mark.parametrize("separator", ["::", "__", "."])
def test_every_separator_is_understood(separator: str) -> None:
    assert meant(catalog(web="echo"), f"web{separator}echo") == ["web/echo"]


@pytest.mark.parametrize(
    "name", ["echo", "web:echo", "web/echo", "web::echo ", "WEB::echo", "web::ECHO", "web::", "::echo"]
)
def test_nothing_else_is(name: str) -> None:
    assert meant(catalog(web="echo"), name) == []


def test_a_name_of_its_own_may_hold_separators() -> None:
    made = catalog(web="a::b a__b a.b ::a")
    assert meant(made, "web::a::b") == ["web/a::b"]
    assert meant(made, "web__a::b") == ["web/a::b"]
    assert meant(made, "web.a.b") == ["web/a.b"]
    assert meant(made, "web::::a") == ["web/::a"]


def test_a_name_that_could_mean_two_things_shows_both() -> None:
    made = Catalog().with_shelf(offering("a", "_b")).with_shelf(offering("a_", "b"))
    assert meant(made, "a___b") == ["a/_b", "a_/b"]
    assert meant(made, "a::_b") == ["a/_b"]
    assert meant(made, "a_::b") == ["a_/b"]


def test_tools_and_prompts_are_told_apart() -> None:
    made = Catalog().with_shelf(make_shelf("web", Listing(prompts=({"name": "echo"},)), lambda *_: Effect.READ))
    assert meant(made, "web::echo") == []
    assert [each.capability.name for each in made.by_qualified_name(PROMPT, "web::echo")] == ["echo"]


def test_a_part_of_it_knows_nothing_of_the_rest() -> None:
    whole = catalog(web="echo", local="echo")
    part = whole.restrict_to(lambda name: name == "web")
    assert list(part.shelves) == ["web"]
    assert meant(part, "local::echo") == []
    assert part.find("local", TOOL, "echo") is None
    assert whole.restrict_to(lambda _: True) is whole, "nothing is made anew where everything is wanted"
