"""What a call carries is found out when it is asked for, once, and anew only against another definition."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.codec.messages import dumps
from mcpguard.domain.capabilities import CapabilityKind, Effect, Fingerprint
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.launches import DeclaredServer, RemoteLaunch, Templates
from mcpguard.domain.servers.listings import Listing
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import CapabilityStanding
from mcpguard.domain.servers.upstreams import Transport, Upstream
from mcpguard.guard.servers import argument_checks as module
from mcpguard.guard.servers.argument_checks import MOST_SCHEMAS, Arguments, CallArgumentChecks
from mcpguard.guard.servers.registry import ServerState
from mcpguard.settings.model import Settings

Json = dict[str, Any]
JSON = st.recursive(
    st.none() | st.integers() | st.text('[{}]"\\', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("[{", max_size=3), inner, max_size=3),
    max_leaves=12,
)
TOOL = CapabilityKind.TOOL
STRICT: Json = {"type": "object", "required": ["a"]}


class Counting(dict[str, Any]):
    """Arguments that count how often they are looked through."""

    reads = 0

    def items(self) -> Any:  # noqa: ANN401 - of whatever is in them
        Counting.reads += 1
        return super().items()


def pin(mark: str, name: str = "echo") -> Pin:
    seen = Fingerprint("v1:" + mark.rjust(64, "0"))
    return Pin("pin", "web's", TOOL, name, seen, CapabilityStanding.APPROVED, approved=seen, effect=Effect.READ)


def offering(*tools: Json) -> ServerState:
    launch = RemoteLaunch(Transport.HTTP, "https://example.org/mcp", Templates())
    return ServerState(
        Upstream("web's", "web", Transport.HTTP), DeclaredServer("web", "web", launch), listing=Listing(tools=tools)
    )


def levels(value: object) -> int:
    """How deeply objects and arrays are nested, as one would write it down."""
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return 1 + max(map(levels, inner), default=0)
    return 0


def call(**arguments: object) -> Arguments:
    return Arguments("tools/call", {"name": "echo", "arguments": arguments})


def seen(given: Arguments, checking: CallArgumentChecks, known: ServerState, pinned: Pin | None) -> Arguments:
    """As the rules see them beside what is in force."""
    given.beside = checking, known, pinned
    return given


def test_arguments_are_compared_with_the_definition_that_is_listed() -> None:
    checking, known = CallArgumentChecks(Settings()), offering({"name": "echo", "inputSchema": STRICT})
    assert seen(call(a=1), checking, known, pin("1")).unfit is None
    found = seen(call(), checking, known, pin("1")).unfit
    assert found is not None
    assert (found.reason, found.detail.path) == (Reason.ARGUMENTS_INVALID, "$.a")


def test_another_definition_means_another_comparison_and_the_same_one_does_not() -> None:
    checking, carried = CallArgumentChecks(Settings()), call()
    known = offering({"name": "echo"})
    assert seen(carried, checking, known, pin("1")).unfit is None
    known.listing = Listing(tools=({"name": "echo", "inputSchema": STRICT},))
    assert seen(carried, checking, known, pin("1")).unfit is None, "what was found out stands for the fingerprint"
    assert seen(carried, checking, known, pin("2")).unfit is not None


@pytest.mark.parametrize("schema", [None, {}, True, {"type": "object"}])
def test_no_arguments_are_an_empty_object_and_what_is_no_object_is_refused(schema: object) -> None:
    checking, known = CallArgumentChecks(Settings()), offering({"name": "echo", "inputSchema": schema})
    for params in ({"name": "echo"}, {"name": "echo", "arguments": None}):
        assert seen(Arguments("tools/call", params), checking, known, pin("1")).unfit is None
    for given_ in ([1], "canary", 7, False):
        found = seen(Arguments("tools/call", {"arguments": given_}), checking, known, pin("1")).unfit
        assert found is not None
        assert (found.reason, found.detail.path, found.detail.expected) == (Reason.ARGUMENTS_INVALID, "$", "an object")


def test_a_definition_that_is_not_there_lets_nothing_through() -> None:
    for known in (offering(), offering({"name": "other"}), offering({"name": 7})):
        found = seen(call(), CallArgumentChecks(Settings()), known, pin("1")).unfit
        assert found is not None
        assert found.reason is Reason.ARGUMENTS_UNVERIFIABLE


@given(JSON, st.integers(0, 8), st.integers(-1, 1))
def test_exactly_what_exceeds_a_limit_is_too_large(value: object, deepest: int, room: int) -> None:
    carried = call(a=value)
    checking = CallArgumentChecks(Settings())
    checking.largest, checking.deepest = len(dumps(carried.params)) + room, deepest
    found = seen(carried, checking, offering(), pin("1")).too_large
    assert (found is None) == (room >= 0 and levels(carried.params) <= deepest)


def test_only_tools_and_prompts_have_a_description_of_what_they_are_given() -> None:
    known = offering()
    for method in ("resources/read", "completion/complete", "resources/subscribe"):
        assert seen(Arguments(method, {"uri": "a://b"}), CallArgumentChecks(Settings()), known, pin("1")).unfit is None


def test_secrets_are_looked_for_once() -> None:
    for text, reads in (("x", 0), ("ghp_", 2)):
        Counting.reads = 0
        carried = Arguments("tools/call", {"arguments": Counting(a=text)})
        look = seen(carried, CallArgumentChecks(Settings()), offering(), pin("1"))
        assert carried.found is None, "nobody has asked yet"
        assert look.secret is None
        assert look.secret is None
        assert Counting.reads == reads, "what the bytes rule out is not read, and what they do not is searched once"


def test_schemas_that_are_kept_stay_few_and_small() -> None:
    checking = CallArgumentChecks(Settings())
    many = 3 * (module.MOST_BYTES // (200 * 1024))
    for at in range(many):
        schema = {"type": "object", "properties": {"a": {"description": "x" * 200_000}, "b": {"const": at}}}
        known = offering({"name": "echo", "inputSchema": schema})
        assert seen(call(b=at), checking, known, pin(f"{at:x}")).unfit is None
        assert checking._size <= module.MOST_BYTES
    assert len(checking._schemas) < many
    for at in range(MOST_SCHEMAS + 10):
        assert seen(call(), checking, offering({"name": "echo"}), pin(f"{at:x}")).unfit is None
    assert len(checking._schemas) == MOST_SCHEMAS


def test_a_schema_that_is_kept_is_not_read_again() -> None:
    checking, known = CallArgumentChecks(Settings()), offering({"name": "echo", "inputSchema": STRICT})
    assert seen(call(), checking, known, pin("1")).unfit is not None
    known.listing = Listing(tools=({"name": "echo", "inputSchema": "unreadable"},))
    found = seen(call(), checking, known, replace(pin("1"), generation=7)).unfit
    assert found is not None
    assert found.reason is Reason.ARGUMENTS_INVALID
