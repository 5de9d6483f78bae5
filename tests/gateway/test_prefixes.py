"""URI prefixes: for servers with a resource for each file, whose resources nobody could approve one by one."""

from pathlib import Path

import pytest

from mcpguard.codec.uris import wrap_uri
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.decisions import Answer, Approval, Undecidable
from tests.gate import gate
from tests.gateway.speaking import HOWS, played, refused_once, speaking
from tests.review import DECISION, approved, seen, taken_in
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
DATA = "file:///data/"


def script_of(*uris: str) -> Script:
    """A server that reads whatever it is asked for, and lists only these."""
    script = Script()
    script.templates.clear()
    script.resources[:] = [{"uri": uri, "name": uri} for uri in uris]
    script.answers["resources/read"] = lambda asked: {"contents": [{"uri": asked.params["uri"], "text": "read"}]}
    return script


@pytest.mark.parametrize("how", HOWS)
async def test_what_lies_below_may_be_read_and_nothing_else(how: str, tmp_path: Path) -> None:
    script = script_of(DATA + "listed")
    async with played(tmp_path, script, "web") as server, gate(tmp_path) as guard:
        await guard.declare(server)
        assert not await approved(guard.now, "web", prefixes=("file:///data",))
        await taken_in(guard.now, ["web"])
        async with speaking(guard, how) as client, speaking(guard, how, only="web") as plain:
            for uri in (DATA + "listed", DATA + "new", DATA + "a/b/c"):
                for one, said in ((client, wrap_uri("web", uri)), (plain, uri)):
                    reply = await one.request("resources/read", {"uri": said})
                    assert reply.result["contents"][0]["text"] == "read"
            for uri in (
                "file:///database/x",
                "file:///data",
                DATA + "../etc/passwd",
                DATA + "%2e%2e/x",
                "note://first",
            ):
                with refused_once(guard, "capability:unknown", script):
                    assert (await client.request("resources/read", {"uri": wrap_uri("web", uri)})).error["code"] == (
                        -32602 if client.modern else -32002
                    )


async def test_a_resource_that_a_person_blocked_is_blocked_below_a_prefix_too(tmp_path: Path) -> None:
    script = script_of(DATA + "secret", DATA + "open")
    async with played(tmp_path, script, "web") as server, gate(tmp_path) as guard:
        await guard.declare(server)
        assert not await approved(guard.now, "web", prefixes=("file:///data",))
        await taken_in(guard.now, ["web"])
        client = await guard.legacy("/mcp/only/web")
        key = CapabilityKind.RESOURCE, DATA + "secret"
        await guard.now.guard.decisions.decide("web", key, Answer.BLOCK, None, DECISION)
        with refused_once(guard, "capability:blocked", script):
            assert (await client.request("resources/read", {"uri": DATA + "secret"})).error
        assert (await client.request("resources/read", {"uri": DATA + "open"})).result


async def test_a_prefix_ends_where_an_approval_names_none_and_not_before(tmp_path: Path) -> None:
    script = script_of()
    async with played(tmp_path, script, "web") as server, gate(tmp_path) as guard:
        await guard.declare(server)
        assert not await approved(guard.now, "web", prefixes=("file:///data",))
        await taken_in(guard.now, ["web"])
        client = await guard.legacy("/mcp/only/web")
        assert (await client.request("resources/read", {"uri": DATA + "x"})).result
        await guard.now.guard.decisions.approve("web", Approval(await seen(guard.now, "web")), DECISION)
        assert (await client.request("resources/read", {"uri": DATA + "x"})).result
        approval = Approval(await seen(guard.now, "web"), prefixes=())
        await guard.now.guard.decisions.approve("web", approval, DECISION)
        with refused_once(guard, "capability:unknown", script):
            assert (await client.request("resources/read", {"uri": DATA + "x"})).error


WIDE = ["", "file://", "file:///", "https:", "/data", "file:///data/../etc", "file:///a%2fb", "x"]


@pytest.mark.parametrize("prefix", WIDE)
async def test_what_could_cover_more_than_somebody_means_is_refused(prefix: str, tmp_path: Path) -> None:
    script = script_of()
    async with played(tmp_path, script, "web") as server, gate(tmp_path, server) as guard:
        shown = await seen(guard.now, "web")
        with pytest.raises(Undecidable):
            await guard.now.guard.decisions.approve("web", Approval(shown, prefixes=(prefix,)), DECISION)
        known = guard.now.guard.servers.find("web")
        assert known is not None
        assert known.upstream.prefixes == ()
