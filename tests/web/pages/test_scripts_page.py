"""`/scripts`: what a person writes down there waits for a review, and nothing else happens."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mcpguard.domain.people import Role
from tests.attacks.sandboxed import works
from tests.web.pages.console import browser, nothing_happens, records
from tests.web.pages.filling import reviewer
from tests.web.pages.reading import alert, heading, hidden, text, told
from tests.world import World, world

pytestmark = pytest.mark.anyio
EDIT = "/scripts/edit"
FORM = {"name": "one", "description": "Says one.", "code": "input.get('n', 1)", "schema": '{"type": "object"}'}
HOSTILE = "<script>alert(1)</script>\u202eevil"


@pytest.fixture
async def runs(tmp_path: Path) -> AsyncIterator[World]:
    """A guard that may run programs."""
    works()
    async with world(tmp_path, code__enabled=True) as guard:
        yield guard


async def test_a_script_is_written_down_reviewed_changed_and_removed(runs: World) -> None:
    by = await browser(runs)
    assert "No scripts yet." in text((await by.get("/scripts")).text)
    page = await by.told(await by.post(EDIT, **FORM, tools="", revision="0", answer="save"))
    assert told(page).startswith("Saved one. Nothing of it runs")
    assert (heading(page), "input.get" in text(page.text)) == ("one", True)
    assert "Names no tools: every call is held." in text(page.text)
    listed = text((await by.get("/scripts")).text)
    assert "Says one." in listed
    assert "Pending" in listed or "pending" in listed
    edit = f"{EDIT}?name=one"
    assert hidden(await by.get(edit), "revision") == "1"
    changed = FORM | {"code": "2"}
    await by.told(await by.post(edit, **changed, tools="", revision="1", answer="save"))
    removed = await by.told(await by.post(edit, **changed, tools="", revision="2", answer="remove"))
    assert told(removed) == "Removed one. Calls of it are denied."
    said = records(runs, "script")
    assert [(each["change"], each["revision"]) for each in said] == [("added", 1), ("changed", 2), ("removed", 2)]
    assert {(each["via"], each["by"].rpartition(" ")[2]) for each in said} == {("console", "(ada)")}


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"code": "1 +"}, "line 1"),
        ({"name": "No Name"}, "The name must have"),
        ({"schema": "[1"}, "strict JSON"),
        ({"schema": "[]"}, "must be an object"),
        ({"tools": "nothing"}, "server:tool"),
        ({"tools": "web:nothing"}, "not approved"),
        ({"revision": "x"}, "incomplete"),
        ({"revision": "4"}, "revision 0, not 4"),
    ],
)
async def test_what_is_wrong_is_told_beside_what_was_typed_and_nothing_happens(
    runs: World, sent: dict[str, str], said: str
) -> None:
    by = await browser(runs)
    async with nothing_happens(runs):
        form = {**FORM, "tools": "", "revision": "0", "answer": "save", **sent}
        page = await by.post(EDIT, **form)
    assert page.status_code in (400, 409, 422)
    assert said in alert(page)
    assert "Says one." in page.text


async def test_who_may_only_look_finds_no_form_and_changes_nothing(runs: World) -> None:
    by = await browser(runs, Role.VIEWER)
    assert (await by.get("/scripts")).status_code == 200
    async with nothing_happens(runs):
        assert (await by.get(EDIT)).status_code == 403
        assert (await by.post(EDIT, **FORM, tools="", revision="0", answer="save")).status_code == 403


async def test_hostile_words_are_shown_and_do_nothing(runs: World) -> None:
    by = await browser(runs)
    form = FORM | {"description": HOSTILE, "code": f"{HOSTILE!r}\n# </textarea><script>"}
    await by.told(await by.post(EDIT, **form, tools="", revision="0", answer="save"))
    for path in ("/scripts", f"{EDIT}?name=one", "/servers/scripts/capability?kind=tool&name=one"):
        page = await by.get(path)
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        assert "</textarea><script>" not in page.text


async def test_a_reviewer_approves_what_is_shown(runs: World) -> None:
    await (await browser(runs, name="bob")).post(EDIT, **FORM, tools="", revision="0", answer="save")
    by = await reviewer(runs)
    page = await by.open("/servers/scripts/capability", kind="tool", name="one")
    await by.send(page, "decide", decision="approve", why="It is short.", effect="read")
    known = runs.now.guard.servers.find("scripts")
    assert known is not None
    assert [pin.standing.value for pin in known.pins.values()] == ["approved"]


async def test_where_programs_are_off_the_page_says_so(guard: World) -> None:
    by = await browser(guard)
    for path in ("/scripts", EDIT):
        page = await by.get(path)
        assert page.status_code == 404
        assert "code.enabled" in text(page.text)
    assert (await by.get(f"{EDIT}?name=x")).status_code == 404
