"""Defaults are narrow: a revoked caller is explained nothing, and a guard without a fleet starts nothing."""

from pathlib import Path

import pytest

from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.guard.servers.publisher import Publisher
from mcpguard.guard.servers.registry import Registry
from mcpguard.guard.servers.running_calls import RunningCalls
from mcpguard.guard.servers.standings import Standings
from mcpguard.store.files import seals
from tests.gateway.granting import granted, revoked
from tests.gateway.speaking import guarded
from tests.simulators.script import Script
from tests.world import World

pytestmark = pytest.mark.anyio
ECHO = Capability("web", CapabilityKind.TOOL, "echo")


async def test_a_revoked_caller_is_told_nothing_but_that(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        caller = await granted(guard)
        assert guard.now.guard.explain(caller.grant.caller, ECHO)["answer"] == "ready"
        await revoked(guard, caller)
        said = guard.now.guard.explain(caller.grant.caller, ECHO)
        assert (said["answer"], said["reason"]) == ("blocked", "caller:revoked")
        assert "findings" not in said


async def test_before_there_is_a_fleet_nothing_is_started_and_nothing_fails(guard: World, tmp_path: Path) -> None:
    now = guard.now
    seal = seals.load_or_make(tmp_path / "seal.key")
    standings = Standings(
        Registry(), Publisher(), RunningCalls(), now.ledger, now.store.readers, seal, guard.clock, now.settings
    )
    standings.want()
    key = (CapabilityKind.RESOURCE, "note://first")
    subscription = standings.subscriptions.open("web", key[1], key, guard, lambda _: None, lambda: None)
    subscription.close()
    standings.subscriptions.notify("web", key[1])
