"""A held call and its like are allowed for some minutes: what that covers is let through and recorded, nothing else."""

from pathlib import Path

import pytest

from mcpguard.domain.calls.allowances import MOST_CALLS
from mcpguard.guard.calls.holds.allowances import AllowanceWish
from tests.gateway.allowing import GIVEN, TEXT, allowing
from tests.gateway.holding import calls, moves, refusal, until
from tests.review import DECISION

pytestmark = pytest.mark.anyio


async def test_the_held_call_and_its_like_are_let_through_and_recorded(tmp_path: Path) -> None:
    async with allowing(tmp_path) as at:
        assert calls(at.script) == 0, "to allow it makes no call"
        assert (at.allowance["same"], at.allowance["open"]) == (["channel", "urgent"], ["text"])
        first = await at.call()
        assert first.result.get("isError") is not True
        assert at.guard.entries()[-1]["ticket"] == at.allowance["ticket"], "the held call uses its own approval"
        for number in range(3):
            assert (await at.call(text=f"{TEXT}, number {number}")).result.get("isError") is not True
        assert [entry["verdict"] for entry in at.used()] == ["allow"] * 3
        assert not any("ticket" in entry for entry in at.used())
        assert (calls(at.script), at.guard.now.guard.held.allowance(at.allowance["id"])["left"]) == (4, MOST_CALLS - 4)
        (record,) = [record for record in at.guard.said() if record["kind"] == "allowance"]
        assert (record["change"], record["calls"], record["same"], record["open"]) == (
            "added",
            MOST_CALLS,
            "channel\nurgent",
            "text",
        )
        assert (record["ticket"], record["by"], record["why"]) == (
            at.allowance["ticket"],
            DECISION.by.id,
            DECISION.why,
        )
        assert "#releases" not in str(record), "values are only where they can be pruned"
        assert moves(at.guard) == [("allow", "waiting", "allowed")]


async def test_what_is_left_open_may_be_anything_and_the_rest_nothing_else(tmp_path: Path) -> None:
    async with allowing(tmp_path, AllowanceWish(same=["urgent"])) as at:
        await at.call()
        assert (await at.call(channel="#other", text="short")).result.get("isError") is not True
        assert refusal(await at.call(channel="#other", urgent=True))["reason"] == "hold:waiting"
        assert (len(at.used()), calls(at.script)) == (1, 2)


async def test_it_ends_with_its_last_call_and_says_so(tmp_path: Path) -> None:
    async with allowing(tmp_path) as at:
        for number in range(MOST_CALLS):
            assert (await at.call()).result.get("isError") is not True, number
        await until(lambda: at.ends() == [("used_up", 0)])
        assert refusal(await at.call())["reason"] == "hold:waiting"
        assert (calls(at.script), len(at.used())) == (MOST_CALLS, MOST_CALLS - 1)
        assert at.guard.now.guard.held.allowances() == []


async def test_the_order_of_arguments_and_a_trace_make_no_difference(tmp_path: Path) -> None:
    async with allowing(tmp_path) as at:
        await at.call()
        trace = f"00-{'a' * 32}-{'b' * 16}-01"
        turned = dict(reversed(GIVEN.items()))
        params = {"name": "web::echo", "arguments": turned, "_meta": {"traceparent": trace}}
        assert (await at.client.request("tools/call", params)).result.get("isError") is not True
        assert (len(at.used()), calls(at.script)) == (1, 2)
