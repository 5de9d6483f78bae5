"""The overview, and the activity of a server: what was counted, and where each number leads."""

import html
import re

import pytest

from mcpguard.domain.calls.verdicts import Deny
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.people import Role
from mcpguard.domain.reasons import Reason
from mcpguard.guard.audit.call_counter import CallCounter
from tests.web.pages.filling import Page, reviewer
from tests.web.reviewing import HONEST, SERVERS, WHY, approved, inspected, said
from tests.world import World

pytestmark = pytest.mark.anyio


async def called(guard: World) -> None:
    """Three calls are answered and one is denied, and all of them are counted."""
    for _ in range(3):
        await guard.call()
    await guard.call(guard.opening(Deny(Reason.SCOPE_EFFECT), Effect.WRITE))
    await CallCounter(guard.now.store, guard.now.ledger, guard.clock).catch_up()


def stat(page: Page, title: str) -> str:
    """The number under a title."""
    (found,) = re.findall(rf"<dt>{title}</dt><dd[^>]*>(?:<a[^>]*>)?([^<]*)", page.answer.text)
    return str(found)


def links(page: Page) -> list[str]:
    """The links into the audit log."""
    return [html.unescape(each) for each in re.findall(r'href="(/audit\?[^"]*)"', page.answer.text)]


async def test_an_overview_without_calls_says_so(guard: World) -> None:
    page = await (await reviewer(guard)).open("/overview")
    assert page.status == 200, page.text
    assert "No calls in this range." in page.text
    assert stat(page, "Calls") == "0"


async def test_what_needs_somebody_stands_above_the_numbers(guard: World) -> None:
    await inspected(guard)
    by = await reviewer(guard)
    page = await by.open("/overview")
    assert "1 server to review" in page.text
    assert "the oldest was added" in page.text
    assert "expires in 7 days" not in page.text


async def test_tokens_that_expire_soon_are_told_before_they_do(guard: World) -> None:
    for name, days in (("soon", 3), ("sooner", 1), ("later", 9), ("never", None)):
        seconds = None if days is None else days * 24 * 3600
        body = {"name": name, "effects": ["read"], "why": WHY, "expires_in": seconds}
        assert (await guard.operator.post("/api/v1/callers", json=body)).status_code == 201
    page = await (await reviewer(guard)).open("/overview")
    assert "2 tokens expire in 7 days" in page.text
    assert 'href="/callers"' in page.answer.text


async def test_tokens_that_searching_saved_are_told_once_there_are_any(guard: World) -> None:
    by = await reviewer(guard)
    used = guard.now.guard.searching.context_use
    used.count_answer(40_000)
    assert "Tokens saved" not in (await by.open("/overview")).text
    used.count_list(8_000_000, 1000)
    page = await by.open("/overview")
    assert stat(page, "Tokens saved") == "≈ 2.0 M"
    assert "99 % of all definitions, by search" in page.text


async def test_calls_are_told_by_what_became_of_them_and_each_number_opens_the_log(guard: World) -> None:
    await called(guard)
    by = await reviewer(guard)
    page = await by.open("/overview")
    assert (stat(page, "Calls"), stat(page, "Denied"), stat(page, "Failed")) == ("4", "1", "0")
    assert "files:read_file" in page.text
    assert "scope:effect" in page.text
    assert len(links(page)) > 8
    for link in dict.fromkeys(links(page)):
        assert (await by.open(link)).status == 200, link
    (denied,) = {link for link in links(page) if "reason" in link}
    assert "1 call" in " ".join((await by.open(denied)).text.split())


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"range": "7d"}, ""),
        ({"range": "1y"}, ""),
        ({"since": "2026-11-20", "until": "2026-11-21T12:00"}, ""),
        ({"since": "yesterday"}, "Showing the last 24 hours"),
        ({"since": "2026-11-21", "until": "2026-11-20"}, "Showing the last 24 hours"),
        ({"since": "1980-01-01"}, "Showing the last 24 hours"),
    ],
)
async def test_a_range_is_taken_from_the_address_or_said_to_be_none(
    guard: World, query: dict[str, str], told: str
) -> None:
    page = await (await reviewer(guard)).open("/overview", **query)
    assert page.status == 200
    assert told in page.text
    assert ('role="alert"' in page.answer.text) == bool(told)


async def test_a_server_is_told_by_its_own_calls(guard: World) -> None:
    said(await guard.operator.post(SERVERS, json={"name": "files", "config": HONEST}), 201)
    await approved(guard)
    await called(guard)
    by = await reviewer(guard)
    page, other = await by.open("/servers/files/activity"), await by.open("/servers/notes/activity")
    assert (stat(page, "Calls"), stat(page, "Denied"), stat(page, "p50")) != ("4", "1", "none")
    assert (stat(page, "Calls"), stat(page, "Denied")) == ("4", "1")
    assert (stat(other, "Calls"), stat(other, "p95")) == ("0", "none")
    assert "scope:effect" in page.text
    assert 'href="/calls/' in page.answer.text, "the last denial leads to its call"
    for link in dict.fromkeys(links(page)):
        assert "server" in link
        assert (await by.open(link)).status == 200, link


async def test_a_server_that_is_not_there_has_no_activity(guard: World) -> None:
    assert (await (await reviewer(guard)).open("/servers/nobody/activity")).status == 404


async def test_whoever_may_not_see_the_log_sees_no_numbers_of_it(guard: World) -> None:
    await approved(guard)
    by = await reviewer(guard, Role.VIEWER)
    for path in ("/overview", "/servers/notes/activity"):
        page = await by.open(path)
        assert page.status == 403, path
        assert "Calls" not in page.text
    assert "Activity" not in (await by.open("/servers/notes")).text
