"""What is kept about servers so that calls need not ask for it: it is always what would be found anew."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.capabilities import CapabilityKind, Effect, Fingerprint
from mcpguard.domain.servers.launches import DeclaredServer, RemoteLaunch, Templates
from mcpguard.domain.servers.listings import Listing
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import CapabilityStanding, UpstreamStanding
from mcpguard.domain.servers.upstreams import Transport, Upstream
from mcpguard.guard.servers.neighbours import Neighbours, NeighbourTools
from mcpguard.guard.servers.registry import Registry, ServerState
from tests.policy.situations import PINS

NAMES = ("a", "b", "c")
TOOLS = ("read", "write")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.sampled_from(NAMES), st.just("")),
        st.tuples(st.just("bury"), st.sampled_from(NAMES), st.just("")),
        st.tuples(st.just("pin"), st.sampled_from(NAMES), st.sampled_from(TOOLS)),
        st.tuples(st.just("unpin"), st.sampled_from(NAMES), st.sampled_from(TOOLS)),
        st.tuples(
            st.just("standing"), st.sampled_from(NAMES), st.sampled_from([each.value for each in UpstreamStanding])
        ),
        st.tuples(st.just("load"), st.sampled_from(NAMES), st.just("")),
    ),
    max_size=12,
)


def server(name: str) -> ServerState:
    launch = RemoteLaunch(Transport.HTTP, "https://example.org/mcp", Templates())
    return ServerState(Upstream(f"{name}'s", name, Transport.HTTP), DeclaredServer(name, name, launch))


def tool(name: str) -> Pin:
    return Pin(name, "its", CapabilityKind.TOOL, name, Fingerprint(f"v1:{'a' * 64}"))


def step(registry: Registry, what: str, name: str, more: str) -> None:
    """Change something as `standings` does: what calls are judged from is replaced, and the registry is told."""
    known = registry.find(name)
    if what == "load":
        registry.load([server(name)], [])
    if known is None:
        if what == "add":
            registry.add(server(name))
        return
    if what == "bury":
        registry.bury(known)
        return
    if what == "pin":
        known.pins = {**known.pins, (CapabilityKind.TOOL, more): tool(more)}
    elif what == "unpin":
        known.pins = {key: pin for key, pin in known.pins.items() if key[1] != more}
    elif what == "standing":
        known.upstream = replace(known.upstream, standing=UpstreamStanding(more))
    registry.note_change()


@given(STEPS)
def test_the_tools_beside_a_server_are_those_that_there_are_now(steps: list[tuple[str, str, str]]) -> None:
    registry = Registry()
    beside = NeighbourTools(registry)
    for each in steps:
        step(registry, *each)
        for name in NAMES:
            found, known = beside.kept.get(name) or beside(name), registry.find(name)
            fresh = Neighbours(registry).surroundings_of(known) if known is not None else None
            assert (found.own, found.others) == ((fresh.own, fresh.others) if fresh is not None else (frozenset(), {}))


@given(PINS)
def test_a_pin_is_callable_exactly_where_its_server_lists_what_was_approved(pin: Pin) -> None:
    approved = pin.standing is CapabilityStanding.APPROVED and pin.approved is not None
    assert pin.callable == (approved and pin.present and pin.listed == pin.approved and pin.effect is not None)
    assert not replace(pin, standing=CapabilityStanding.BLOCKED).callable
    as_listed = replace(
        pin, approved=pin.listed, standing=CapabilityStanding.APPROVED, present=True, effect=Effect.READ
    )
    assert as_listed.callable == (pin.listed is not None)


@given(st.lists(st.none() | st.lists(st.tuples(st.sampled_from(TOOLS), st.booleans()), max_size=2), max_size=5))
def test_definitions_are_found_in_the_listing_of_this_moment(listings: list[list[tuple[str, bool]] | None]) -> None:
    known = server("a")
    for tools in listings:
        execution = {"execution": {"taskSupport": "required"}}
        made = [{"name": name, **(execution if tasks else {})} for name, tasks in tools or ()]
        known.listing = Listing(tools=tuple(made)) if tools is not None else None
        for name in TOOLS:
            last = next((each for each in reversed(made) if each["name"] == name), None)
            assert known.definition(CapabilityKind.TOOL, name) == last
            assert (name in known.index[2]) == (last is not None and "execution" in last)
