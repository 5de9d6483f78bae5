"""Held calls when things go wrong: the store fails, or memory is behind it.

None is made twice, none unrecorded, and what a person allowed is not lost.
"""

from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import update

from mcpguard.codec.refusals import refusal_facts
from mcpguard.domain.decisions import Stale
from mcpguard.domain.errors import LedgerUnavailable
from mcpguard.store.rows.tables import upstreams
from tests.attacks.unwritable import nothing_can_be_written, recovered
from tests.gateway.granting import granted
from tests.gateway.guard_face import agent
from tests.gateway.holding import HELD, Making, allowed, calls, moves, refusal, until
from tests.gateway.speaking import HOWS, guarded
from tests.gateway.talkative import LONG, ONCE, called, cut, more, talkative
from tests.review import DECISION
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
AT_ONCE: dict[str, Any] = {"holds__wait_seconds": 0, "store__busy_timeout": 0.1, **HELD}


async def test_what_cannot_be_recorded_is_put_to_nobody(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, **AT_ONCE) as guard:
        with nothing_can_be_written(guard):
            assert refusal(await guard.client().call("web::echo"))["reason"] == "ledger:unavailable"
            assert await guard.now.guard.held.every() == []
        await recovered(guard)
        assert refusal(await guard.client().call("web::echo"))["reason"] == "hold:waiting"
        assert (calls(script), guard.now.guard.held.waiting) == (0, 1)


async def test_an_answer_that_cannot_be_recorded_is_none(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, **AT_ONCE) as guard:
        held, client = guard.now.guard.held, guard.client()
        ticket = refusal(await client.call("web::echo"))["detail"]["ticket"]
        with nothing_can_be_written(guard):
            for answer in (held.allow, held.deny):
                with pytest.raises(LedgerUnavailable):
                    await answer(ticket, DECISION)
            assert held.waiting == 1
        await recovered(guard)
        assert refusal(await client.call("web::echo"))["detail"]["ticket"] == ticket, "it waits as before"
        await held.allow(ticket, DECISION)
        assert (await client.call("web::echo")).result.get("isError") is not True
        assert (calls(script), moves(guard)) == (1, [("allow", "waiting", "allowed")])


async def test_what_a_person_allowed_is_not_used_up_by_a_call_that_cannot_be_recorded(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, **AT_ONCE) as guard:
        client = guard.client()
        await allowed(guard, refusal(await client.call("web::echo"))["detail"]["ticket"])
        with nothing_can_be_written(guard):
            assert refusal(await client.call("web::echo"))["reason"] == "ledger:unavailable"
        await recovered(guard)
        assert calls(script) == 0
        assert (await client.call("web::echo")).result.get("isError") is not True
        assert refusal(await client.call("web::echo"))["reason"] == "hold:waiting"
        assert calls(script) == 1


async def test_what_expires_while_nothing_can_be_recorded_is_over_all_the_same(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, **AT_ONCE) as guard:
        client = guard.client()
        await allowed(guard, refusal(await client.call("web::echo"))["detail"]["ticket"])
        with nothing_can_be_written(guard):
            await guard.clock.advance(601)
            assert await guard.now.guard.held.every() == []
        await recovered(guard)
        await guard.clock.advance(2)
        await until(lambda: len(moves(guard)) == 2)
        assert moves(guard) == [("allow", "waiting", "allowed"), ("expire", "allowed", "expired")]
        assert refusal(await client.call("web::echo"))["reason"] == "hold:waiting"
        assert calls(script) == 0


async def test_what_has_changed_in_the_store_is_not_allowed_and_not_made(tmp_path: Path) -> None:
    """Memory is behind the store, as after a change whose answer did not reach us."""
    script = Script()
    async with guarded(tmp_path, script, **AT_ONCE) as guard:
        held, client, writer = guard.now.guard.held, guard.client(), guard.now.store.writer
        first = refusal(await client.call("web::echo", {"n": 1}))["detail"]["ticket"]
        second = refusal(await client.call("web::echo", {"n": 2}))["detail"]["ticket"]
        await held.allow(first, DECISION)
        newer = update(upstreams).values(generation=upstreams.c.generation + 1)
        await writer.submit(lambda connection: connection.execute(newer))
        with pytest.raises(Stale):
            await held.allow(second, DECISION)
        assert held.waiting == 1
        refused = refusal(await client.call("web::echo", {"n": 1}))
        assert refused["status"] in ("refused", "held")
        assert calls(script) == 0


async def test_large_calls_that_are_judged_at_once_begin_one_hold_and_use_it_once(tmp_path: Path) -> None:
    """What is large is looked at aside before it is recorded, so that others are judged meanwhile."""
    script, large = Script(), {"text": "x" * 40_000}
    async with guarded(tmp_path, script, **AT_ONCE) as guard:
        caller = await granted(guard)

        async def many() -> list[str]:
            made = [Making(guard.client(token=caller.token), large) for _ in range(6)]
            async with anyio.create_task_group() as tasks:
                for each in made:
                    tasks.start_soon(each)
            results = [(await each.done()).result for each in made]
            return sorted(refusal_facts(each).get("reason", "") for each in results)

        assert await many() == ["hold:waiting"] * 6
        assert guard.now.guard.held.waiting == 1
        await allowed(guard)
        assert (await many()).count("") == 1
        assert calls(script) == 1
        assert refusal(await guard.client(token=caller.token).call("web::echo", large))["reason"] == "hold:waiting"


@pytest.mark.parametrize("how", HOWS)
async def test_the_pages_of_a_reply_are_part_of_the_call_that_was_allowed(how: str, tmp_path: Path) -> None:
    script = talkative()
    async with guarded(tmp_path, script, replies__shown=ONCE, **AT_ONCE) as guard:
        caller = await granted(guard)
        async with agent(guard, how, caller.token) as client:
            said = (await called(client))["_meta"]["mcpguard/refusal"]
            assert (said["status"], said["reason"]) == ("held", "hold:waiting")
            await allowed(guard, said["detail"]["ticket"])
            result = await called(client)
            assert result["content"][0]["text"] == LONG[:ONCE]
            page = await more(client, key=cut(result)["key"])
            assert page["content"][0]["text"] == LONG[ONCE : 2 * ONCE]
            assert [entry["verdict"] for entry in guard.entries()] == ["hold", "allow", "allow"]
            assert calls(script) == 1
