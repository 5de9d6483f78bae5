"""Calls that end while their client is away wait for it with their answer; not the long ones, and not without end."""

from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from mcpguard.gateway.input_required import LONGEST_KEPT, MOST_KEPT
from tests.gateway.asking import FORM, behind
from tests.simulators.asked import Asked
from tests.simulators.client import RawClient
from tests.simulators.script import Script
from tests.simulators.words import Json, request, text

pytestmark = pytest.mark.anyio


async def hasty(asked: Asked) -> Json:
    """Ask, and answer without waiting for what comes of it."""
    await asked.say(request(f"q-{asked.id}", FORM["method"], FORM["params"]))
    await asked.script.hold()
    return text("x" * asked.arguments["length"])


def _waiting() -> int:
    return sum(task.name == "call that may wait" for task in anyio.get_running_tasks())


async def parked(script: Script, client: RawClient, params: Json) -> Json:
    """What the client comes back with, to a call that has ended meanwhile."""
    first = (await client.request("tools/call", params)).result
    assert _waiting() == 1
    script.go()
    while _waiting():
        await anyio.lowlevel.checkpoint()
    return params | {"requestState": first["requestState"], "inputResponses": {}}


def call(length: int, **more: str) -> Json:
    return {"name": "hl::hasty", "arguments": {"length": length, **more}}


async def test_a_short_answer_is_kept_once(tmp_path: Path) -> None:
    script = Script("legacy")
    script.tool("hasty", hasty)
    async with behind(tmp_path, {"hl": script}) as guard:
        client = guard.client()
        again = await parked(script, client, call(10))
        assert (await client.request("tools/call", again)).text == "x" * 10
        assert "requestState is unknown" in (await client.request("tools/call", again)).error["message"]
        assert len(script.called("tools/call")) == 1


@pytest.mark.parametrize("long", ["the answer", "the request"])
async def test_what_is_long_is_not_kept(long: str, tmp_path: Path) -> None:
    script = Script("legacy")
    script.tool("hasty", hasty)
    async with behind(tmp_path, {"hl": script}) as guard:
        client = guard.client()
        params = call(LONGEST_KEPT) if long == "the answer" else call(1, more="x" * LONGEST_KEPT)
        again = await parked(script, client, params)
        assert "requestState is unknown" in (await client.request("tools/call", again)).error["message"]
        assert len(script.called("tools/call")) == 1


async def test_the_oldest_makes_room(tmp_path: Path) -> None:
    script = Script("legacy")
    script.tool("hasty", hasty)
    async with behind(tmp_path, {"hl": script}) as guard:
        client = guard.client()
        states = [await parked(script, client, call(number)) for number in range(MOST_KEPT + 2)]
        for number, again in enumerate(states):
            reply = await client.request("tools/call", again)
            if number < 2:
                assert "requestState is unknown" in reply.error["message"]
            else:
                assert reply.text == "x" * number
