"""A held call in a real browser: it is there within a moment of coming, and is answered on the page."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.desk import signed_in, sitting, told
from tests.browser.fleet.seeding import SETTINGS, Seeding
from tests.process import Served, serving, until


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str, Seeding]]:
    folder = tmp_path_factory.mktemp("held")
    with serving(folder / "data", environ=SETTINGS) as guard:
        shown = signed_in(guard)
        seeding = Seeding(guard, folder)
        seeding.servers(("postgres-prod", "slack"))
        seeding.callers()
        yield guard, shown, seeding


def test_a_call_comes_while_somebody_looks_and_is_allowed(
    browser: Browser, seeded: tuple[Served, str, Seeding]
) -> None:
    guard, shown, seeding = seeded
    with sitting(browser, guard, shown) as seen:
        page = seen.page
        page.goto(guard.url + "/held")
        expect(page.get_by_text("No held calls.")).to_be_visible()
        with seeding.held():
            expect(page.locator("[data-count=held]")).to_have_text("2")
            page.get_by_role("link", name="Show 2 new").click()
            card = page.get_by_role("article", name="delete_row on postgres-prod")
            expect(card.locator(".well").first).to_contain_text('{"about": "number')
            expect(card.locator(".risk")).to_contain_text("destructive · not allowed in the last 90 days")
            expect(card.locator("progress")).to_be_visible()
            card.get_by_label("Reason").select_option("Checked with the owner")
            card.get_by_label("Note").fill("It is the right tenant.")
            card.get_by_role("button", name="Allow once").click()
            expect(page.get_by_role("status")).to_contain_text("Allowed postgres-prod:delete_row")
            until(lambda: executed(guard) or None, "it is made")
        assert seen.page.evaluate("window.violations") == []


def executed(guard: Served) -> bool:
    records = told(guard, "GET", "/records?q=tool:postgres-prod:delete_row&limit=100")["records"]
    return any(each["content"].get("outcome") == "answered" for each in records)


def test_without_a_script_it_is_denied_and_the_reason_is_told(
    browser: Browser, seeded: tuple[Served, str, Seeding]
) -> None:
    guard, shown, seeding = seeded
    with seeding.held(), sitting(browser, guard, shown, script=False) as seen:
        page = seen.page
        page.goto(guard.url + "/")
        seen.follow("Review slack:create_message")
        page.get_by_label("Reason").select_option("Other, see note")
        page.get_by_label("Note").fill("Not before the tests are green.")
        seen.press("Deny")
        assert "Denied slack:create_message for nightly-report" in page.get_by_role("status").inner_text()
        assert "Not before the tests are green." in page.inner_text("main")
