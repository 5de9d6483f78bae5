"""Help where somebody decides: the link in the rail, the rule of a finding, the palette, and a telephone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.desk import signed_in, sitting
from tests.browser.fleet.seeding import SETTINGS, Seeding
from tests.browser.seen import nothing_to_complain_about
from tests.process import Served, serving


@pytest.fixture(scope="module")
def poisoned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    """A guard with a poisoned server that waits for a review, and what the browser of the first admin shows."""
    folder = tmp_path_factory.mktemp("poisoned")
    with serving(folder / "data", environ=SETTINGS) as guard:
        shown = signed_in(guard)
        Seeding(guard, folder).servers(())
        yield guard, shown


def test_help_leads_from_a_review_to_what_it_says_about_reviews(browser: Browser, poisoned: tuple[Served, str]) -> None:
    guard, shown = poisoned
    with sitting(browser, guard, shown) as seen:
        seen.page.goto(guard.url + "/servers/weather")
        seen.follow("Help")
        assert seen.heading == "Reviewing"
        expect(seen.page.get_by_role("heading", name="A new server")).to_be_in_viewport()
        seen.page.get_by_role("navigation", name="On this page").get_by_role("link", name="A held call").click()
        expect(seen.page.get_by_role("heading", name="A held call")).to_be_in_viewport()
        nothing_to_complain_about(seen, guard)


def test_a_rule_leads_to_its_row(browser: Browser, poisoned: tuple[Served, str]) -> None:
    guard, shown = poisoned
    with sitting(browser, guard, shown) as seen:
        seen.page.goto(guard.url + "/servers/weather")
        rule = seen.page.locator(".places a[href^='/help/findings#']").first
        name = rule.inner_text()
        with seen.page.expect_navigation():
            rule.click()
        row = seen.page.locator("tr:target")
        expect(row).to_be_in_viewport()
        expect(row.locator("code").first).to_have_text(name)


def test_the_palette_finds_headings(browser: Browser, poisoned: tuple[Served, str]) -> None:
    guard, shown = poisoned
    with sitting(browser, guard, shown) as seen:
        seen.page.goto(guard.url)
        seen.page.keyboard.press("Control+k")
        seen.page.keyboard.type("does not see")
        found = seen.page.locator("#palette").get_by_role("link", name="What inspection looks for")
        expect(found).to_be_visible()
        with seen.page.expect_navigation():
            found.click()
        assert seen.page.url == f"{guard.url}/help/detection#what-it-does-not-see"


def test_on_a_telephone_a_wide_table_scrolls_within_itself(browser: Browser, poisoned: tuple[Served, str]) -> None:
    guard, shown = poisoned
    with sitting(browser, guard, shown, width=390) as seen:
        seen.page.goto(guard.url + "/help/findings")
        nothing_to_complain_about(seen, guard)
        wider = "(all) => all.filter((one) => one.scrollWidth > one.clientWidth).length"
        assert seen.page.locator(".scrolls").evaluate_all(wider) > 0
        expect(seen.page.get_by_role("navigation", name="On this page")).to_be_hidden()
        seen.page.get_by_text("On this page", exact=True).click()
        expect(seen.page.get_by_role("navigation", name="On this page")).to_be_visible()
