"""`/search`: what an agent would find, as which caller, and why in this order."""

import re
from collections.abc import AsyncIterator

import anyio
import anyio.lowlevel
import pytest

from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.people import Role
from mcpguard.guard.callers.grants import CallerRequest
from mcpguard.web.pages.agents.search_page import ANYBODY
from tests.patience import PATIENCE
from tests.people import BY
from tests.review import taken_in
from tests.web.pages.console import nothing_happens
from tests.web.pages.filling import Page, Reviewer, reviewer
from tests.web.pages.reading import alert, text
from tests.web.reviewing import approved
from tests.world import World

pytestmark = pytest.mark.anyio
FORM = "/search"


@pytest.fixture
async def by(guard: World) -> AsyncIterator[Reviewer]:
    """An auditor of a guard whose tools can be found."""
    await approved(guard)
    await taken_in(guard.now, ("notes",))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(guard.now.guard.searching.run)
        auditor = await reviewer(guard, Role.AUDITOR)
        with anyio.fail_after(PATIENCE):
            while not tools(await auditor.open("/search", q="note")):
                await anyio.lowlevel.checkpoint()
        yield auditor
        tasks.cancel_scope.cancel()


def tools(page: Page) -> list[str]:
    assert page.status == 200
    return re.findall(r'kind=tool&amp;name=[^"]*">([^<]*)</a>', page.answer.text)


async def test_before_anything_is_searched_the_page_says_what_to_type(guard: World) -> None:
    page = await (await reviewer(guard, Role.VIEWER)).open("/search")
    assert "Nothing searched yet." in page.text
    assert page.holds(FORM, "q") == [""]


async def test_what_is_found_stands_there_with_why(guard: World, by: Reviewer) -> None:
    async with nothing_happens(guard):
        page = await by.open("/search", q="raed zorb note")
    assert tools(page)[0] == "notes:read_note"
    said = text(page.answer.text)
    assert "read (corrected from raed ) in its name and title 2." in said
    assert "No tool has: zorb ." in said
    assert page.holds(FORM, "q") == ["raed zorb note"]
    assert "Its name is said, so it comes before others." in text((await by.open("/search", q="read_note")).answer.text)
    assert [each for each in guard.said() if each["kind"] == "disclosed"] == []


async def test_it_is_searched_as_the_caller_that_is_chosen(guard: World, by: Reviewer) -> None:
    narrow = Scope(("*",), ("list_*",), frozenset(Effect))
    await guard.now.guard.granting.add(CallerRequest("narrow", narrow), BY)
    page = await by.open("/search", q="note", caller="narrow")
    assert tools(page) == ["notes:list_notes"]
    assert page.holds(FORM, "caller") == ["narrow"]
    assert page.offers(FORM, "caller") == ["anonymous", "narrow", ANYBODY]
    assert len(tools(await by.open("/search", q="note", caller=ANYBODY))) > 1
    nothing = await by.open("/search", q="zorb", caller="narrow")
    assert "No match among 1 tool in scope." in nothing.text
    unknown = await by.open("/search", q="note", caller="nobody")
    assert unknown.status == 404
    assert "No agent has this name" in alert(unknown.answer)


async def test_who_may_not_see_the_agents_chooses_none(guard: World, by: Reviewer) -> None:
    assert tools(await by.open("/search", q="note", caller=ANYBODY))
    narrow = Scope(("*",), ("list_*",), frozenset(Effect))
    await guard.now.guard.granting.add(CallerRequest("narrow", narrow), BY)
    viewer = await reviewer(guard, Role.VIEWER, "bob")
    page = await viewer.open("/search", q="note", caller="narrow")
    assert page.offers(FORM, "caller") == []
    assert "narrow" not in page.answer.text
    assert len(tools(page)) > 1, "everything that is approved is searched"


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", "\u202eevil", "a\u3164b", '"><img src=x>', "{{7*7}}"])
async def test_what_is_typed_is_inert(by: Reviewer, hostile: str) -> None:
    page = await by.open("/search", q=hostile)
    for bad in ("<script>alert", "<img", "{{49}}"):
        assert bad not in page.answer.text
    shown = page.answer.text.partition('value="')[2].partition("</form>")[2]
    assert "\u202e" not in shown
    assert "\u3164" not in shown


async def test_the_capabilities_of_a_server_lead_here(guard: World, by: Reviewer) -> None:
    assert 'href="/search"' in (await by.open("/servers/notes/capabilities")).answer.text
    assert guard.now.guard.held.waiting == 0
