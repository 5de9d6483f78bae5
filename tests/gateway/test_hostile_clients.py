"""One client that means harm, or only fails, costs nobody else anything."""

import asyncio
from pathlib import Path

import anyio
import pytest

from tests.gate import Gate
from tests.gateway.speaking import guarded, speaking, turned_away
from tests.gateway.wires import mirrored, modern, wire
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
CALL = modern("tools/call", {"name": "web::echo", "arguments": {"n": 1}})


async def served(guard: Gate, count: int) -> None:
    """Somebody else is served as if nothing were the matter."""
    for number in range(count):
        assert (await guard.client().call("web::echo", {"n": number})).result["structuredContent"] == {"n": number}


async def test_thousands_who_hang_up_in_the_middle(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        await served(guard, 1)
        before = len(asyncio.all_tasks())

        async def hang_up(at: int) -> None:
            async with wire(guard) as connection:
                whole = connection.request(CALL, mirrored(CALL))
                await connection.send(whole[: at % (len(whole) + 1)])
                if at % 3 == 0:
                    await connection.stream.send_eof()

        for batch in range(20):
            async with anyio.create_task_group() as tasks:
                for number in range(100):
                    tasks.start_soon(hang_up, batch * 100 + number)
                tasks.start_soon(served, guard, 3)
        await served(guard, 10)
        while len(asyncio.all_tasks()) > before or not all("outcome" in each for each in guard.entries()):
            await anyio.lowlevel.checkpoint()
        assert {each["outcome"] for each in guard.entries()} <= {"answered", "cancelled"}


async def test_too_many_requests_of_one_client_are_refused_and_not_kept_waiting(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, limits__client_calls=3) as guard:
        for how in ("http legacy", "stream legacy", "stream modern"):
            texts: list[str] = []
            async with speaking(guard, how) as client, anyio.create_task_group() as tasks:

                async def call(id_: int) -> None:
                    reply = await client.request("tools/call", {"name": "web::slow"}, id_=id_)
                    texts.append(reply.text)  # noqa: B023

                for number in range(3):
                    tasks.start_soon(call, 100 + number)
                await script.until(lambda: script.held == 3)
                beyond = await client.request("tools/call", {"name": "web::slow"}, id_=200)
                assert beyond.error["code"] == -31010
                assert beyond.status == (429 if "http" in how else None)
                await served(guard, 3)
                assert script.held == 3
                script.go()
                while len(texts) < 3:
                    await anyio.lowlevel.checkpoint()
                assert (await client.request("tools/list")).result["tools"], "and there is room again"
            assert texts == ["at last"] * 3
        assert await turned_away(guard) == {("network", "too many requests"): 1, ("streams", "too many requests"): 2}


async def test_an_id_that_is_in_use_is_refused(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        client = await guard.legacy()
        async with anyio.create_task_group() as tasks:
            texts: list[str] = []

            async def call() -> None:
                texts.append((await client.request("tools/call", {"name": "web::slow"}, id_="same")).text)

            tasks.start_soon(call)
            await script.until(lambda: script.held == 1)
            for _ in range(3):
                reply = await client.request("tools/call", {"name": "web::slow"}, id_="same")
                assert (reply.status, reply.error["code"]) == (400, -32600)
            assert (script.held, len(script.called("tools/call"))) == (1, 1)
            other = await guard.legacy()
            assert (await other.request("ping", id_="same")).status == 200, "another session has ids of its own"
            script.go()
        assert texts == ["at last"]
