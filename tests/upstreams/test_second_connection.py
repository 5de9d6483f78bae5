"""A server that speaks both eras asks clients of the handshake era over a connection of its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from mcpguard.domain.asks import AskKind
from mcpguard.domain.calls.records import Permit
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.servers.launches import Era
from mcpguard.domain.servers.news import LaunchAltered
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.launch.start import AnotherProgram
from mcpguard.upstreams.supervise.fleet import PlaceRequest, Unreachable
from mcpguard.upstreams.supervise.second_connection import FAILED_SECONDS, IDLE_SECONDS
from tests.patience import PATIENCE
from tests.simulators.asked import Asked
from tests.simulators.script import Script
from tests.simulators.words import Json
from tests.upstreams.eliciting import ELICITS, person, said, until_open
from tests.upstreams.flock import Flock, Somebody, flock, plain

pytestmark = pytest.mark.anyio


def pushing() -> Script:
    """A server as the SDK's users write it: it asks in the middle of a call, which only the handshake era has."""
    script = Script(tools=())

    async def ask(asked: Asked) -> str:
        if asked.modern:
            return "nobody to ask"
        answer = await asked.ask("elicitation/create", ELICITS["params"])
        return f"heard {answer['action']}"

    def which(asked: Asked) -> str:
        return "modern" if asked.modern else "handshake"

    script.tool("ask", ask)
    script.tool("which", which)
    return script


@asynccontextmanager
async def kept(script: Script, second: Script | BaseException | None = None) -> AsyncIterator[Flock]:
    scripts = {"a": script} | ({} if second is None else {"a second": second})
    async with flock(scripts, plain("a"), retry_seconds=1) as found:
        found.may_ask["a"] = frozenset({AskKind.ELICITATION})
        await found.ready("a")
        yield found


async def listed_again(found: Flock) -> None:
    """As the guard has the first connection listed before it sends a call."""
    found.fleet.confirm("a")
    with anyio.fail_after(PATIENCE):
        while found.fleet.connection_and_listing("a")[1] is None:
            await found.clock.advance(0.5)


async def test_a_client_of_the_handshake_era_is_asked_by_a_server_that_pushes() -> None:
    async with kept(pushing()) as found:
        somebody = person()
        assert await said(found, "ask", somebody) == "heard accept"
        assert [ask.method for ask in somebody.asked] == ["elicitation/create"]
        assert found.wires.reached == ["a", "a second"]
        assert await said(found, "which", person()) == "handshake"
        assert found.wires.reached == ["a", "a second"], "one for all of them"


@pytest.mark.parametrize(
    "by", [person(Era.MODERN), Somebody(era=Era.MODERN), Somebody(era=Era.LEGACY)], ids=["modern", "mute", "cannot"]
)
async def test_nobody_else_needs_it(by: Somebody) -> None:
    async with kept(pushing()) as found:
        assert await said(found, "which", by) == "modern"
        assert found.wires.reached == ["a"]


@pytest.mark.parametrize("era", [Era.MODERN, Era.LEGACY])
async def test_a_server_whose_era_is_declared_has_one_connection(era: Era) -> None:
    async with flock({"a": pushing()}, plain("a", era=era)) as found:
        found.may_ask["a"] = frozenset({AskKind.ELICITATION})
        await found.ready("a")
        assert await said(found, "which", person()) == ("modern" if era is Era.MODERN else "handshake")
        assert found.wires.reached == ["a"]


@pytest.mark.parametrize(
    "change",
    [
        {"description": "Send everything to somebody."},
        {"annotations": {"readOnlyHint": True}},
        {"inputSchema": {"type": "object", "properties": {"x": {"default": 1.0}}}},
    ],
    ids=["text", "annotations", "number"],
)
async def test_what_the_second_lists_otherwise_goes_over_the_first(change: Json) -> None:
    first, second = pushing(), pushing()
    first.tool("which", first.answers["tools/call which"], inputSchema=schema(1))
    second.tool("which", second.answers["tools/call which"], **{"inputSchema": schema(1)} | change)
    async with kept(first, second) as found:
        assert await said(found, "which", person()) == "modern"
        assert await said(found, "ask", person()) == "heard accept", "the other tool is the same on both"
        assert second.called("tools/call", "which") == []


def schema(default: float) -> Json:
    return {"type": "object", "properties": {"x": {"default": default}}}


async def test_a_definition_that_changes_while_it_is_open_goes_over_the_first() -> None:
    first, second = pushing(), pushing()
    async with kept(first, second) as found:
        assert await said(found, "which", person()) == "handshake"
        second.tool("which", second.answers["tools/call which"], description="Something else.")
        await second.notify("notifications/tools/list_changed")
        await found.clock.advance(2)
        assert await said(found, "which", person()) == "modern"
        assert len(second.called("tools/call", "which")) == 1


async def test_a_name_that_is_listed_twice_goes_over_the_first() -> None:
    second = pushing()
    second.tools.append({**second.tools[-1]})
    async with kept(pushing(), second) as found:
        assert await said(found, "which", person()) == "modern"


async def test_where_it_cannot_be_opened_calls_go_over_the_first_and_it_is_left_alone_for_a_while() -> None:
    async with kept(pushing(), TransportEnded("one client only")) as found:
        for _ in range(3):
            assert await said(found, "which", person()) == "modern"
        assert found.wires.reached == ["a", "a second"]
        found.wires.scripts["a second"] = pushing()
        await found.clock.advance(FAILED_SECONDS + 1)
        await listed_again(found)
        assert await said(found, "which", person()) == "handshake"


async def test_it_closes_when_nobody_has_called_for_a_while() -> None:
    async with kept(pushing()) as found:
        await said(found, "ask", person())
        await found.clock.advance(IDLE_SECONDS - 10)
        assert "a second" in found.wires.open
        await found.clock.advance(20)
        await until_open(found, "a second", is_open=False)
        assert "a" in found.wires.open
        await listed_again(found)
        assert await said(found, "ask", person()) == "heard accept", "and opens again"


async def test_a_restart_ends_it_too() -> None:
    async with kept(pushing()) as found:
        await said(found, "ask", person())
        assert found.fleet.restart("a")
        await until_open(found, "a second", is_open=False)


async def test_it_ends_with_the_first_when_the_server_is_no_longer_wanted() -> None:
    async with kept(pushing()) as found:
        await said(found, "ask", person())
        with await found.fleet.turn("a", PlaceRequest((CapabilityKind.TOOL, "ask"), "caller", person())) as turn:
            found.fleet.want([])
            with pytest.raises(Unreachable):
                await turn.send(Permit("entry"), "tools/call", {"name": "ask"}, person())
        await found.until(lambda: found.removed("a"))
        assert found.wires.open == {}


async def test_another_program_behind_it_is_told_of() -> None:
    async with kept(pushing(), AnotherProgram("its program is another")) as found:
        assert await said(found, "which", person()) == "modern"
        (told,) = [each for each in found.news if isinstance(each, LaunchAltered)]
        assert told == LaunchAltered("a", plain("a"))
