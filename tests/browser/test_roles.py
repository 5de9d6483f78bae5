"""What people of each role come to the console for, from the page where they begin to the one where they are done."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

import httpx2
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.desk import COOKIE, ours, signed_in, sitting, told
from tests.browser.fleet.seeding import SETTINGS, Seeding
from tests.browser.seen import Seen
from tests.patience import PATIENCE
from tests.people import PASSWORD
from tests.process import Served, serving, until

SOME = ("github", "stripe", "notion", "jira", "slack", "calendar", "sentry", "postgres-prod")
As = Callable[[str], AbstractContextManager[Seen]]


@pytest.fixture(scope="module")
def guard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("roles")
    with serving(folder / "data", environ=SETTINGS) as guard:
        signed_in(guard)
        seeding = Seeding(guard, folder)
        seeding.servers(SOME)
        seeding.people()
        seeding.callers()
        seeding.calls(60)
        seeding.decisions()
        until(lambda: told(guard, "GET", "/counts")["counted"]["behind"] == 0 or None, "the calls are counted")
        with seeding.held():
            yield guard


@pytest.fixture
def at_desk(browser: Browser, guard: Served) -> As:
    return partial(_at_desk, browser, guard)


@contextmanager
def _at_desk(browser: Browser, guard: Served, name: str) -> Iterator[Seen]:
    """Somebody who has signed in just now."""
    sent = {"name": name, "password": PASSWORD}
    answer = httpx2.post(f"{guard.url}/login", data=sent, headers=ours(guard), trust_env=False, timeout=PATIENCE)
    assert answer.status_code == 303, answer.text
    with sitting(browser, guard, str(answer.cookies[COOKIE])) as seen:
        yield seen
        assert seen.complaints == []


def done(seen: Seen) -> str:
    return seen.page.get_by_role("status").inner_text()


def test_an_auditor_goes_from_a_number_to_the_proof_of_one_call(at_desk: As, guard: Served) -> None:
    with at_desk("alan") as alan:
        page = alan.page
        page.goto(guard.url + "/overview")
        page.get_by_text("Show as table").first.click()
        ranked = page.get_by_role("region", name=re.compile("Servers")).get_by_role("link", name="github")
        with page.expect_navigation():
            ranked.first.click()
        page.goto(guard.url + "/audit?q=server%3Agithub+verdict%3Aallow")
        rows = page.locator("tr[data-entry]")
        with page.expect_navigation():
            rows.first.get_by_role("link").first.click()
        assert "/calls/" in page.url
        page.get_by_text(re.compile("Proof")).first.click()
        expect(page.get_by_text(re.compile("[0-9a-f]{64}")).first).to_be_visible()
        assert page.locator("form[method=post]:not([action='/logout'])").count() == 0, "an auditor decides nothing"


def test_an_auditor_reads_the_activity_of_a_server_and_why_calls_were_denied(at_desk: As, guard: Served) -> None:
    with at_desk("alan") as alan:
        page = alan.page
        page.goto(guard.url + "/servers?sort=-calls")
        expect(page.locator("th[aria-sort=descending]")).to_have_text(re.compile("Calls"))
        with page.expect_navigation():
            page.get_by_role("link", name="github", exact=True).first.click()
        alan.follow("Activity")
        assert page.get_by_role("heading", name="Last denials").is_visible()
        page.get_by_text("Show as table").first.click()
        assert page.get_by_role("table").first.get_by_role("row").count() > 1, "the chart is told in words, too"
        page.goto(guard.url + "/servers/github/edit")
        assert alan.heading == "Not permitted"
        alan.complaints.clear()  # the browser names the answer 403


def test_a_viewer_reads_everything_about_a_server_but_numbers_and_calls(at_desk: As, guard: Served) -> None:
    with at_desk("edsger") as edsger:
        page = edsger.page
        page.goto(guard.url + "/servers")
        assert page.get_by_role("columnheader", name="Calls 24 h").count() == 0
        edsger.follow("weather")
        assert page.get_by_role("heading", name="Read-only").is_visible()
        assert page.get_by_role("button", name=re.compile("Approve|Block")).count() == 0
        for path in ("/overview", "/audit", "/held"):
            page.goto(guard.url + path)
            assert edsger.heading == "Not permitted", path
        edsger.complaints.clear()


def test_an_approver_finds_a_tool_by_its_name_and_rejects_what_it_has_become(at_desk: As, guard: Served) -> None:
    with at_desk("grace") as grace:
        page = grace.page
        page.goto(guard.url + "/")
        page.keyboard.press("Control+k")
        page.keyboard.type("notion")
        with page.expect_navigation():
            page.locator("dialog[open] a", has_text="notion").first.click()
        page.goto(guard.url + "/servers/notion/changes")
        with page.expect_navigation():
            page.get_by_role("link", name=re.compile("list_page")).first.click()
        expect(page.get_by_role("region", name=re.compile("in the changed tool"))).to_contain_text("Keep blocked")
        grace.follow("Side by side")
        assert page.locator(".diff.sides").count() == 1
        page.get_by_label("Reason", exact=True).select_option("injection")
        grace.press("Keep blocked")
        assert "Kept notion:list_page blocked." in done(grace)
        page.goto(guard.url + "/servers/notion/decisions")
        expect(page.get_by_text("Prompt injection found").first).to_be_visible()


def test_an_approver_gives_a_server_a_folder_and_reviews_it_again(at_desk: As, guard: Served) -> None:
    with at_desk("grace") as grace:
        page = grace.page
        page.goto(guard.url + "/servers/slack/configuration")
        grace.follow("Edit")
        expect(page.get_by_text("back in quarantine")).to_be_visible()
        page.get_by_label("Environment").fill("MODE=${env:HOME}")
        grace.press("Save and quarantine")
        assert "slack is quarantined, because what runs has changed" in done(grace)
        grace.press("Inspect without sandbox")
        expect(page.get_by_role("status")).to_contain_text("Inspected slack")
        page.get_by_role("button", name="Select all clean").click()
        page.locator("#decide").get_by_label("Reason", exact=True).select_option("read")
        page.get_by_role("button", name=re.compile("^Approve selected")).click()
        expect(page.get_by_role("status")).to_contain_text("Approved slack")


def test_an_approver_restarts_a_server_and_quarantines_two_at_once(at_desk: As, guard: Served) -> None:
    with at_desk("grace") as grace:
        page = grace.page
        page.goto(guard.url + "/servers/github/configuration")
        restart = page.locator("form", has=page.get_by_role("heading", name="Restart"))
        restart.get_by_label("Reason").fill("it hangs")
        grace.press("Restart github")
        assert "Restarting github" in done(grace)
        page.goto(guard.url + "/servers")
        for name in ("stripe", "github"):
            page.get_by_label(f"Select {name}", exact=True).check()
        page.get_by_role("region", name=re.compile("Bulk")).get_by_placeholder(re.compile("Reason")).fill("moves house")
        grace.press("Quarantine")
        assert told(guard, "GET", "/servers/github")["standing"] == "quarantined"


def test_an_approver_answers_held_calls_with_what_is_known_of_them(at_desk: As, guard: Served) -> None:
    with at_desk("grace") as grace:
        page = grace.page
        page.goto(guard.url + "/held")
        destructive = page.locator("article, section, li", has_text="postgres-prod:delete_row").last
        expect(destructive.get_by_text(re.compile("High risk", re.IGNORECASE)).first).to_be_visible()
        destructive.get_by_label("Reason").select_option("no_ticket")
        destructive.get_by_role("button", name="Deny").click()
        expect(page.get_by_role("status")).to_contain_text("Denied")
        answered = next(each for each in told(guard, "GET", "/held")["held"] if each["state"] != "waiting")
        assert answered["state"] == "denied"
