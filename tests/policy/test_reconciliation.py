"""A listing is compared with what is known: nothing that is different passes for the same, and nothing is lost."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.capabilities import CapabilityKind, Effect, Fingerprint
from mcpguard.domain.decisions import CapabilityKey
from mcpguard.domain.servers.listings import Listing
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import CapabilityMove, CapabilityStanding
from mcpguard.policy.pin_changes import approve
from mcpguard.policy.reconciliation import Reconciliation, read_listing, reconcile

TOOL = {"name": "t", "description": "d", "inputSchema": {"type": "object"}}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
DEFINITIONS = st.dictionaries(st.sampled_from(["description", "annotations", "_meta", "title"]), JSON)


def after(pins: list[Pin], listing: Listing) -> tuple[list[Pin], Reconciliation]:
    """All pins after a listing, and what came of it."""
    numbers = itertools.count(len(pins))
    done = reconcile("up", pins, read_listing(listing), lambda: f"id {next(numbers)}")
    now = {pin.id: pin for pin in pins} | {outcome.pin.id: outcome.pin for outcome in done.outcomes}
    return list(now.values()), done


def known(*tools: dict[str, Any]) -> list[Pin]:
    """These tools, approved as they are."""
    pins, _ = after([], Listing(tools=tools))
    return [approve(pin, pin.listed, Effect.READ).pin for pin in pins]


def test_a_capability_in_which_something_hard_was_found_does_not_come_back_by_itself() -> None:
    pins, done = known(TOOL), TOOL | {"description": "another"}
    hard = frozenset({(CapabilityKind.TOOL, "t")})
    for found, back in ((hard, False), (frozenset[CapabilityKey](), True)):
        (changed,) = reconcile("up", pins, read_listing(Listing(tools=(done,))), str, found).outcomes
        (again,) = reconcile("up", [changed.pin], read_listing(Listing(tools=(TOOL,))), str).outcomes
        assert again.pin.callable is back


def test_everything_new_waits_with_its_definition_kept() -> None:
    listing = Listing(
        tools=(TOOL,),
        resources=({"uri": "a://b", "name": "r"},),
        templates=({"uriTemplate": "a://{b}", "name": "t"},),
        prompts=({"name": "p"},),
        instructions="Be kind.",
    )
    pins, done = after([], listing)
    assert {(pin.kind, pin.name) for pin in pins} == {
        (CapabilityKind.TOOL, "t"),
        (CapabilityKind.RESOURCE, "a://b"),
        (CapabilityKind.TEMPLATE, "a://{b}"),
        (CapabilityKind.PROMPT, "p"),
        (CapabilityKind.INSTRUCTIONS, "instructions"),
    }
    assert {(pin.standing, pin.waits) for pin in pins} == {(CapabilityStanding.PENDING, True)}
    assert {(seen.pin, seen.fingerprint) for seen in done.seen} == {(pin.id, pin.listed) for pin in pins}
    assert all(outcome.move is None for outcome in done.outcomes)


def test_the_same_listing_again_changes_nothing_in_whatever_order() -> None:
    one, two = {**TOOL, "name": "one"}, {**TOOL, "name": "two"}
    pins = known(one, two)
    assert after(pins, Listing(tools=(two, one)))[1].outcomes == ()
    reordered = {key: one[key] for key in reversed(one)}
    assert after(pins, Listing(tools=(reordered, two)))[1].outcomes == (), "the order of keys means nothing"


@given(DEFINITIONS, DEFINITIONS)
def test_whatever_differs_in_anything_is_changed(first: dict[str, Any], second: dict[str, Any]) -> None:
    pins, done = after(known(TOOL | first), Listing(tools=(TOOL | second,)))
    same = repr(sorted_(TOOL | first)) == repr(sorted_(TOOL | second))  # as Python writes them 1, 1.0 and True differ
    assert (done.outcomes == ()) == same
    assert pins[0].callable == same
    if not same:
        assert done.outcomes[0].move is CapabilityMove.DIFFERS


def sorted_(value: object) -> object:
    if isinstance(value, dict):
        return {key: sorted_(value[key]) for key in sorted(value)}
    return [sorted_(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("missing", ["one", "all"])
def test_what_is_not_listed_is_gone_and_stands_where_it_stood(missing: str) -> None:
    other = {**TOOL, "name": "other"}
    left = (other,) if missing == "one" else ()
    pins, done = after(known(TOOL, other), Listing(tools=left))
    assert pins[0].standing is CapabilityStanding.APPROVED
    assert not pins[0].callable
    assert len(done.outcomes) == (1 if missing == "one" else 2)
    assert after(pins, Listing(tools=left))[1].outcomes == (), "it goes once"
    back, _ = after(pins, Listing(tools=(TOOL, other)))
    assert all(pin.callable for pin in back)


def test_one_name_with_two_definitions_is_changed_and_cannot_be_approved() -> None:
    twice = Listing(tools=(TOOL, {**TOOL, "description": "another"}))
    pins, done = after(known(TOOL), twice)
    assert (pins[0].standing, pins[0].listed) == (CapabilityStanding.CHANGED, None)
    assert read_listing(twice).odd == {"a tool that is listed twice, differently": 1}
    assert done.seen == ()
    again, _ = after(known(TOOL), Listing(tools=(TOOL, dict(TOOL))))
    assert again[0].callable
    assert read_listing(Listing(tools=(TOOL, dict(TOOL)))).odd == {}, "twice the same is once"


def test_a_third_time_does_not_make_two_definitions_one_again() -> None:
    other = {**TOOL, "description": "another"}
    for tools in itertools.permutations((TOOL, other, TOOL)):
        pins, _ = after(known(TOOL), Listing(tools=tools))
        assert not pins[0].callable, tools


def test_what_cannot_be_read_is_changed() -> None:
    deep: dict[str, Any] = {}
    for _ in range(10_000):
        deep = {"a": deep}
    for wrong in (deep, "\ud800", float("nan")):
        pins, done = after(known(TOOL), Listing(tools=({**TOOL, "description": wrong},)))
        assert (pins[0].standing, pins[0].listed) == (CapabilityStanding.CHANGED, None)
        assert done.seen == ()


@pytest.mark.parametrize("name", [None, "", 5, ["t"], "a\0b", "x" * 8193])
def test_what_has_no_name_that_could_be_kept_is_left_out_and_counted(name: object) -> None:
    listing = Listing(tools=({**TOOL, "name": name}, TOOL))
    pins, _ = after([], listing)
    assert [pin.name for pin in pins] == ["t"]
    assert read_listing(listing).odd == {"a tool without a name that could be kept": 1}


def test_instructions_are_a_capability() -> None:
    pins, _ = after([], Listing(instructions="Be kind."))
    pins = [approve(pin, pin.listed, Effect.READ).pin for pin in pins]
    assert after(pins, Listing(instructions="Be kind."))[1].outcomes == ()
    changed, _ = after(pins, Listing(instructions="Be unkind."))
    assert changed[0].standing is CapabilityStanding.CHANGED
    absent, _ = after(pins, Listing())
    assert not absent[0].callable


def test_a_fingerprint_is_of_a_kind() -> None:
    pins, _ = after([], Listing(tools=({"name": "x"},), prompts=({"name": "x"},)))
    prints: set[Fingerprint | None] = {pin.listed for pin in pins}
    assert len(prints) == 2
