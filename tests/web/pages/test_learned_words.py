"""The words for which a tool is found more often, on its page: who sees them, and who has them forgotten."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mcpguard.domain.people import Role
from tests.gate import Gate, gate
from tests.gateway.guard_face import agent
from tests.gateway.learning import learning, names, office, recorded, remembered, taught
from tests.gateway.speaking import guarded, played, turned_away
from tests.people import BY
from tests.web.pages.filling import Page, Reviewer, reviewer
from tests.web.pages.reading import alert, heading, text, told

pytestmark = pytest.mark.anyio
AT = "/servers/office/capability"
FORGET = f"{AT}/forget?kind=tool&name=list_bills"
TITLE = "Found more often for"
BILLS = ["office:list_bills"]


@asynccontextmanager
async def knowing(folder: Path) -> AsyncIterator[Gate]:
    """A guard that has learned that "kestrel" leads to bills."""
    async with guarded(folder, office(), "office") as guard, agent(guard) as client:
        await taught(guard, client)
        yield guard


async def seen(by: Reviewer, name: str = "list_bills") -> Page:
    page = await by.open(AT, kind="tool", name=name)
    assert page.status == 200, page.text
    return page


def part(page: Page) -> str:
    """What the page says of what was learned."""
    return text(page.answer.text).partition(TITLE)[2]


def is_as_before(guard: Gate) -> bool:
    return names(guard, "kestrel") == BILLS and not recorded(guard, "search_forgotten")


async def test_each_word_says_how_many_taught_it_and_is_forgotten_for_a_reason(tmp_path: Path) -> None:
    async with knowing(tmp_path) as guard:
        by = await reviewer(guard)
        page = await seen(by)
        assert "2 words" in part(page)
        assert "customers 1 agent kestrel 1 agent" in part(page)
        done = await by.send(page, "forget", why="nobody says that any more")
        assert told(done.answer) == "Forgot what search had learned of office:list_bills."
        assert "Nothing yet." in part(done)
        assert "forget" not in done.forms
        assert names(guard, "kestrel") == []
        (record,) = recorded(guard, "search_forgotten")
        assert (record["server"], record["name"], record["via"]) == ("office", "list_bills", "console")
        assert (record["by"].rpartition(" ")[2], record["why"]) == ("(ada)", "nobody says that any more")


async def test_without_a_reason_nothing_happens(tmp_path: Path) -> None:
    async with knowing(tmp_path) as guard:
        by = await reviewer(guard)
        told_why = await by.send(await seen(by), "forget", why=" ")
        assert (told_why.status, alert(told_why.answer)) == (422, "A decision needs a reason.")
        long = await by.send(told_why, "forget", why="x" * 2001)
        assert (long.status, long.holds("forget", "why")) == (422, ["x" * 2001])
        assert is_as_before(guard), "and nothing happened"


@pytest.mark.parametrize("role", [Role.VIEWER, Role.AUDITOR])
async def test_whoever_may_not_decide_forgets_nothing(role: Role, tmp_path: Path) -> None:
    async with knowing(tmp_path) as guard:
        by = await reviewer(guard, role)
        page = await seen(by)
        assert (TITLE in page.text, "kestrel" in page.text) == (role is Role.AUDITOR,) * 2
        assert "forget" not in page.forms
        refused = await by.post(FORGET, why="to see")
        assert (refused.status, heading(refused.answer)) == (403, "Not permitted")
        assert is_as_before(guard), "and nothing happened"
        assert await turned_away(guard) == {("network", "right"): 1}


async def test_whoever_lost_the_right_while_looking_forgets_nothing(tmp_path: Path) -> None:
    async with knowing(tmp_path) as guard:
        by = await reviewer(guard)
        page = await seen(by)
        await guard.now.guard.users.role("ada", Role.AUDITOR, BY)
        refused = await by.post(page.actions["forget"], why="one more")
        assert (refused.status, refused.answer.headers["location"].partition("?")[0]) == (303, "/login")
        assert is_as_before(guard), "and nothing happened"


async def test_only_tools_that_there_are_have_something_to_forget(tmp_path: Path) -> None:
    async with knowing(tmp_path) as guard:
        by = await reviewer(guard)
        assert TITLE not in (await by.open(AT, kind="resource", name="note://first")).text
        for path, status in (
            (f"{AT}/forget?kind=tool&name=nothing", 404),
            ("/servers/nothing/capability/forget?kind=tool&name=list_bills", 404),
            (f"{AT}/forget?kind=prompt&name=list_bills", 404),
            (f"{AT}/forget", 404),
        ):
            assert (await by.post(path, why="all of it")).status == status, path
        assert is_as_before(guard), "and nothing happened"


async def test_before_anything_is_learned_the_page_says_what_it_takes(tmp_path: Path) -> None:
    async with guarded(tmp_path, office(), "office") as guard:
        page = await seen(await reviewer(guard))
        assert "Nothing yet. A word is learned once agents have called this version after two" in part(page)
        assert "forget" not in page.forms


async def test_what_was_learned_is_forgotten_where_learning_is_off(tmp_path: Path) -> None:
    """It would count again once learning is on."""
    async with played(tmp_path, office(), "office") as server:
        async with gate(tmp_path, server) as guard, agent(guard) as client:
            await taught(guard, client)
        async with gate(tmp_path, server, search__learn=False) as guard:
            await remembered(guard, 0)
            assert names(guard, "kestrel") == []
            assert "the setting search.learn is off" in part(await seen(await reviewer(guard)))
        async with gate(tmp_path, server) as guard:
            await remembered(guard, 2)
            assert names(guard, "kestrel") == BILLS, "off is not forgotten"
        async with gate(tmp_path, server, search__learn=False) as guard:
            by = await reviewer(guard, name="grace")
            done = await by.send(await seen(by), "forget", why="to begin anew")
            assert told(done.answer) == "Forgot what search had learned of office:list_bills."
            assert len(recorded(guard, "search_forgotten")) == 1
        async with gate(tmp_path, server) as guard, agent(guard) as client:
            await taught(guard, client, "office:write_note")
            assert len(learning(guard).uses) == 2, "only what came later"
            assert names(guard, "kestrel") == ["office:write_note"]


async def test_a_search_says_which_words_were_learned_and_leads_there(tmp_path: Path) -> None:
    async with knowing(tmp_path) as guard:
        auditor, viewer = await reviewer(guard, Role.AUDITOR), await reviewer(guard, Role.VIEWER, "bob")
        found = await auditor.open("/search", q="kestrel bills", caller="*")
        assert "kestrel in earlier searches that led to it" in text(found.answer.text)
        assert "bills in its name and first sentence" in text(found.answer.text)
        assert "list_bills#h-learned" in found.answer.text
        both = text((await auditor.open("/search", q="customers", caller="*")).answer.text)
        assert "customers in its first sentence and in earlier searches that led to it" in both
        assert "h-learned" not in (await viewer.open("/search", q="kestrel")).answer.text
