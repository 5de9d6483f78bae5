"""A server that may still be at a call which was taken back gets another connection, and nobody notices."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from mcpguard.domain.asks import AskKind
from mcpguard.domain.servers.launches import Era
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.supervise.fleet import Unreachable
from tests.attacks.in_front import until
from tests.simulators.asked import Asked
from tests.simulators.script import Script
from tests.simulators.words import result
from tests.upstreams.eliciting import ELICITS, person, said, until_open
from tests.upstreams.flock import Flock, Somebody, flock, plain

pytestmark = pytest.mark.anyio


def asking() -> Script:
    """A server of the handshake era, with a tool that asks and one that takes its time."""
    script = Script("legacy", tools=())

    async def ask(asked: Asked) -> str:
        answer = await asked.ask("elicitation/create", ELICITS["params"])
        return f"heard {answer['action']}"

    async def slow(asked: Asked) -> str:
        await asked.script.hold()
        return "done"

    script.tool("ask", ask)
    script.tool("slow", slow)
    script.tool("quick", "done")
    return script


@asynccontextmanager
async def left_behind(script: Script, second: Script | BaseException | None = None) -> AsyncIterator[Flock]:
    """A server at which somebody has taken back a call, which it never answers."""
    scripts = {"a": script} | ({} if second is None else {"a second": second})
    async with flock(scripts, plain("a", era=Era.LEGACY), retry_seconds=1) as found:
        found.may_ask["a"] = frozenset({AskKind.ELICITATION})
        await found.ready("a")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(found.call, "a", "slow", {}, person())
            await script.until(lambda: script.held)
            tasks.cancel_scope.cancel()
        await script.until(lambda: script.abandoned)
        yield found


async def test_whoever_can_be_asked_gets_another_connection_and_what_is_under_way_ends_on_the_earlier_one() -> None:
    script = asking()
    async with left_behind(script) as found:
        heard: list[str] = []

        async def cannot_be_asked() -> None:
            heard.append(await said(found, "slow", Somebody(era=Era.LEGACY)))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(cannot_be_asked)
            await script.until(lambda: script.held)
            assert found.wires.reached == ["a"], "nobody needs another one for that"
            assert await said(found, "ask", person()) == "heard accept"
            assert found.wires.reached == ["a", "a second"]
            assert {*found.wires.open} == {"a", "a second"}
            tasks.start_soon(cannot_be_asked)
            await script.until(lambda: script.held == 2)  # the second one is on the new connection
            script.go()
            await until(lambda: len(heard) == 2)
        assert heard == ["done", "done"]
        await until_open(found, "a", is_open=False)
        assert found.stood("a") == ["starting", "ready", "ready"]
        assert await said(found, "ask", person()) == "heard accept"
        assert found.wires.reached == ["a", "a second"]


async def test_once_it_has_answered_after_all_no_other_connection_is_needed() -> None:
    script = asking()
    async with left_behind(script) as found:
        await found.wires.open["a"].say(json.dumps(result(script.abandoned[0]["id"], {"content": []})).encode())
        assert await said(found, "ask", person()) == "heard accept"
        assert found.wires.reached == ["a"]


async def test_where_no_other_can_be_had_it_is_ended_when_it_has_nothing_to_do_and_begun_anew() -> None:
    script = asking()
    async with left_behind(script, TransportEnded("there can be only one")) as found:
        with pytest.raises(Unreachable):
            await found.call("a", "ask", by=person())
        assert script.called("tools/call", "ask") == []
        await found.stands("error", "a")
        assert found.wires.reached == ["a", "a second"]
        await found.clock.advance(1)
        await found.ready("a")
        assert await said(found, "ask", person()) == "heard accept"
        assert found.wires.reached == ["a", "a second", "a"]


async def test_subscriptions_go_on_over_the_new_connection() -> None:
    script = asking()
    script.resources = [{"uri": "note://first", "name": "first"}]
    async with left_behind(script) as found:
        await found.fleet._servers["a"].current.watching.add("note://first", found)
        await script.received("resources/subscribe")
        assert await said(found, "quick", person()) == "done"
        await script.received("resources/subscribe", 2)
        await until_open(found, "a", is_open=False)
        await script.updated("note://first")
        await until(lambda: any(getattr(news, "uri", None) == "note://first" for news in found.news))
