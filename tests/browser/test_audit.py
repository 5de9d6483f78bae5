"""The audit log in a real browser: filtered, followed and paused while calls come, and proven; with no word of
complaint from the browser."""

import re
import threading
from collections.abc import Iterator
from urllib.parse import unquote_plus

import anyio
import httpx2
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.desk import set_up
from tests.browser.seen import Seen
from tests.patience import PATIENCE
from tests.process import Served, run, serving
from tests.simulators.http_client import HttpClient

FILE = "/audit/export/file?q=kind%3Astarted&format=jsonl&after="
HOSTILE = "notes::<script>document.title='owned'</script>\u202egnp.exe"


@pytest.fixture(scope="module")
def guard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """In front of a server that waits in quarantine."""
    with serving(tmp_path_factory.mktemp("audited") / "data") as guard:
        added = run("server", "add", "notes", "--data-dir", guard.data_dir, "--", "/bin/cat")
        assert added.returncode == 0, added.stderr
        yield guard


@pytest.fixture(scope="module")
def ada(browser: Browser, guard: Served) -> Iterator[list[dict[str, object]]]:
    """What the browser of the first admin keeps."""
    with browser.new_context() as context:
        seen = Seen(context.new_page())
        set_up(seen, guard)
        yield context.cookies()  # type: ignore[misc]


@pytest.fixture
def seen(browser: Browser, guard: Served, ada: list[dict[str, object]]) -> Iterator[Seen]:
    with browser.new_context(viewport={"width": 1280, "height": 800}) as context:
        context.add_cookies(ada)  # type: ignore[arg-type]
        seen = Seen(context.new_page())
        seen.watch()
        yield seen
        assert seen.complaints == []
        assert seen.page.evaluate("window.violations") == []
        assert all(each.startswith(guard.url + "/") for each in seen.asked)


def called(guard: Served, name: str) -> None:
    """An agent calls something of that server: a call that is refused, and recorded."""

    async def call() -> None:
        async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE) as http:
            client = HttpClient(http, guard.url + "/mcp/all", modern=False)
            await client.initialize()
            await client.call(name, {})

    thread = threading.Thread(target=anyio.run, args=(call,))
    thread.start()
    thread.join()


LOST = """
() => {
    document.dispatchEvent(new CustomEvent("guard:lost"));
    return document.querySelector("[data-tail-state]").textContent;
}
"""
"""What the page says in the moment in which its stream is lost; the next event takes that back."""


def top(page: Page) -> int:
    return int(page.locator("tr[data-seq]").first.get_attribute("data-seq") or 0)


def test_rows_come_while_somebody_follows_and_wait_while_it_is_paused(seen: Seen, guard: Served) -> None:
    page = seen.page
    page.goto(guard.url + "/audit")
    expect(page.locator("[data-tail-state]")).to_have_text("Live")
    before = top(page)
    called(guard, HOSTILE)
    expect(page.locator("tr[data-seq]").first).not_to_have_attribute("data-seq", str(before))
    expect(page.locator("[data-rows]")).to_contain_text("<script>document.title")
    assert page.title() == "Audit log · mcpguard"
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("[data-tail-state]")).to_contain_text("Paused at")
    standing = top(page)
    called(guard, "notes::another")
    show = page.locator("[data-tail-show]")
    expect(show).to_contain_text("new")
    assert top(page) == standing, "rows do not move while it is paused"
    show.click()
    expect(page.locator("[data-rows]")).to_contain_text("another")
    assert top(page) > standing
    expect(show).to_be_hidden()
    page.get_by_role("button", name="Resume").click()
    page.locator("tr[data-seq] a").first.focus()
    standing = top(page)
    called(guard, "notes::third")
    expect(show).to_contain_text("new")
    assert top(page) == standing, "nor while somebody reads one"
    assert str(page.evaluate(LOST)).startswith("Disconnected at")
    called(guard, "notes::fourth")
    expect(page.locator("[data-tail-state]")).to_have_text("Live")


