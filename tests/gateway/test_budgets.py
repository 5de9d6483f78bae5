"""Budgets of callers in a whole guard: who has used them up is told so, nothing is sent, and places come back."""

from pathlib import Path

import pytest
from anyio import create_task_group

from mcpguard.domain.callers import Caller
from tests.gateway.declaring import call
from tests.gateway.speaking import EVERYTHING, guarded, refused_once
from tests.simulators.script import Script
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
SOMEBODY = Caller("somebody", "somebody", EVERYTHING)


def told(answer: Json) -> Json:
    said: Json = answer.get("_meta", {}).get("mcpguard/refusal", {})
    return said


async def test_so_many_calls_at_once_and_no_more_and_every_place_is_given_back(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, budgets__at_once=2) as guard, create_task_group() as tasks:
        client, answers = guard.client(), list[Json]()

        async def slowly() -> None:
            answers.append((await client.call("web::slow")).result)

        tasks.start_soon(slowly)
        tasks.start_soon(slowly)
        await script.until(lambda: script.held == 2)
        with refused_once(guard, "budget:calls", script):
            said = (await client.call("web::echo")).result["_meta"]["mcpguard/refusal"]
        assert said["detail"] == {"budget": "calls at once"}
        script.go()
        await script.until(lambda: script.held == 0)
        while len(answers) < 2:
            await guard.now.store.writer.submit(lambda _: None)
        for _ in range(5):
            assert (await client.call("web::fail")).result["isError"] is True
            assert (await client.call("web::echo", {"x": 1})).result["structuredContent"] == {"x": 1}


async def test_a_call_that_is_cancelled_gives_its_place_back(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, callers={"mcpg_x": SOMEBODY}, budgets__at_once=1) as guard:
        for _ in range(3):
            async with create_task_group() as tasks:
                tasks.start_soon(call, guard, SOMEBODY, "slow")
                await script.until(lambda: script.held == 1)
                tasks.cancel_scope.cancel()
            await script.until(lambda: script.held == 0)
        assert (await call(guard, SOMEBODY, "echo", x=1)).result is not None


async def test_calls_in_a_minute_of_one_thing_and_of_all(tmp_path: Path) -> None:
    """Refused calls do not count, whatever they are refused for."""
    script = Script()
    async with guarded(tmp_path, script, budgets__caller_minute=5, budgets__capability_minute=3) as guard:
        client = guard.client()
        for _ in range(10):
            assert told((await client.call("web::add", {"a": 1})).result)["reason"] == "arguments:invalid"
        for _ in range(3):
            assert not told((await client.call("web::echo")).result)
        with refused_once(guard, "budget:calls", script):
            assert told((await client.call("web::echo")).result)["detail"] == {
                "budget": "calls of this capability in a minute"
            }
        for _ in range(2):
            assert not told((await client.call("web::add", {"a": 1, "b": 2})).result)
        with refused_once(guard, "budget:calls", script):
            assert told((await client.call("web::add", {"a": 1, "b": 2})).result)["detail"] == {
                "budget": "calls in a minute"
            }
        await guard.clock.advance(62)
        assert not told((await client.call("web::echo")).result)
