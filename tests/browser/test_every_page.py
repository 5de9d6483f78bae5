"""Every page of a guard that is in use, in light and dark, on a desk and on a telephone: whole, inert, and nothing that
axe finds or a browser complains about."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.desk import signed_in, sitting
from tests.browser.fleet.seeding import SETTINGS, Seeding
from tests.browser.seen import LOOKS, Scheme, nothing_to_complain_about
from tests.browser.showcase import PAGES, call_pages
from tests.process import Served, serving

SOME = ("github", "stripe", "notion", "jira", "sentry", "postgres-prod", "slack", "calendar")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    """And what the browser of the first admin shows."""
    folder = tmp_path_factory.mktemp("filled")
    with serving(folder / "data", environ=SETTINGS) as guard:
        shown = signed_in(guard)
        seeding = Seeding(guard, folder)
        seeding.servers(SOME)
        seeding.scripts()
        seeding.people()
        seeding.callers()
        seeding.calls(30)
        seeding.searches()
        seeding.decisions()
        seeding.answers()
        with seeding.held():
            yield guard, shown


@LOOKS
def test_there_is_nothing_to_complain_about(
    browser: Browser, filled: tuple[Served, str], scheme: Scheme, width: int
) -> None:
    guard, shown = filled
    with sitting(browser, guard, shown, scheme, width) as seen:
        for path in (PAGES | call_pages(seen.page, guard.url)).values():
            answer = seen.page.goto(guard.url + path)
            assert answer is not None
            assert answer.status == 200, path
            assert seen.page.get_by_role("heading", level=1).count() == 1, path
            nothing_to_complain_about(seen, guard)


def test_without_a_script_every_page_is_there(browser: Browser, filled: tuple[Served, str]) -> None:
    guard, shown = filled
    with sitting(browser, guard, shown, script=False) as seen:
        for path in PAGES.values():
            answer = seen.page.goto(guard.url + path)
            assert answer is not None
            assert answer.status == 200, path
            assert seen.page.get_by_role("navigation", name="Main").get_by_role("link").count() == 10, path


def test_keys_go_through_rows_and_to_the_filter(browser: Browser, filled: tuple[Served, str]) -> None:
    guard, shown = filled
    with sitting(browser, guard, shown) as seen:
        page = seen.page
        page.goto(guard.url + "/servers")
        rows = page.locator("[data-row]")
        page.keyboard.press("j")
        assert rows.nth(0).evaluate("(row) => row.contains(document.activeElement)")
        page.keyboard.press("Escape")
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.matches('[data-filter]')")
        page.keyboard.type("jk/")
        assert page.locator("[data-filter]").input_value() == "jk/", "in a field they are letters"
        page.keyboard.press("Escape")
        assert page.evaluate("document.activeElement === document.body")
        page.goto(guard.url + "/settings")
        page.get_by_label("Shortcuts").uncheck()
        seen.press("Save")
        page.goto(guard.url + "/servers")
        page.keyboard.press("j")
        assert not rows.nth(0).evaluate("(row) => row.contains(document.activeElement)"), "they were switched off"
