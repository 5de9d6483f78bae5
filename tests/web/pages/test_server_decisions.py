"""The decisions about a server: each is one row, however many records it left, and every record is reached from it."""

import html
import re
from pathlib import Path

import pytest

from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.decisions import Approval, Decision
from mcpguard.guard.audit import server_decisions as history
from mcpguard.guard.audit.server_decisions import server_decisions
from mcpguard.web.pages.servers.decision_rows import MOST_LINES
from tests import review
from tests.gate import Gate
from tests.gateway.speaking import changed, guarded
from tests.simulators.script import Script
from tests.web.pages.filling import reviewer
from tests.web.pages.reading import Sends, somebody, text
from tests.web.reviewing import WHY, add, approved, decisions
from tests.world import World

pytestmark = pytest.mark.anyio
TOOLS = ("alpha", "beta", "gamma")


def many(*names: str, about: str = "Does one thing.") -> Script:
    """A server that lists these tools and nothing else."""
    script = Script(tools=[{"name": name, "description": about, "inputSchema": {"type": "object"}} for name in names])
    script.resources, script.templates, script.prompts = [], [], []
    return script


def rows(page: str) -> list[str]:
    body = page.partition("<tbody")[2].partition("</tbody>")[0]
    return re.findall(r"<tr .*?</tr>", body, re.DOTALL)


async def shown(guard: Gate, by: Sends | None = None) -> list[str]:
    headers = by or await somebody(guard)
    answer = await guard.http.get(f"{guard.where.url}/servers/web/decisions", headers=headers)
    assert answer.status_code == 200
    return rows(answer.text)


async def approve(guard: Gate, why: str, only: tuple[str, ...], left_out: tuple[str, ...]) -> None:
    known = guard.now.guard.servers.find("web")
    assert known is not None
    chosen, others = (frozenset((CapabilityKind.TOOL, name) for name in names) for names in (only, left_out))
    approval = Approval(await review.seen(guard.now, "web"), chosen, left_out=others)
    await guard.now.guard.decisions.approve("web", approval, Decision(review.PERSON, why))


async def test_an_approval_is_one_row_that_tells_what_it_covers(guard: World) -> None:
    server = await approved(guard)
    page = await (await reviewer(guard)).open("/servers/notes/decisions")
    (row,) = (row for row in rows(page.answer.text) if "Approved" in row and "<details>" in row)
    assert f"Approved {server['present']} capabilities" in text(row)
    assert html.escape(WHY) in row
    made = [record for record in decisions(guard) if record["answer"] == "approve"]
    assert len(made) == server["present"] + 1
    for record in made:
        assert f'href="/audit/{record["seq"]}"' in row
    for each in server["capabilities"]:
        assert html.escape(each["name"]) in row


async def test_what_an_approval_leaves_out_is_in_its_row(tmp_path: Path) -> None:
    async with guarded(tmp_path, many(*TOOLS)) as guard:
        await approve(guard, "two are needed", ("alpha", "beta"), ("gamma",))
        newest, *_ = await shown(guard)
        assert "Approved 2 of 3 tools left out 1" in text(newest)
        assert "gamma Left out, approval revoked" in text(newest)
        assert "alpha Approved as destructive" in text(newest)


async def test_two_decisions_that_are_alike_are_two_rows(tmp_path: Path) -> None:
    async with guarded(tmp_path, many(*TOOLS)) as guard:
        by = await somebody(guard)
        before = len(await shown(guard, by))
        for _ in range(2):
            await guard.now.guard.decisions.disable("web", review.DECISION)
            await guard.now.guard.decisions.enable("web", review.DECISION)
        found = [text(row) for row in await shown(guard, by)]
        assert len(found) == before + 4
        assert [("Disabled" if "Disabled" in row else "Enabled") for row in found[:4]] == [*("Enabled", "Disabled") * 2]


async def test_what_one_listing_changed_is_one_row_of_the_guards(tmp_path: Path) -> None:
    script = many(*TOOLS)
    async with guarded(tmp_path, script) as guard:
        for each in script.tools:
            each["description"] = "Does another thing."
        await changed(guard, script)
        newest, older, *_ = (text(row) for row in await shown(guard))
        assert "Definition changed: 3 tools" in newest
        assert "guard (automatic)" in newest
        assert "Approved 3 tools" in older


async def test_a_server_with_five_hundred_tools_has_a_short_page(tmp_path: Path) -> None:
    names = [f"tool_{number:03}" for number in range(500)]
    async with guarded(tmp_path, many(*names)) as guard:
        (approval,) = (row for row in await shown(guard) if "Approved" in text(row))
        assert "Approved 500 tools" in text(approval)
        assert approval.count("<li>") == MOST_LINES
        assert f"{500 - MOST_LINES} more capabilities" in text(approval)
        found = await server_decisions(guard.now.guard.auditing, "web")
        assert [len(each.records) for each in found.decisions if each.first["kind"] == "decided"] == [501]
        assert not found.has_more


async def test_work_is_bounded_and_what_was_cut_says_so(guard: World, monkeypatch: pytest.MonkeyPatch) -> None:
    server = await approved(guard)
    log = guard.now.guard.auditing
    monkeypatch.setattr(history, "AT_ONCE", 2)
    whole = await server_decisions(log, "notes")
    assert [len(each.records) for each in whole.decisions] == [server["present"] + 1, 1, 1], "in several pages"
    monkeypatch.setattr(history, "MOST_RECORDS", 4)
    cut = await server_decisions(log, "notes")
    assert [(len(each.records), each.is_whole) for each in cut.decisions] == [(4, False)]
    assert cut.has_more
    page = await (await reviewer(guard)).open("/servers/notes/decisions")
    assert "4 capabilities or more" in page.text
    assert "Latest 1 decision." in page.text
    monkeypatch.undo()
    monkeypatch.setattr(history, "MOST_DECISIONS", 1)
    one = await server_decisions(log, "notes")
    assert [(len(each.records), each.is_whole) for each in one.decisions] == [(server["present"] + 1, True)]
    assert one.has_more


async def test_a_server_about_which_nothing_was_decided_says_so(guard: World) -> None:
    await add(guard)
    assert (await server_decisions(guard.now.guard.auditing, "other")).decisions == ()
    page = await (await reviewer(guard)).open("/servers/notes/decisions")
    (row,) = rows(page.answer.text)
    assert "Added" in text(row)
