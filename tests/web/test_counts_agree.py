"""A number is the same wherever it is told: in the list, on pages, in the API and in the metrics."""

import re
from typing import Any

import pytest

from mcpguard.domain.findings import Severity
from mcpguard.domain.people import Role
from mcpguard.web.pages.servers import findings_page
from tests import people
from tests.web.measured import metric
from tests.web.pages.filling import Page, Reviewer, reviewer
from tests.web.reviewing import POISONED, SERVERS, WHY, add, approved, inspected, said, show, tool
from tests.world import World

pytestmark = pytest.mark.anyio
Json = dict[str, Any]
SHELL: Json = {"command": "npx", "args": ["-y", "a-package"], "sandbox": "strict"}


async def filled(guard: World) -> dict[str, Json]:
    """Servers as they may stand: approved, approved in part, switched off, quarantined, blocked, never inspected."""
    await approved(guard)
    await approved(guard, "part")
    server = await show(guard, "part")
    body = {"why": WHY, "kind": "tool", "name": "read_note", "seen": tool(server, "read_note")["fingerprint"]}
    said(await guard.operator.post(f"{SERVERS}/part/capability/revoke", json=body))
    await approved(guard, "off")
    await guard.now.guard.decisions.disable("off", people.BY)
    await inspected(guard, "weather", **POISONED)
    await inspected(guard, "blocked", **POISONED)
    await guard.now.guard.decisions.block("blocked", people.BY)
    await add(guard, "unseen", **SHELL)
    listed = said(await guard.operator.get(SERVERS))["servers"]
    return {each["name"]: each for each in listed}


def row(page: Page, name: str) -> str:
    """A server's row in the list, as HTML."""
    link = re.compile(rf'class="mono" href="/servers/{name}(?:/activity)?"')
    (found,) = (each for each in page.answer.text.split("<tr ") if link.search(each))
    return found.partition("</tr>")[0]


def counted(html: str) -> list[int]:
    """The numbers of findings that a part of a page tells, by severity, the worst first."""
    return [int(number) for number in re.findall(rf"(\d+) (?:{'|'.join(Severity)})<", html)]


def of_rail(page: Page, word: str) -> int:
    (found,) = re.findall(rf'data-count="{word}">([\d,]*)<', page.answer.text)
    return int(found.replace(",", "") or 0)


async def of_server(by: Reviewer, name: str) -> list[int]:
    """The findings that its own page tells of, by severity."""
    page = (await by.open(f"/servers/{name}")).answer.text
    return counted(page.partition('class="advice-line')[2].partition("</section>")[0])


async def test_findings_are_counted_alike_everywhere(guard: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings_page, "PAGE", 1000)
    servers = await filled(guard)
    by = await reviewer(guard, Role.ADMIN)
    page = await by.open("/servers")
    for name, listed in servers.items():
        whole = await show(guard, name)
        capabilities = sum(len(each["findings"]) for each in whole["capabilities"] if each["present"])
        instructions = [each for each in whole["capabilities"] if each["kind"] == "instructions"]
        launch = len(whole["findings"]) - sum(len(each["findings"]) for each in instructions)
        own = await of_server(by, name)
        assert listed["found"] == whole["found"] == capabilities + launch == sum(own), name
        assert counted(row(page, name)) == (own[:1] if listed["inspected"] else []), name
    every = sum(listed["found"] for listed in servers.values())
    assert every > len(servers), "there is something to count"
    found = await by.open("/findings")
    assert of_rail(found, "findings") == every
    assert f"all {every}" in found.text
    assert len(re.findall(r'href="/findings\?rule=', found.answer.text)) == every
    assert await metric(guard, "mcpguard_definition_findings") == every
    grave = sum(listed["grave"] for listed in servers.values())
    assert await metric(guard, "mcpguard_grave_findings") == grave
    assert await metric(guard, "mcpguard_unread_approvals") == 0
    critical = sum(int(each) for each in re.findall(r">(?:critical|high) (\d+)<", found.answer.text))
    assert 0 < critical <= grave < every


async def test_capabilities_are_counted_alike_everywhere(guard: World) -> None:
    servers = await filled(guard)
    by = await reviewer(guard)
    page = await by.open("/servers")
    for name, listed in servers.items():
        whole = await show(guard, name)
        present = sum(each["present"] for each in whole["capabilities"])
        callable_ = sum(each["callable"] for each in whole["capabilities"])
        assert (listed["present"], listed["approved_now"]) == (whole["present"], whole["approved_now"]), name
        assert (present, callable_) == (listed["present"], listed["approved_now"]), name
        told = f"{callable_} of {present}" if listed["inspected"] else "unknown"
        assert f">{told}<" in row(page, name)
        shown = (await by.open(f"/servers/{name}")).text
        if listed["standing"] == "approved" and listed["enabled"]:
            assert f"with {callable_} of {present} capabilities" in shown
    assert servers["part"]["approved_now"] == servers["part"]["present"] - 1
    assert servers["off"]["approved_now"] == servers["off"]["present"] > 0


async def test_nobody_is_told_a_risk_of_what_nobody_inspected(guard: World) -> None:
    servers = await filled(guard)
    assert servers["unseen"]["inspected"] is False
    assert all(each["inspected"] for name, each in servers.items() if name != "unseen")
    by = await reviewer(guard)
    page = await by.open("/servers")
    assert [name for name in servers if "not inspected" in row(page, name)] == ["unseen"]
    assert "Not inspected" in (await by.open("/servers/unseen")).text
