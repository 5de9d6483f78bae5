"""Calls whose server is taken away, that are taken back, or that take too long: each ends, and the ledger says how."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcpguard.domain.servers.upstreams import Transport
from tests.attacks.in_front import in_front_of, refused, until
from tests.gate import Gate, gate, process, remote
from tests.patience import PATIENCE
from tests.simulators.client import RawClient
from tests.simulators.over_http import serving_http
from tests.simulators.over_sse import serving_sse
from tests.simulators.processes import controlled
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio


async def test_a_server_that_is_removed_is_uncallable_at_once(tmp_path: Path) -> None:
    script, other = Script(), Script()
    async with controlled(script, tmp_path) as server, serving_http(other) as url:
        bad, good = process("bad", [server.command, *server.arguments]), remote("good", url)
        async with gate(tmp_path, bad, good) as guard, anyio.create_task_group() as tasks:
            await guard.ready("bad", "good")
            agent = guard.client()
            told: list[dict[str, Any]] = []

            async def call(name: str) -> None:
                told.append((await agent.call(name)).result["_meta"]["mcpguard/refusal"])

            tasks.start_soon(call, "bad::slow")
            await script.until(lambda: script.held)
            processes = len(server.processes)
            await guard.declare(good)
            await call("bad::echo")
            await until(lambda: len(told) == 2)
            assert sorted((said["reason"], said["executed"]) for said in told) == [
                ("capability:withdrawn", "unknown"),
                ("server:disabled", "no"),
            ]
            await until(server.process.ended.is_set)
            assert len(script.called("tools/call")) == 1
            assert len(server.processes) == processes
            assert (await agent.call("good::echo", {"n": 1})).result["structuredContent"] == {"n": 1}
            assert "bad::echo" not in await agent.names()
            assert sorted(refused(entry) for entry in guard.entries()) == [
                ("answered", "yes", ""),
                ("refused", "no", "server:disabled"),
                ("unknown", "unknown", "capability:withdrawn"),
            ]


async def test_a_server_that_is_full_refuses_in_clear_words(tmp_path: Path) -> None:
    script = Script()
    given = {"upstreams__concurrency": 1, "upstreams__queue": 1}
    async with in_front_of(script, tmp_path, **given) as guard, anyio.create_task_group() as tasks:
        agent = guard.client()
        tasks.start_soon(agent.call, "bad::slow")
        await script.until(lambda: script.held)
        tasks.start_soon(agent.call, "bad::echo")
        await until(lambda: len(guard.entries()) == 2)
        await anyio.wait_all_tasks_blocked()
        said = (await agent.call("bad::echo")).result["_meta"]["mcpguard/refusal"]
        assert (said["reason"], said["executed"]) == ("server:busy", "no")
        assert len(script.called("tools/call")) == 1
        script.go()
        await script.received("tools/call", 2)
        await until(lambda: all("outcome" in entry for entry in guard.entries()))
        assert sorted(refused(entry) for entry in guard.entries()) == [
            ("answered", "yes", ""),
            ("answered", "yes", ""),
            ("refused", "no", "server:busy"),
        ]


@pytest.mark.parametrize("how", ["http modern", "http legacy", "stream modern", "stream legacy"])
@pytest.mark.parametrize("way", ["stdio", "http", "sse"])
async def test_what_a_client_takes_back_is_taken_back_at_the_server(way: str, how: str, tmp_path: Path) -> None:
    script = Script()
    async with at(way, script, tmp_path) as guard, speaking(guard, how) as agent, anyio.create_task_group() as tasks:
        scope = anyio.CancelScope()

        async def call() -> None:
            with scope:
                await agent.call("bad::slow", id_="mine")

        tasks.start_soon(call)
        await script.until(lambda: script.held)
        if how == "http modern":
            scope.cancel()  # closing the connection says it
        else:
            await agent.notify("notifications/cancelled", {"requestId": "mine"})
        with anyio.fail_after(PATIENCE):
            await script.until(lambda: script.abandoned)
        scope.cancel()
        await until(lambda: all("outcome" in entry for entry in guard.entries()))
        assert [refused(entry) for entry in guard.entries()] == [("cancelled", "unknown", "")]
        assert (await agent.call("bad::echo", {"n": 1})).result["structuredContent"] == {"n": 1}


@pytest.mark.parametrize("way", ["stdio", "http", "sse"])
async def test_a_call_over_its_time_is_unknown_and_the_server_is_told(way: str, tmp_path: Path) -> None:
    script = Script()
    async with at(way, script, tmp_path, upstreams__call_seconds=0.5) as guard:
        said = (await guard.client().call("bad::slow")).result["_meta"]["mcpguard/refusal"]
        assert (said["reason"], said["executed"]) == ("reply:timeout", "unknown")
        with anyio.fail_after(PATIENCE):
            await script.until(lambda: script.abandoned)
        assert [refused(entry) for entry in guard.entries()] == [("unknown", "unknown", "reply:timeout")]


@asynccontextmanager
async def at(way: str, script: Script, folder: Path, **given: Any) -> AsyncIterator[Gate]:  # noqa: ANN401 - settings
    """A guard in front of one server, `bad`, that is reached in this way."""
    async with controlled(script, folder) as server, serving_http(script) as http, serving_sse(script) as sse:
        bad = {
            "stdio": process("bad", [server.command, *server.arguments]),
            "http": remote("bad", http),
            "sse": remote("bad", sse, Transport.SSE),
        }[way]
        async with gate(folder, bad, **given) as guard:
            await guard.ready("bad")
            yield guard


@asynccontextmanager
async def speaking(guard: Gate, how: str) -> AsyncIterator[RawClient]:
    transport, era = how.split()
    if transport == "http":
        yield guard.client() if era == "modern" else await guard.legacy()
    else:
        async with guard.stream(modern=era == "modern") as client:
            if era == "legacy":
                await client.initialize()
            yield client
