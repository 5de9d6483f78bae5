"""Two people decide about the same thing at once: one of them is first, and the other is told what moved."""

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import anyio
import pytest

from mcpguard.domain.capabilities import Effect
from mcpguard.domain.decisions import Actor, Answer, Approval, Decision, NameTaken, Stale
from mcpguard.domain.errors import GuardError
from mcpguard.domain.servers.standing import CapabilityStanding, UpstreamStanding
from mcpguard.domain.servers.upstreams import Origin
from mcpguard.guard.review.admission import DeclarationSource
from tests.attacks.quarantined import TOOL, pin, records, refused, standing, upstream
from tests.gate import gate
from tests.gateway.speaking import guarded, played
from tests.review import DECISION, seen
from tests.simulators.over_http import serving_http
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
ONE, OTHER = (Decision(Actor.with_full_rights(f"uid:{uid}", "operator socket"), "because") for uid in (1, 2))


async def at_once(*deciding: Callable[[], Awaitable[object]]) -> list[GuardError | None]:
    """What each of them was told; None where it was carried out."""
    told: list[GuardError | None] = [None] * len(deciding)

    async def decide(number: int) -> None:
        try:
            await deciding[number]()
        except GuardError as error:
            told[number] = error

    async with anyio.create_task_group() as tasks:
        for number in range(len(deciding)):
            tasks.start_soon(decide, number)
    return told


async def test_one_approves_while_the_other_blocks(tmp_path: Path) -> None:
    """In either order it ends blocked: a block looks at nothing, and an approval does not undo it."""
    script = Script()
    async with played(tmp_path, script, "web") as server, gate(tmp_path) as guard:
        await guard.declare(server)
        decisions = guard.now.guard.decisions
        await guard.now.guard.inspecting.inspect("web", DECISION, consent=True, give=frozenset())
        shown = Approval(await seen(guard.now, "web"))
        told = await at_once(lambda: decisions.approve("web", shown, ONE), lambda: decisions.block("web", OTHER))
        assert told[1] is None
        assert standing(guard) is UpstreamStanding.BLOCKED
        decided = [each for each in records(guard, "decided") if "name" not in each]
        assert [each["answer"] for each in decided] == (["block"] if told[0] else ["approve", "block"])
        assert [each["by"] for each in decided][-1] == "uid:2"
        await refused(guard, await guard.legacy(), "server:blocked", script)


async def test_two_assign_different_effects_and_both_are_recorded_in_order(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        decisions, listed = guard.now.guard.decisions, pin(guard, "echo").listed
        key, answer = (TOOL, "echo"), Answer.APPROVE
        told = await at_once(
            lambda: decisions.decide("web", key, answer, listed, ONE, Effect.WRITE),
            lambda: decisions.decide("web", key, answer, listed, OTHER, Effect.DESTRUCTIVE),
        )
        assert told == [None, None]
        last = records(guard, "decided", name="echo")[-2:]
        assert pin(guard, "echo").effect == last[-1]["effect"]
        assert {each["by"] for each in last} == {"uid:1", "uid:2"}


async def test_one_revokes_what_the_other_approves(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        decisions, listed = guard.now.guard.decisions, pin(guard, "echo").listed
        key = TOOL, "echo"
        told = await at_once(
            lambda: decisions.decide("web", key, Answer.REVOKE, listed, ONE),
            lambda: decisions.decide("web", key, Answer.REVOKE, listed, OTHER),
        )
        assert sum(each is None for each in told) == 1, "the second finds nothing to revoke"
        assert pin(guard, "echo").standing is CapabilityStanding.PENDING
        assert len(records(guard, "decided", answer="revoke")) == 1
        await refused(guard, await guard.legacy(), "capability:pending", script)


async def test_two_patches_of_one_revision_are_one_patch(tmp_path: Path) -> None:
    script = Script()
    async with serving_http(script) as url, gate(tmp_path) as guard:
        admission = guard.now.guard.admission
        await admission.add("web", {"url": url}, DeclarationSource(Origin.CLI, ONE.by))
        revision = upstream(guard).revision
        told = await at_once(
            lambda: admission.patch("web", {"timeout": 5}, revision, ONE.by),
            lambda: admission.patch("web", {"timeout": 6}, revision, OTHER.by),
            lambda: admission.remove("web", revision, OTHER.by),
        )
        assert [type(each) for each in told] == [type(None), Stale, Stale]
        assert upstream(guard).revision == revision + 1
        known = guard.now.guard.servers.find("web")
        assert known is not None
        assert known.declared.timeout == 5
        assert [each["by"] for each in records(guard, "admitted", change="changed")] == ["uid:1"]


async def test_two_add_a_server_of_one_name_and_the_ledger_goes_on(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        admission, source = guard.now.guard.admission, DeclarationSource(Origin.CLI, ONE.by)
        told = await at_once(
            *(partial(admission.add, "web", {"url": f"https://{host}.example/mcp"}, source) for host in ("a", "b", "c"))
        )
        assert [type(each) for each in told] == [type(None), NameTaken, NameTaken]
        assert guard.now.guard.readiness().ready
        assert len(records(guard, "admitted")) == 1
