"""A server over HTTP that never stops talking: its own call ends, is recorded, and costs nobody else anything."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from tests.attacks.aftermath import Ended, nothing_else
from tests.gate import Gate, gate, remote
from tests.gateway.speaking import played as calm_server
from tests.patience import PATIENCE
from tests.simulators.script import Script
from tests.simulators.words import unheard
from tests.upstreams.floods import FLOODS
from tests.upstreams.played import Asked, Played, played

pytestmark = pytest.mark.anyio
CALLS = 5
AGAIN = 3
Flood = Callable[[Asked], Awaitable[None]]


async def serve(server: Played, script: Script, flood: Flood) -> None:
    """Answer as the script does, and a call of `flood` with a flood."""

    async def answer(asked: Asked) -> None:
        message = asked.message if asked.verb == "POST" else {}
        if message.get("method") == "tools/call" and message["params"]["name"] == "flood":
            script.calls.append(message)
            await flood(asked)
            return
        reply = await script.answer(message, unheard, modern=True) if message else None
        await (asked.json(reply) if reply is not None else asked.answer(202 if message else 405))

    async with anyio.create_task_group() as tasks:
        while True:
            tasks.start_soon(answer, await server.next())


@asynccontextmanager
async def flooded(folder: Path, flood: Flood) -> AsyncIterator[tuple[Gate, Script, Script]]:
    """A guard in front of such a server, `web`, and of one that does no harm, `calm`."""
    script, calm = Script("modern"), Script()
    script.tool("flood", "done")
    async with played() as server, calm_server(folder, calm, "calm") as other, anyio.create_task_group() as tasks:
        tasks.start_soon(serve, server, script, flood)
        async with gate(folder, remote("web", server.url), other, upstreams__message_bytes=65_536) as guard:
            yield guard, script, calm
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("flood", FLOODS)
async def test_its_call_is_recorded_once_and_everybody_else_is_answered(flood: Flood, tmp_path: Path) -> None:
    async with flooded(tmp_path, flood) as (guard, script, calm):
        agent = guard.client()
        wanted = [
            *[Ended("web", "flood", "unknown", "unknown", "server:lost")] * CALLS,
            *[Ended("calm", "echo", "answered", "yes")] * CALLS,
            *[Ended("web", "echo", "answered", "yes")] * AGAIN,
        ]
        with nothing_else(guard, *wanted), anyio.fail_after(PATIENCE):
            told: list[str] = []

            async def call() -> None:
                said = (await guard.client().call("web::flood")).result["_meta"]["mcpguard/refusal"]
                told.append(f"{said['status']} {said['executed']} {said['reason']}")

            async with anyio.create_task_group() as tasks:
                for _ in range(CALLS):
                    tasks.start_soon(call)
                for number in range(CALLS):
                    reply = await agent.call("calm::echo", {"n": number})
                    assert reply.result["structuredContent"] == {"n": number}
                    assert (await guard.http.get(guard.where.url + "/healthz")).status_code == 200
            assert told == ["withheld unknown server:lost"] * CALLS
            for number in range(AGAIN):
                reply = await agent.call("web::echo", {"n": number})
                assert reply.result["structuredContent"] == {"n": number}
        assert len(script.called("tools/call", "flood")) == CALLS, "nothing was sent twice"
        assert len(calm.called("tools/call")) == CALLS
