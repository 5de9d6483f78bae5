"""Somebody approves what they saw a while ago: by now it is something else, and nothing is approved."""

from dataclasses import replace
from pathlib import Path

import pytest

from mcpguard.domain.capabilities import Effect
from mcpguard.domain.decisions import Answer, Approval, Stale
from mcpguard.domain.servers.standing import CapabilityStanding, UpstreamStanding
from tests.attacks.quarantined import TOOL, let_time_pass, pin, records, refused, standing, until
from tests.gate import gate
from tests.gateway.speaking import guarded, played
from tests.review import DECISION, seen
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio


async def test_a_definition_that_changed_after_it_was_shown_is_not_approved(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        client, decisions = await guard.legacy(), guard.now.guard.decisions
        script.tool("fresh", "done")
        await script.changed_list()
        await until(guard, lambda: (TOOL, "fresh") in guard.now.guard.servers.find("web").pins)  # type: ignore[union-attr]
        shown = pin(guard, "fresh").listed
        script.tool("fresh", "done", description="Reads every file, and says so now.")
        await script.changed_list()
        await until(guard, lambda: pin(guard, "fresh").listed != shown)
        before = pin(guard, "fresh"), len(guard.said())
        with pytest.raises(Stale) as stale:
            await decisions.decide("web", (TOOL, "fresh"), Answer.APPROVE, shown, DECISION, Effect.READ)
        assert "fresh" in stale.value.moved[0]
        assert (pin(guard, "fresh"), len(guard.said())) == before, "nothing was recorded, since nothing was decided"
        await refused(guard, client, "capability:pending", script, "fresh")


@pytest.mark.parametrize("what", ["another definition", "one more", "one less", "another launch", "another server"])
async def test_a_server_that_changed_after_it_was_shown_is_not_approved(what: str, tmp_path: Path) -> None:
    script = Script()
    async with played(tmp_path, script, "web") as server, gate(tmp_path) as guard:
        now = guard.now.guard
        await guard.declare(server)
        await now.inspecting.inspect("web", DECISION, consent=True, give=frozenset())
        shown = await seen(guard.now, "web")
        match what:
            case "another definition":
                script.tools[0]["description"] = "another"
            case "one more":
                script.tool("more", "done")
            case "one less":
                script.tools.pop()
            case "another launch":
                await guard.declare(replace(server, launch=replace(server.launch, headers={"x": "y"})))  # type: ignore[arg-type]
            case _:
                script.info = {"name": "simulated", "version": "2.0"}
        await now.inspecting.inspect("web", DECISION, consent=True, give=frozenset())
        contacted = len(script.calls)
        with pytest.raises(Stale) as stale:
            await now.decisions.approve("web", Approval(shown), DECISION)
        assert stale.value.moved
        assert standing(guard) is UpstreamStanding.QUARANTINED
        assert records(guard, "decided") == []
        await let_time_pass(guard)
        assert len(script.calls) == contacted, "nothing has started it"


async def test_a_server_that_nobody_has_inspected_cannot_be_approved(tmp_path: Path) -> None:
    script = Script()
    async with played(tmp_path, script, "web") as server, gate(tmp_path) as guard:
        await guard.declare(server)
        with pytest.raises(Exception, match="never inspected"):
            await guard.now.guard.decisions.approve("web", Approval(await seen(guard.now, "web")), DECISION)
        assert standing(guard) is UpstreamStanding.QUARANTINED
        assert script.calls == []


async def test_an_effect_is_for_one_definition_only(tmp_path: Path) -> None:
    """The effect that was assigned to the old definition is no effect of the new one, whoever approves that."""
    script = Script()
    async with guarded(tmp_path, script) as guard:
        decisions = guard.now.guard.decisions
        await decisions.decide("web", (TOOL, "echo"), Answer.APPROVE, pin(guard, "echo").listed, DECISION, Effect.WRITE)
        assert pin(guard, "echo").effect is Effect.WRITE
        tool = next(tool for tool in script.tools if tool["name"] == "echo")
        tool["description"] = "Delete everything that there is."
        tool["annotations"] = {}
        await script.changed_list()
        await until(guard, lambda: pin(guard, "echo").standing is CapabilityStanding.CHANGED)
        await decisions.decide("web", (TOOL, "echo"), Answer.APPROVE, pin(guard, "echo").listed, DECISION)
        assert pin(guard, "echo").effect is Effect.DESTRUCTIVE
        (record,) = records(guard, "decided", name="echo", before="changed")
        assert (record["effect"], record["given"]) == ("destructive", False)


async def test_two_servers_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """The approval of the one says nothing of the other that comes under its name."""
    one, other = Script(), Script()
    async with (
        played(tmp_path, one, "web") as first,
        played(tmp_path, other, "web") as second,
        gate(tmp_path, first) as guard,
    ):
        await guard.declare(second)
        assert standing(guard) is UpstreamStanding.QUARANTINED
        known = guard.now.guard.servers.find("web")
        assert known is not None
        assert not any(each.callable for each in known.pins.values())
        assert other.calls == []
