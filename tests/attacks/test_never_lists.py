"""A server that never finishes listing what it offers: it is never approved, and one that was carries no call."""

from pathlib import Path

import anyio
import pytest

from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.decisions import Approval
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.policy.quarantine import NotInspected
from tests.attacks.quarantined import doubted, records, refused, standing, until, upstream
from tests.gate import gate
from tests.gateway.speaking import guarded, played
from tests.review import DECISION, seen
from tests.simulators.hostile import cursor_loop, never, on
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("how", ["never", "in circles"])
async def test_it_cannot_be_inspected_to_an_end_nor_approved(how: str, tmp_path: Path) -> None:
    script = Script("legacy")
    script.hooks.append(on("tools/list", never if how == "never" else cursor_loop(script)))
    async with (
        played(tmp_path, script, "web", over="stdio") as server,
        gate(tmp_path, upstreams__connect_seconds=1 if how == "never" else 60) as guard,
    ):
        await guard.declare(server)
        done = await guard.now.guard.inspecting.inspect("web", DECISION, consent=True, give=frozenset())
        assert done.error
        with pytest.raises(NotInspected):
            await guard.now.guard.decisions.approve("web", Approval(await seen(guard.now, "web")), DECISION)
        assert standing(guard) is UpstreamStanding.QUARANTINED
        assert records(guard, "decided") == []
        assert len(records(guard, "inspected")) == 1
        (failed,) = records(guard, "inspection_failed")
        assert (failed["why"], failed["started"]) == (done.error, True)
        last = upstream(guard).inspection
        assert last is not None
        assert (last.failed, last.why) == (True, done.error)


async def test_an_inspection_of_one_that_runs_fails_until_it_lists_again(tmp_path: Path) -> None:
    script = Script("legacy")
    async with guarded(tmp_path, script, definitions__confirm_seconds=0.5) as guard:
        inspecting = guard.now.guard.inspecting
        script.hooks.append(on("tools/list", never))
        done = await inspecting.inspect("web", DECISION, consent=False, give=frozenset())
        assert "did not list" in done.error
        (failed,) = records(guard, "inspection_failed")
        assert (failed["why"], failed["started"]) == (done.error, False)
        assert standing(guard) is UpstreamStanding.APPROVED, "and it is approved as before"
        script.hooks.pop()
        await until(guard, lambda: upstream(guard).inspection is None)


async def test_one_that_was_approved_and_does_not_list_any_more_takes_no_call(tmp_path: Path) -> None:
    script = Script("legacy")
    async with guarded(tmp_path, script, definitions__confirm_seconds=0.5) as guard:
        client = await guard.legacy()
        script.hooks.append(on("tools/list", never))
        await script.changed_list()
        await doubted(guard)
        await refused(guard, client, "capability:unconfirmed", script)
        assert "web::echo" in await client.names(), "what agents see does not flicker"


async def test_whether_a_tool_is_ready_is_asked_as_a_call_asks(tmp_path: Path) -> None:
    """What was listed long ago is listed again first; where that does not come, it may come later."""
    script = Script("legacy")
    async with guarded(
        tmp_path,
        script,
        upstreams__health_seconds=3600,
        definitions__sweep_seconds=86_400,
        definitions__confirm_seconds=0.5,
    ) as guard:
        await guard.legacy()
        queries, echo = guard.now.guard.queries, (CapabilityKind.TOOL, "echo")
        listed = len(script.called("tools/list"))
        await guard.clock.advance(301)
        assert (await queries.explain("web", echo))["answer"] == "ready"
        assert len(script.called("tools/list")) == listed + 1
        script.hooks.append(on("tools/list", never))
        await guard.clock.advance(301)
        said = await queries.explain("web", echo)
        assert (said["answer"], said["reasons"][0]["reason"]) == ("retry", "capability:unconfirmed")
        assert not script.called("tools/call"), "and nothing was called"


async def test_calls_that_wait_for_a_listing_share_one(tmp_path: Path) -> None:
    """Too old is too old for everybody: it is listed once for all who wait."""
    script = Script("legacy")
    async with guarded(tmp_path, script, upstreams__health_seconds=3600, definitions__sweep_seconds=86_400) as guard:
        client = await guard.legacy()
        listed, replies = len(script.called("tools/list")), []

        async def call(number: int) -> None:
            replies.append((await client.call("web::echo", {"n": number})).result["structuredContent"])

        await guard.clock.advance(301)
        async with anyio.create_task_group() as tasks:
            for number in range(8):
                tasks.start_soon(call, number)
        assert sorted(reply["n"] for reply in replies) == list(range(8))
        assert len(script.called("tools/list")) == listed + 1
