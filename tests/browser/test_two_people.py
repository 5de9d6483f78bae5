"""Two people at two browsers, each with a session of their own, before the same held calls."""

from collections.abc import Iterator

import httpx2
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.desk import COOKIE, ours, signed_in, sitting, told
from tests.browser.fleet.seeding import SETTINGS, Seeding
from tests.browser.seen import Seen
from tests.patience import PATIENCE
from tests.people import PASSWORD
from tests.process import Served, serving, until


@pytest.fixture
def desks(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Seen, Seen]]:
    """A guard with two held calls, and the pages of ada and grace."""
    folder = tmp_path_factory.mktemp("two")
    with serving(folder / "data", environ=SETTINGS) as guard:
        ada = signed_in(guard)
        seeding = Seeding(guard, folder)
        seeding.servers(("postgres-prod", "slack"))
        seeding.people()
        seeding.callers()
        sent = {"name": "grace", "password": PASSWORD}
        answer = httpx2.post(f"{guard.url}/login", data=sent, headers=ours(guard), trust_env=False, timeout=PATIENCE)
        grace = str(answer.cookies[COOKIE])
        with (
            seeding.held(),
            sitting(browser, guard, ada) as at_first,
            sitting(browser, guard, grace) as at_second,
        ):
            yield guard, at_first, at_second


def test_one_answers_while_the_other_looks_and_both_pages_are_right(desks: tuple[Served, Seen, Seen]) -> None:
    guard, ada, grace = desks
    for seen in (ada, grace):
        seen.page.goto(guard.url + "/held")
        expect(seen.page.locator("[data-count=held]")).to_have_text("2")
    mine = ada.page.get_by_role("article", name="delete_row on postgres-prod")
    mine.get_by_label("Note").fill("I am still reading.")
    other = ada.page.get_by_role("article", name="create_message on slack")
    other.get_by_label("Note").fill("So is this.")
    theirs = grace.page.get_by_role("article", name="delete_row on postgres-prod")
    theirs.get_by_label("Reason").select_option("Checked with the owner")
    theirs.get_by_role("button", name="Allow once").click()
    expect(grace.page.get_by_role("status")).to_contain_text("Allowed postgres-prod:delete_row")
    expect(grace.page.locator("[data-count=held]")).to_have_text("1")
    expect(grace.page.get_by_role("article")).to_have_count(1)

    expect(ada.page.locator("[data-count=held]")).to_have_text("1")
    expect(mine.get_by_role("status")).to_contain_text("allowed once by grace")
    expect(mine.get_by_role("button", name="Deny")).to_have_count(0)
    assert other.get_by_label("Note").input_value() == "So is this.", "what she writes about another stays"
    assert ada.complaints == grace.complaints == []
    mine.get_by_role("link", name="Show records").click()
    expect(ada.page.get_by_role("heading", level=1)).to_contain_text("delete_row")
    until(lambda: _outcome(guard) == "answered" or None, "it is made once")


def _outcome(guard: Served) -> str:
    records = told(guard, "GET", "/records?q=tool:postgres-prod:delete_row&limit=100")["records"]
    (ended,) = (each["content"]["outcome"] for each in records if "outcome" in each["content"])
    return str(ended)
