"""Who imitates whom: the one that came later is found, and the finding names the one that was there first."""

from pathlib import Path

import pytest

from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.findings import Finding
from tests.gate import Gate, gate
from tests.gateway.speaking import changed, played
from tests.review import DECISION, approved, taken_in
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
NAME, IMITATION = "create_invoice", "create_lnvoice"


def offering(name: str) -> Script:
    script = Script()
    script.tools = [{"name": name, "inputSchema": {"type": "object"}}]
    return script


def found(guard: Gate, server: str, tool: str) -> list[Finding]:
    known = guard.now.guard.servers.find(server)
    assert known is not None
    findings = known.findings_in((CapabilityKind.TOOL, tool)).findings
    return [each for each in findings if each.rule.startswith("lookalike.")]


async def test_an_approved_server_is_not_suspected_because_of_one_that_imitates_it(tmp_path: Path) -> None:
    async with (
        played(tmp_path, offering(NAME), "billing") as honest,
        played(tmp_path, offering(IMITATION), "bills") as imitator,
        gate(tmp_path) as guard,
    ):
        await guard.declare(imitator, honest)  # the imitation came first, but nobody has approved it
        inspect = guard.now.guard.inspecting.inspect
        assert not (await inspect("bills", DECISION, consent=True, give=frozenset())).error
        assert not await approved(guard.now, "billing")
        await taken_in(guard.now, ["billing"])
        assert found(guard, "billing", NAME) == []
        assert not (await inspect("bills", DECISION, consent=True, give=frozenset())).error
        (finding,) = found(guard, "bills", IMITATION)
        assert finding.about == f"billing:{NAME}"
        assert NAME not in finding.title
        shown = await guard.now.guard.queries.capability("bills", (CapabilityKind.TOOL, IMITATION))
        (evidence,) = [each for each in shown["findings"] if each["rule"].startswith("lookalike.")]
        assert evidence["about"] == f"billing:{NAME}"
        assert evidence["excerpt"] == IMITATION


async def test_of_two_that_nobody_has_approved_the_later_one_is_found(tmp_path: Path) -> None:
    async with (
        played(tmp_path, offering(NAME), "billing") as first,
        played(tmp_path, offering(IMITATION), "bills") as second,
        gate(tmp_path) as guard,
    ):
        await guard.declare(first)
        await guard.declare(first, second)
        for name in ("billing", "bills", "billing"):
            done = await guard.now.guard.inspecting.inspect(name, DECISION, consent=True, give=frozenset())
            assert not done.error
        assert found(guard, "billing", NAME) == []
        assert [each.about for each in found(guard, "bills", IMITATION)] == [f"billing:{NAME}"]


async def test_an_approval_turns_round_who_imitates_whom(tmp_path: Path) -> None:
    async with (
        played(tmp_path, offering(IMITATION), "bills") as imitator,
        played(tmp_path, offering(NAME), "billing") as honest,
        gate(tmp_path) as guard,
    ):
        await guard.declare(imitator, honest)
        inspect = guard.now.guard.inspecting.inspect
        for name in ("bills", "billing", "bills"):
            assert not (await inspect(name, DECISION, consent=True, give=frozenset())).error
        assert [each.about for each in found(guard, "billing", NAME)] == [f"bills:{IMITATION}"]
        assert found(guard, "bills", IMITATION) == []
        assert not await approved(guard.now, "billing")
        await taken_in(guard.now, ["billing"])
        assert found(guard, "billing", NAME) == []
        assert not (await inspect("bills", DECISION, consent=True, give=frozenset())).error
        assert [each.about for each in found(guard, "bills", IMITATION)] == [f"billing:{NAME}"]


async def test_what_an_approved_server_adds_later_is_found_and_makes_no_newer_server_look_bad(tmp_path: Path) -> None:
    first = offering("list_bills")
    async with (
        played(tmp_path, first, "bills") as imitator,
        played(tmp_path, offering(NAME), "billing") as honest,
        gate(tmp_path, imitator, honest) as guard,
    ):
        assert found(guard, "billing", NAME) == []
        first.tools.append({"name": IMITATION, "inputSchema": {"type": "object"}})
        await changed(guard, first)
        assert [each.about for each in found(guard, "bills", IMITATION)] == [f"billing:{NAME}"]
        assert not (await guard.now.guard.inspecting.inspect("billing", DECISION, consent=True, give=frozenset())).error
        assert found(guard, "billing", NAME) == [], "although its server came later"
