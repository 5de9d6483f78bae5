"""Definitions that are huge, deep, or made so that they cannot be read."""

import json
from pathlib import Path

import anyio
import httpx2
import pytest

from mcpguard.domain.decisions import Answer
from mcpguard.domain.servers.standing import CapabilityStanding, UpstreamStanding
from tests.attacks.quarantined import TOOL, doubted, pin, refused, standing, until
from tests.gate import gate
from tests.gateway.speaking import guarded, played
from tests.review import DECISION, approved_as_listed, in_force
from tests.simulators.asked import Asked, Reply
from tests.simulators.hostile import huge, on
from tests.simulators.script import Next, Script

pytestmark = pytest.mark.anyio
MIB = 1024 * 1024


async def test_five_megabytes_are_fingerprinted_whole_while_others_are_served(tmp_path: Path) -> None:
    web, calm = Script(), Script()
    async with (
        played(tmp_path, web, "web") as first,
        played(tmp_path, calm, "calm") as second,
        gate(tmp_path, first, second) as guard,
    ):
        client = await guard.legacy()
        tool = next(tool for tool in web.tools if tool["name"] == "echo")
        tool["description"] = "x" * (5 * MIB)
        await web.changed_list()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(until, guard, lambda: pin(guard, "echo").standing is CapabilityStanding.CHANGED)
            for number in range(20):
                reply = await client.call("calm::echo", {"n": number})
                assert reply.result["structuredContent"] == {"n": number}
        first_seen = pin(guard, "echo").listed
        assert first_seen is not None
        tool["description"] = "x" * (5 * MIB - 1) + "y"
        await web.changed_list()
        await until(guard, lambda: pin(guard, "echo").listed != first_seen)
        await refused(guard, client, "capability:changed", web)
        said = await guard.now.guard.queries.capability("web", (TOOL, "echo"))
        assert (said["definition"], said["complete"]) == (None, False)
        assert len(said["shown"]) < MIB, "what is shown of it has an end"
        diff = await guard.now.guard.queries.diff("web", (TOOL, "echo"), None, None)
        assert len(diff["text"]) < MIB


async def test_ten_thousand_levels_are_no_listing_and_leave_nothing_in_force(tmp_path: Path) -> None:
    """It is no message that we read. The server stays, and nothing is called on the strength of an old listing."""
    script = Script("legacy")
    async with guarded(tmp_path, script, definitions__confirm_seconds=0.5) as guard:
        client = await guard.legacy()

        async def deep(asked: Asked, _: Next) -> Reply:
            nested = '{"a":' * 10_000 + "1" + "}" * 10_000
            tools = f'[{{"name":"echo","inputSchema":{nested}}}]'
            return f'{{"jsonrpc":"2.0","id":{json.dumps(asked.id)},"result":{{"tools":{tools}}}}}'.encode()

        script.hooks.append(on("tools/list", deep))
        await script.changed_list()
        await doubted(guard)
        await refused(guard, client, "capability:unconfirmed", script)
        assert pin(guard, "echo").callable, "where it stands has not changed; it is only not known to be so still"
        script.hooks.clear()
        await until(guard, lambda: in_force(guard.now, "web"))
        assert (await client.call("web::echo", {"n": 1})).result["structuredContent"] == {"n": 1}


async def test_nothing_monstrous_can_be_inspected(tmp_path: Path) -> None:
    """The inspection says so in a sentence, ends, and leaves nothing behind."""
    script = Script("legacy")
    script.hooks.append(on("tools/list", huge()))
    async with played(tmp_path, script, "web", over="stdio") as server, gate(tmp_path) as guard:
        await guard.declare(server)
        done = await guard.now.guard.inspecting.inspect("web", DECISION, consent=True, give=frozenset())
        assert (done.started, done.capabilities) == (True, 0)
        assert done.error
        assert guard.now.guard.servers.find("web").pins == {}  # type: ignore[union-attr]
        assert standing(guard) is UpstreamStanding.QUARANTINED


async def test_numbers_that_not_every_reader_holds_are_shown_as_they_are_and_decided_about(tmp_path: Path) -> None:
    """One such number made the whole server impossible to review, or hid in what a person was shown."""
    script = Script()
    async with guarded(tmp_path, script) as guard:
        client, queries = await guard.legacy(), guard.now.guard.queries
        tool = next(tool for tool in script.tools if tool["name"] == "echo")
        for number in (2**64 + 1, 2**64 + 2, 10**400):
            before, tool["inputSchema"] = pin(guard, "echo").listed, {"type": "object", "maximum": number}
            await script.changed_list()
            await until(guard, lambda before=before: pin(guard, "echo").listed != before)  # type: ignore[misc]
            await refused(guard, client, "capability:changed", script)
            assert str(number) in (await queries.diff("web", (TOOL, "echo"), None, None))["text"]
            assert str(number) in (await queries.capability("web", (TOOL, "echo")))["shown"]
            transport = httpx2.AsyncHTTPTransport(uds=str(guard.where.operator))
            async with httpx2.AsyncClient(transport=transport, base_url="http://operator") as operator:
                asked = {"kind": "tool", "name": "echo"}
                answer = await operator.get("/api/v1/servers/web/capability", params=asked)
            assert json.loads(answer.text)["definition"]["inputSchema"]["maximum"] == number
            await approved_as_listed(guard.now, "web")
            assert (await client.call("web::echo", {"n": 1})).result["structuredContent"] == {"n": 1}
        await guard.now.guard.decisions.decide("web", (TOOL, "echo"), Answer.BLOCK, None, DECISION)
        await refused(guard, client, "capability:blocked", script)