def test_a_query_is_the_address_and_a_record_has_its_proof(seen: Seen, guard: Served) -> None:
    called(guard, "notes::read")
    page = seen.page
    page.goto(guard.url + "/audit")
    page.get_by_text("Keys", exact=True).click()
    page.get_by_role("link", name="kind:", exact=True).click()
    field = page.get_by_label("Query")
    expect(field).to_be_focused()
    expect(field).to_have_value("kind:")
    page.keyboard.type("started")
    page.keyboard.press("Enter")
    page.wait_for_url("**/audit?q=kind%3Astarted")
    expect(page.locator("tr[data-seq]")).to_have_count(1)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/audit/1")
    assert seen.heading == "Record 1"
    expect(page.get_by_text("Hash verified.")).to_be_visible()


def test_a_row_leads_to_its_call_and_that_to_its_records(seen: Seen, guard: Served) -> None:
    called(guard, "notes::walk")
    page = seen.page
    page.goto(guard.url + "/audit?q=walk")
    expect(page.locator("tr[data-seq]")).to_have_count(1)
    page.locator("tr[data-seq]").click(position={"x": 5, "y": 5})
    page.wait_for_url("**/calls/*")
    assert seen.heading == "notes:walk"
    expect(page.get_by_text("Not sent: ")).to_be_visible()
    page.get_by_text("Proof: 2 records").click()
    expect(page.get_by_text("verified", exact=True)).to_have_count(2)
    with page.expect_navigation():
        page.locator(".crumbs").get_by_role("link", name="Audit log").click()
    assert page.url.endswith("/audit")


def test_dragging_over_bars_zooms_into_their_span(seen: Seen, guard: Served) -> None:
    called(guard, "notes::drag")
    page = seen.page
    page.goto(guard.url + "/audit?q=since:1h")
    bars = page.locator("svg[data-zoom] a")
    first, last = (bars.nth(place) for place in (-3, -1))
    begin, end = first.locator(".log-hit").bounding_box(), last.locator(".log-hit").bounding_box()
    assert begin is not None
    assert end is not None
    since, until = (unquote_plus(each.get_attribute("href") or "") for each in (first, last))
    page.mouse.move(end["x"] + end["width"] / 2, end["y"] + 20)
    page.mouse.down()
    page.mouse.move(begin["x"] + begin["width"] / 2, begin["y"] + 30, steps=5)
    expect(page.locator("svg[data-zoom] a.dragged")).to_have_count(3)
    page.mouse.up()
    page.wait_for_url("**/audit?q=since*until*")
    asked = unquote_plus(page.url)
    assert re.findall(r"since:\S+", asked) == re.findall(r"since:\S+", since)
    assert re.findall(r"until:\S+", asked) == re.findall(r"until:\S+", until)
    expect(page.locator("tr[data-seq]").first).to_be_visible()
    seen.follow("Zoom out")
    page.locator("svg[data-zoom] a").last.click()
    page.wait_for_url("**/audit?q=since*until*")


def test_the_whole_log_is_verified_from_the_page(seen: Seen, guard: Served) -> None:
    page = seen.page
    page.goto(guard.url + "/audit")
    seen.press("Verify now")
    assert page.url.endswith("/audit/verify")
    expect(page.get_by_text("Integrity OK", exact=True)).to_be_visible()
    page.goto(guard.url + "/audit")
    expect(page.get_by_text("Integrity OK: verified up to")).to_be_visible()


def test_an_export_is_a_file_to_take_away(seen: Seen, guard: Served) -> None:
    page = seen.page
    page.goto(guard.url + "/audit?q=kind:started")
    seen.follow("Export…")
    with page.expect_download() as taken:
        page.get_by_role("button", name="Export").click()
    assert taken.value.suggested_filename.endswith(".jsonl")
    assert b'"kind":"started"' in taken.value.path().read_bytes()
