"""What is approved is taken back while calls about it are queued, parked, or in flight: each ends at once.

Queued calls are refused, those in flight are cancelled and closed as unknown, late replies reach nobody, subscriptions
end, and the process is gone.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from mcpguard.domain.asks import AskKind
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.decisions import Answer
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.upstreams.process.child import RUNNING
from tests.attacks.quarantined import TOOL, let_time_pass, pin, refused, standing, until
from tests.gate import Gate
from tests.gateway.speaking import HOWS, guarded, speaking
from tests.patience import PATIENCE
from tests.process import gone
from tests.review import DECISION
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio


async def quarantined(guard: Gate) -> None:
    await guard.now.guard.decisions.quarantine("web", DECISION)


async def blocked(guard: Gate) -> None:
    await guard.now.guard.decisions.block("web", DECISION)


async def disabled(guard: Gate) -> None:
    await guard.now.guard.decisions.disable("web", DECISION)


async def withdrawn(guard: Gate) -> None:
    await guard.declare()


async def tool_blocked(guard: Gate) -> None:
    await guard.now.guard.decisions.decide("web", (TOOL, "slow"), Answer.BLOCK, None, DECISION)


async def tool_revoked(guard: Gate) -> None:
    listed = pin(guard, "slow").listed
    await guard.now.guard.decisions.decide("web", (TOOL, "slow"), Answer.REVOKE, listed, DECISION)


Way = Callable[[Gate], Awaitable[None]]
WAYS: dict[Way, str] = {
    quarantined: "server:quarantined",
    blocked: "server:blocked",
    disabled: "server:disabled",
    withdrawn: "server:disabled",
    tool_blocked: "capability:blocked",
    tool_revoked: "capability:pending",
}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("how", [HOWS[0], HOWS[3]])
async def test_what_is_in_flight_and_what_is_queued(way: Way, how: str, tmp_path: Path) -> None:
    """Two calls are in flight and three wait for their turn when the approval goes."""
    script = Script()
    told: list[dict[str, Any]] = []
    async with guarded(tmp_path, script, upstreams__concurrency=2) as guard, speaking(guard, how) as client:

        async def call() -> None:
            told.append((await client.call("web::slow")).result["_meta"]["mcpguard/refusal"])

        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as tasks:
                for _ in range(5):
                    tasks.start_soon(call)
                await script.until(lambda: script.held == 2)
                while len(guard.entries()) < 5:
                    await checkpoint()
                await way(guard)
        assert sorted((each["executed"], each["reason"]) for each in told) == sorted(
            [("unknown", "capability:withdrawn")] * 2 + [("no", WAYS[way])] * 3
        )
        script.go()
        assert len(script.called("tools/call", "slow")) == 2, "none of those that waited has come"
        entries = guard.entries()
        assert sorted(each["outcome"] for each in entries) == ["refused"] * 3 + ["unknown"] * 2
        await refused(guard, client, WAYS[way], script, "slow")


async def test_a_process_is_gone_when_its_server_is_quarantined(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, over="stdio") as guard:
        started = {*RUNNING}
        assert started
        await quarantined(guard)
        await until(guard, lambda: all(gone(pid) for pid in started))
        await let_time_pass(guard)
        assert not RUNNING, "and nothing starts it again"


async def test_a_call_that_waits_for_its_clients_answer_ends(tmp_path: Path) -> None:
    """The server has asked the client something; the client comes back with an answer that nobody wants any more."""
    script = Script("modern")
    async with guarded(tmp_path, script, may_ask={"web": [AskKind.ELICITATION]}) as guard:
        client = guard.client()
        params = {"name": "web::ask", "arguments": {}}
        first = (await client.request("tools/call", params)).result
        assert first["resultType"] == "input_required"
        await quarantined(guard)
        answers = {name: {"action": "accept", "content": {"name": "Ada"}} for name in first["inputRequests"]}
        again = params | {"requestState": first["requestState"], "inputResponses": answers}
        said = (await client.request("tools/call", again)).result["_meta"]["mcpguard/refusal"]
        assert (said["executed"], said["reason"]) == ("unknown", "capability:withdrawn")
        assert len(script.called("tools/call", "ask")) == 1, "the answer did not reach the server"
        (entry,) = guard.entries()
        assert (entry["outcome"], entry["reason"]) == ("unknown", "capability:withdrawn")


async def test_a_change_that_the_server_makes_itself_cuts_off_the_same_way(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        client, told = await guard.legacy(), list[dict[str, Any]]()

        async def call() -> None:
            told.append((await client.call("web::slow")).result["_meta"]["mcpguard/refusal"])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await script.until(lambda: script.held == 1)
            next(tool for tool in script.tools if tool["name"] == "slow")["description"] = "another"
            await script.changed_list()
            await until(guard, lambda: told)
        assert (told[0]["executed"], told[0]["reason"]) == ("unknown", "capability:withdrawn")
        assert standing(guard) is UpstreamStanding.APPROVED


async def test_a_subscription_ends_with_the_approval_it_rests_on(tmp_path: Path) -> None:
    script = Script("legacy")
    uri = script.resources[0]["uri"]
    async with guarded(tmp_path, script) as guard:
        client = await guard.legacy("/mcp/only/web")
        assert (await client.request("resources/subscribe", {"uri": uri})).result == {}
        key = CapabilityKind.RESOURCE, uri
        async with client.listening() as listening:
            await guard.now.guard.decisions.decide("web", key, Answer.BLOCK, None, DECISION)
            await script.until(lambda: script.called("resources/unsubscribe"))
            await script.updated(uri)
            await client.request("ping")
            assert [each for each in listening.heard if each["method"] == "notifications/resources/updated"] == []
