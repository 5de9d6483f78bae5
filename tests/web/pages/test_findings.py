"""`/findings`: everything that was found, the worst first, each with a way to where it is."""

import re

import pytest

from mcpguard.domain.findings import Severity
from mcpguard.domain.people import Role
from mcpguard.web.pages.servers import findings_page
from tests.web.pages.filling import Page, reviewer
from tests.web.reviewing import POISONED, add, inspected
from tests.world import World

pytestmark = pytest.mark.anyio


def rules(page: Page) -> list[str]:
    assert page.status == 200
    return re.findall(r'href="/findings\?rule=([^"]+)"', page.answer.text)


def severities(page: Page) -> list[Severity]:
    return [Severity(each) for each in re.findall(r'<td role="cell"><span class="is (\w+)">', page.answer.text)]


async def test_where_nothing_was_found_that_is_said(guard: World) -> None:
    await inspected(guard)
    assert "No findings." in (await (await reviewer(guard, Role.VIEWER)).open("/findings")).text


async def test_all_are_there_the_worst_first_and_lead_to_their_place(guard: World) -> None:
    server = await inspected(guard, "weather", **POISONED)
    await add(guard, "fetch", command="npx", args=["-y", "a-package"], sandbox="strict")
    page = await (await reviewer(guard, Role.VIEWER)).open("/findings")
    assert len(rules(page)) == server["found"] + 1
    found = severities(page)
    assert found == sorted(found, key=[*Severity].index, reverse=True)
    assert "/servers/weather/capability?kind=tool&amp;name=moon_phase" in page.answer.text
    assert 'href="/servers/fetch"' in page.answer.text


async def test_they_are_filtered_by_severity_server_and_rule(guard: World) -> None:
    await inspected(guard, "weather", **POISONED)
    await add(guard, "fetch", command="npx", args=["-y", "a-package"], sandbox="strict")
    by = await reviewer(guard)
    critical = await by.open("/findings", severity="critical")
    assert set(severities(critical)) == {Severity.CRITICAL}
    assert rules(await by.open("/findings", server="fetch")) == ["launch.unversioned"]
    assert set(rules(await by.open("/findings", rule="secrecy.silence"))) == {"secrecy.silence"}
    assert "No results." in (await by.open("/findings", server="nothing")).text
    assert len(rules(await by.open("/findings", severity="nonsense"))) > 20


async def test_they_come_in_parts(guard: World, monkeypatch: pytest.MonkeyPatch) -> None:
    server = await inspected(guard, "weather", **POISONED)
    monkeypatch.setattr(findings_page, "PAGE", 10)
    by = await reviewer(guard)
    found = [rule for start in ("0", "10", "20", "30") for rule in rules(await by.open("/findings", start=start))]
    monkeypatch.setattr(findings_page, "PAGE", 1000)
    assert found == rules(await by.open("/findings"))
    assert len(found) == server["found"]
