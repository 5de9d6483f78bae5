"""A server that was blocked is removed, and comes back: under its name, or under another name with the same launch."""

from pathlib import Path

import pytest

from mcpguard.domain.decisions import Actor, Approval
from mcpguard.domain.errors import IllegalMove
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.domain.servers.upstreams import Origin
from mcpguard.guard.review.admission import DeclarationSource
from tests.attacks.quarantined import standing, upstream
from tests.gate import Gate, gate
from tests.gateway.speaking import refused_once
from tests.review import DECISION, approved, seen
from tests.simulators.over_http import serving_http
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
SOMEBODY = DeclarationSource(Origin.CLI, Actor.with_full_rights("uid:1000 (somebody)", "operator socket"))


async def blocked(guard: Gate, url: str) -> str:
    """A server that was approved, and then blocked. Its id."""
    admission = guard.now.guard.admission
    await admission.add("web", {"url": url}, SOMEBODY)
    assert not await approved(guard.now, "web")
    await guard.ready("web")
    await guard.now.guard.decisions.block("web", DECISION)
    return upstream(guard).id


@pytest.mark.parametrize("way", ["the same", "another launch", "another name", "patched into it"])
async def test_however_it_comes_back_it_is_blocked(way: str, tmp_path: Path) -> None:
    script = Script()
    async with serving_http(script) as url, gate(tmp_path) as guard:
        admission, decisions = guard.now.guard.admission, guard.now.guard.decisions
        before = await blocked(guard, url)
        await admission.remove("web", upstream(guard).revision, SOMEBODY.by)
        name = "other" if way in ("another name", "patched into it") else "web"
        first = url + "?x=1" if way in ("another launch", "patched into it") else url
        await admission.add(name, {"url": first}, SOMEBODY)
        if way == "patched into it":
            assert standing(guard, name) is UpstreamStanding.QUARANTINED
            await admission.patch(name, {"url": url}, upstream(guard, name).revision, SOMEBODY.by)
        assert upstream(guard, name).id != before, "it is another one, for all that is bound to ids"
        assert standing(guard, name) is UpstreamStanding.BLOCKED
        contacted = len(script.calls)
        with pytest.raises(Exception, match="blocked"):
            await guard.now.guard.inspecting.inspect(name, DECISION, consent=True, give=frozenset())
        with pytest.raises(Exception, match="inspected"):
            await decisions.approve(name, Approval(await seen(guard.now, name)), DECISION)
        client = await guard.legacy()
        with refused_once(guard, "server:blocked", script):
            await client.call(f"{name}::echo")
        assert len(script.calls) == contacted


async def test_only_a_person_takes_a_block_back_and_then_it_waits(tmp_path: Path) -> None:
    script = Script()
    async with serving_http(script) as url, gate(tmp_path) as guard:
        await blocked(guard, url)
        with pytest.raises(IllegalMove):
            await guard.now.guard.decisions.approve("web", Approval(await seen(guard.now, "web")), DECISION)
        await guard.now.guard.decisions.quarantine("web", DECISION)
        assert standing(guard) is UpstreamStanding.QUARANTINED


async def test_a_server_that_was_removed_leaves_no_approval_to_its_successor(tmp_path: Path) -> None:
    script = Script()
    async with serving_http(script) as url, gate(tmp_path) as guard:
        admission = guard.now.guard.admission
        await admission.add("web", {"url": url}, SOMEBODY)
        assert not await approved(guard.now, "web")
        await guard.ready("web")
        client = await guard.legacy()
        assert (await client.call("web::echo", {"n": 1})).result["structuredContent"] == {"n": 1}
        await admission.remove("web", upstream(guard).revision, SOMEBODY.by)
        with refused_once(guard, "capability:unknown", script):
            await client.call("web::echo")
        await admission.add("web", {"url": url}, SOMEBODY)
        assert standing(guard) is UpstreamStanding.QUARANTINED
        with refused_once(guard, "server:quarantined", script):
            await client.call("web::echo")
