"""What a call carries is found out when it is asked for, once, and anew only against another definition."""

from dataclasses import replace
from typing import Any

from mcpguard.domain.capabilities import CapabilityKind, Effect, Fingerprint
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.launches import DeclaredServer, RemoteLaunch, Templates
from mcpguard.domain.servers.listings import Listing
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import CapabilityStanding
from mcpguard.domain.servers.upstreams import Transport, Upstream
from mcpguard.guard.servers import argument_checks as module
from mcpguard.guard.servers.argument_checks import MOST_SCHEMAS, CallArgumentChecks
from mcpguard.guard.servers.registry import ServerState
from mcpguard.policy.arguments.call_arguments import Arguments
from mcpguard.settings.model import Settings

Json = dict[str, Any]
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


def call(**arguments: object) -> Arguments:
    return Arguments("tools/call", {"name": "echo", "arguments": arguments})


def test_arguments_are_compared_with_the_definition_that_is_listed() -> None:
    checking, known = CallArgumentChecks(Settings()), offering({"name": "echo", "inputSchema": STRICT})
    assert checking.look(call(a=1), known, pin("1")).unfit is None
    found = checking.look(call(), known, pin("1")).unfit
    assert found is not None
    assert (found.reason, found.detail.path) == (Reason.ARGUMENTS_INVALID, "$.a")


def test_another_definition_means_another_comparison_and_the_same_one_does_not() -> None:
    checking, carried = CallArgumentChecks(Settings()), call()
    known = offering({"name": "echo"})
    assert checking.look(carried, known, pin("1")).unfit is None
    known.listing = Listing(tools=({"name": "echo", "inputSchema": STRICT},))
    assert checking.look(carried, known, pin("1")).unfit is None, "what was found out stands for the fingerprint"
    assert checking.look(carried, known, pin("2")).unfit is not None


def test_a_definition_that_is_not_there_lets_nothing_through() -> None:
    for known in (offering(), offering({"name": "other"}), offering({"name": 7})):
        found = CallArgumentChecks(Settings()).look(call(), known, pin("1")).unfit
        assert found is not None
        assert found.reason is Reason.ARGUMENTS_UNVERIFIABLE


def test_only_tools_and_prompts_have_a_description_of_what_they_are_given() -> None:
    known = offering()
    for method in ("resources/read", "completion/complete", "resources/subscribe"):
        assert CallArgumentChecks(Settings()).look(Arguments(method, {"uri": "a://b"}), known, pin("1")).unfit is None


def test_secrets_are_looked_for_once() -> None:
    Counting.reads = 0
    carried = Arguments("tools/call", {"arguments": Counting(a="x")})
    look = CallArgumentChecks(Settings()).look(carried, offering(), pin("1"))
    assert carried.found is None, "nobody has asked yet"
    assert look.secret is None
    assert look.secret is None
    assert Counting.reads == 1


def test_schemas_that_are_kept_stay_few_and_small() -> None:
    checking = CallArgumentChecks(Settings())
    many = 3 * (module.MOST_BYTES // (200 * 1024))
    for at in range(many):
        schema = {"type": "object", "properties": {"a": {"description": "x" * 200_000}, "b": {"const": at}}}
        known = offering({"name": "echo", "inputSchema": schema})
        assert checking.look(call(b=at), known, pin(f"{at:x}")).unfit is None
        assert checking._size <= module.MOST_BYTES
    assert len(checking._schemas) < many
    for at in range(MOST_SCHEMAS + 10):
        assert checking.look(call(), offering({"name": "echo"}), pin(f"{at:x}")).unfit is None
    assert len(checking._schemas) == MOST_SCHEMAS


def test_a_schema_that_is_kept_is_not_read_again() -> None:
    checking, known = CallArgumentChecks(Settings()), offering({"name": "echo", "inputSchema": STRICT})
    assert checking.look(call(), known, pin("1")).unfit is not None
    known.listing = Listing(tools=({"name": "echo", "inputSchema": "unreadable"},))
    found = checking.look(call(), known, replace(pin("1"), generation=7)).unfit
    assert found is not None
    assert found.reason is Reason.ARGUMENTS_INVALID
