"""A server says without end that its lists have changed: that costs its own calls, and nobody else anything."""

from pathlib import Path

import anyio
import pytest

from tests.attacks.quarantined import pin, records
from tests.gate import gate
from tests.gateway.speaking import played
from tests.simulators.hostile import flood, on
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
STORM = 20_000


async def test_a_storm_delays_no_other_server_and_fills_no_ledger(tmp_path: Path) -> None:
    web, calm = Script(), Script()
    web.tool("storm", "done")
    async with (
        played(tmp_path, web, "web", over="stdio") as first,
        played(tmp_path, calm, "calm") as second,
        gate(tmp_path, first, second) as guard,
    ):
        client = await guard.legacy()
        web.hooks.append(on("tools/call", flood(STORM, "notifications/tools/list_changed", {})))
        listed, said = len(web.called("tools/list")), len(guard.said())
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call, "web::storm")
            other = await guard.legacy()
            for number in range(20):
                reply = await other.call("calm::echo", {"n": number})
                assert reply.result["structuredContent"] == {"n": number}
        await guard.clock.advance(1)
        assert len(web.called("tools/list")) - listed <= 2, "one listing for the whole storm, and one that it began in"
        assert pin(guard, "storm").callable, "nothing had changed"
        assert len(guard.said()) - said == 2 * 21, "the calls and nothing else"
        assert records(guard, "moved") == []


async def test_after_a_storm_a_call_goes_out_only_when_the_list_was_read_again(tmp_path: Path) -> None:
    """The definition changes in the middle of the storm: the next call waits for the listing, and is refused."""
    web = Script()
    web.tool("storm", "done")
    async with played(tmp_path, web, "web", over="stdio") as server, gate(tmp_path, server) as guard:
        client = await guard.legacy()
        web.hooks.append(on("tools/call", flood(STORM, "notifications/tools/list_changed", {}), "storm"))
        assert (await client.call("web::storm")).result["content"]
        next(tool for tool in web.tools if tool["name"] == "echo")["description"] = "something else"
        before = len(web.called("tools/call", "echo"))
        replies = []

        async def call() -> None:
            replies.append((await client.call("web::echo", {"n": 1})).result["_meta"]["mcpguard/refusal"])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            while not replies:
                await guard.clock.advance(1)
        assert (replies[0]["reason"], replies[0]["executed"]) == ("capability:changed", "no")
        assert len(web.called("tools/call", "echo")) == before
