"""Reviewing a server in a real browser: with scripts and without, too late, and in front of one that does its worst."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.desk import fill, set_up
from tests.browser.seen import Seen, faults, nothing_to_complain_about
from tests.process import ROOT, Served, run, serving


@pytest.fixture
def guard(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path / "data") as guard:
        yield guard


@pytest.fixture(params=[True, False], ids=["with scripts", "without"])
def either(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Seen]:
    viewport = {"width": 1280, "height": 800}
    with browser.new_context(java_script_enabled=request.param, viewport=viewport) as context:  # type: ignore[arg-type]
        seen = Seen(context.new_page())
        seen.watch()
        yield seen


@pytest.fixture
def narrow(browser: Browser) -> Iterator[Seen]:
    with browser.new_context(color_scheme="dark", viewport={"width": 320, "height": 800}) as context:
        seen = Seen(context.new_page())
        seen.watch()
        yield seen


def bring(seen: Seen, guard: Served, name: str, which: str) -> None:
    """A server is added and looked at, with nothing but what is on the pages."""
    page = seen.page
    page.goto(guard.url + "/servers/add")
    fill(seen, Name=name, Command=sys.executable, Arguments=f"-m\nmcpguard.demo\n{which}", Working_directory=str(ROOT))
    page.get_by_label("Sandbox").select_option("none")
    seen.press("Add server")
    assert seen.heading == name
    seen.press("Inspect without sandbox")
    expect(page.get_by_role("status")).to_contain_text(f"Inspected {name}")


def decide(seen: Seen, button: str, why: str) -> None:
    seen.page.locator("#decide").get_by_label("Note").fill(why)
    seen.press(button)


SLOW = """
import pathlib, sys, time
while not pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.01)
from mcpguard.demo.__main__ import main
main(["honest"], {})
"""


def test_a_slow_inspection_is_shown_at_once_and_the_page_leads_to_the_review_by_itself(
    either: Seen, guard: Served, tmp_path: Path
) -> None:
    set_up(either, guard)
    command = (sys.executable, "-c", SLOW, tmp_path / "go")
    run("server", "add", "slow", "--cwd", ROOT, "--sandbox", "none", "--data-dir", guard.data_dir, "--", *command)
    page = either.page
    page.goto(guard.url + "/servers/slow")
    either.press("Inspect without sandbox")
    expect(page.get_by_role("heading", name="Inspection in progress")).to_be_visible()
    expect(page.locator("[aria-current=step]")).to_have_text("Starting or contacting it …")
    if page.locator("[data-again-link]").is_hidden():  # without scripts the page is loaded again while axe looks
        assert faults(either) == []
    (tmp_path / "go").touch()
    expect(page.get_by_role("status")).to_contain_text("Inspected slow: 10 capabilities")
    assert page.url == guard.url + "/servers/slow"


def test_a_server_is_added_inspected_and_approved_in_part(either: Seen, guard: Served) -> None:
    set_up(either, guard)
    bring(either, guard, "notes", "honest")
    page = either.page
    assert not page.get_by_label("Select read_note").is_checked(), "nobody has chosen anything"
    if page.evaluate("typeof write") == "function":  # a script selects them without the server
        page.get_by_role("button", name="Select all clean").click()
    else:
        either.press("Select all clean")
    assert page.get_by_label("Select read_note").is_checked(), "nothing was found in it"
    page.get_by_label("Select delete_note").uncheck()
    page.get_by_label("Effect of write_note").select_option("destructive")
    decide(either, "Approve selected of 10", "read all of it")
    expect(page.get_by_role("status")).to_contain_text("Approved notes with 9 of 10 capabilities.")
    page.goto(guard.url + "/servers/notes/capabilities?standing=pending")
    assert page.get_by_role("link", name="delete_note").is_visible()
    assert page.get_by_role("link", name="read_note").count() == 0
    page.goto(guard.url + "/servers/notes/capability?kind=tool&name=write_note")
    assert page.locator("#decide").get_by_label("Effect").input_value() == "destructive"
    assert either.complaints == []


def test_whoever_is_too_late_keeps_what_they_typed(either: Seen, guard: Served) -> None:
    set_up(either, guard)
    bring(either, guard, "notes", "honest")
    page = either.page
    page.get_by_label("Select word_count").check()
    patch = '{"args": ["-m", "mcpguard.demo", "poisoned"]}'
    assert run("server", "patch", "notes", patch, "--data-dir", guard.data_dir).returncode == 0
    decide(either, "Approve selected of 10", "as I had read it")
    assert page.get_by_role("heading", name="Not saved: notes changed while you were reading").is_visible()
    assert page.locator("#decide").get_by_label("Note").input_value() == "as I had read it"
    assert page.get_by_text("how notes is launched or reached").is_visible()
    listed = run("server", "show", "notes", "-o", "json", "--data-dir", guard.data_dir)
    assert '"standing": "quarantined"' in listed.stdout


def test_a_hostile_server_is_read_and_left_in_quarantine_on_a_narrow_screen(narrow: Seen, guard: Served) -> None:
    set_up(narrow, guard)
    bring(narrow, guard, "weather", "poisoned")
    page = narrow.page
    for path in ("", "/capabilities", "/capability?kind=tool&name=moon_phase", "/configuration", "/decisions"):
        page.goto(f"{guard.url}/servers/weather{path}")
        nothing_to_complain_about(narrow, guard)
    page.goto(guard.url + "/servers/weather")
    assert not page.get_by_label("Select wind").is_checked()
    narrow.follow("Show the place of finding 1")
    assert page.url.endswith("#at-1")
    decide(narrow, "Keep in quarantine", "it wants things to be kept from people")
    expect(page.get_by_role("status")).to_contain_text("Kept weather in quarantine.")
    page.goto(guard.url + "/")
    assert page.get_by_text("All clear.").is_visible()
    nothing_to_complain_about(narrow, guard)
