"""An inspection takes as long as an installation and a slow server take: its page says at once that it is under way and
how far it has come, without a script too, and leads to the review when it has ended."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from mcpguard.domain.people import Role
from mcpguard.guard.review.inspection_records import CUT_OFF
from tests.patience import PATIENCE
from tests.process import ROOT
from tests.web.pages.filling import UNDER_WAY, Page, Reviewer, reviewer
from tests.web.reviewing import SERVERS, add, show
from tests.world import World, world

pytestmark = pytest.mark.anyio
Json = dict[str, Any]
SLOW = """
import pathlib, sys, time
trace = pathlib.Path(sys.argv[1])
(trace / "began").touch()
while not (trace / "go").exists():
    time.sleep(0.01)
if (trace / "fails").exists():
    sys.exit("no licence")
from mcpguard.demo.__main__ import main
main(["honest"], {})
"""
ENDED = "Last inspection failed"


async def begun(guard: World, folder: Path) -> tuple[Reviewer, Page]:
    """A server that says nothing until it may, and somebody who has had it inspected."""
    await add(guard, "slow", command=sys.executable, args=["-c", SLOW, str(folder)], cwd=str(ROOT), sandbox="none")
    by = await reviewer(guard)
    page = await by.send(await by.open("/servers/slow"), "inspect", consent="yes")
    await until((folder / "began").exists)
    return by, page


async def until(condition: Callable[[], object]) -> None:
    with anyio.fail_after(PATIENCE):
        while not condition():
            await checkpoint()


async def ended(by: Reviewer) -> Page:
    """The page to which that of the inspection leads."""
    with anyio.fail_after(PATIENCE):
        while UNDER_WAY in (page := await by.follow("/servers/slow/inspection")).text:
            await checkpoint()
    return page


def records(guard: World) -> list[Json]:
    return [record for record in guard.said() if record["kind"] in ("inspected", "inspection_failed")]


async def test_it_is_said_at_once_that_it_is_under_way_and_the_page_leads_to_the_review(
    guard: World, tmp_path: Path
) -> None:
    by, page = await begun(guard, tmp_path)
    assert page.status == 200
    assert page.answer.url.path == "/servers/slow/inspection"
    assert UNDER_WAY in page.text
    assert [record["kind"] for record in records(guard)] == ["inspected"], "that it begins is recorded already"
    page = await by.open("/servers/slow/inspection")
    assert '<li aria-current="step">Starting or contacting it …</li>' in page.answer.text
    assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in page.answer.text
    assert (await show(guard, "slow"))["inspection_stage"] == "starting"
    assert "show progress" in (await by.open("/servers/slow")).text
    (tmp_path / "go").touch()
    page = await ended(by)
    assert page.answer.url.path == "/servers/slow"
    assert "Inspected slow: 10 capabilities" in page.text
    server = await show(guard, "slow")
    assert (server["inspection_stage"], server["inspecting"], server["inspected"]) == (None, None, True)


async def test_one_that_fails_leads_to_the_review_which_says_why(guard: World, tmp_path: Path) -> None:
    (tmp_path / "fails").touch()
    by, _ = await begun(guard, tmp_path)
    (tmp_path / "go").touch()
    page = await ended(by)
    assert page.answer.url.path == "/servers/slow"
    assert "slow was started but could not be inspected" in page.text
    assert ENDED in page.text
    assert "no licence" in page.text
    assert [record["kind"] for record in records(guard)] == ["inspected", "inspection_failed"]


async def test_a_second_one_is_refused_while_it_is_under_way(guard: World, tmp_path: Path) -> None:
    by, _ = await begun(guard, tmp_path)
    page = await by.open("/servers/slow")
    page = await by.send(page, "inspect", consent="yes")
    assert page.status == 422
    assert "Slow is being inspected already" in page.text
    assert len(records(guard)) == 1, "and nothing happened"
    (tmp_path / "go").touch()
    assert "Inspected slow" in (await ended(by)).text


async def test_whoever_may_only_look_sees_it_too_and_is_told_nothing_of_another_persons_inspection(
    guard: World, tmp_path: Path
) -> None:
    by, _ = await begun(guard, tmp_path)
    looks = await reviewer(guard, Role.VIEWER, "sam")
    assert UNDER_WAY in (await looks.open("/servers/slow/inspection")).text
    (tmp_path / "go").touch()
    with anyio.fail_after(PATIENCE):
        while UNDER_WAY in (page := await looks.follow("/servers/slow/inspection")).text:
            await checkpoint()
    assert page.answer.url.path == "/servers/slow"
    assert "Inspected slow" not in page.text
    assert "Inspected slow" in (await by.open("/servers/slow")).text


async def test_it_ends_with_the_guard_and_is_remembered_as_cut_off(tmp_path: Path) -> None:
    async with world(tmp_path) as guard:
        await begun(guard, tmp_path)
    async with world(tmp_path) as guard:
        server = await show(guard, "slow")
        assert (server["inspecting"], server["inspection_stage"]) == (None, None)
        assert server["failed_inspection"]["error"] == CUT_OFF
        assert [record["kind"] for record in records(guard)] == ["inspected", "inspection_failed"]
        assert guard.verified().whole


async def test_a_server_that_is_removed_meanwhile_ends_nothing_else(guard: World, tmp_path: Path) -> None:
    by, _ = await begun(guard, tmp_path)
    revision = (await show(guard, "slow"))["revision"]
    assert (await guard.operator.delete(f"{SERVERS}/slow", params={"revision": revision})).status_code == 204
    (tmp_path / "go").touch()
    with anyio.fail_after(PATIENCE):
        while "could not be inspected" not in (page := await by.open("/servers")).text:
            await checkpoint()
    assert "slow was started but could not be inspected" in page.text
    await add(guard, "notes")
    page = await by.inspected(await by.open("/servers/notes"), consent="yes")
    assert "Inspected notes: 10 capabilities" in page.text
