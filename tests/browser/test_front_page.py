"""The first pages in a real browser, as a person sees them: in light and dark, on a desk and on a telephone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.desk import signed_in, sitting
from tests.browser.seen import LOOKS, Scheme, Seen, lightness, nothing_to_complain_about
from tests.process import Served, serving, until


@pytest.fixture(scope="module")
def speechless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    """A guard whose database was taken away, and that has noticed; and somebody who had signed in before."""
    often = {"MCPGUARD_AUDIT__CHECKPOINT_SECONDS": "0.1", "MCPGUARD_AUDIT__PROBE_SECONDS": "0.1"}
    with serving(tmp_path_factory.mktemp("speechless") / "data", environ=often) as guard:
        shown = signed_in(guard)
        (guard.data_dir / "mcpguard.db").unlink()
        until(lambda: guard.get("/readyz").status_code == 503, "it notices")
        yield guard, shown


@LOOKS
def test_before_anybody_was_let_in_it_says_how(look: Seen, running: Served, scheme: Scheme) -> None:
    answer = look.page.goto(running.url + "/")
    assert answer is not None
    assert (answer.status, look.page.url) == (200, running.url + "/login")
    assert look.heading == "No users yet"
    assert look.page.get_by_role("alert").count() == 0
    assert (lightness(look) > 384) == (scheme == "light")
    nothing_to_complain_about(look, running)


@LOOKS
def test_with_its_ledger_down_it_says_that_it_takes_no_calls(
    browser: Browser, speechless: tuple[Served, str], scheme: Scheme, width: int, tmp_path: Path
) -> None:
    guard, shown = speechless
    with sitting(browser, guard, shown, scheme, width) as seen:
        seen.page.goto(guard.url + "/")
        seen.page.screenshot(path=tmp_path / "page.png", full_page=True)
        assert "Calls are blocked" in seen.page.get_by_role("alert").inner_text()
        assert "mcpguard status" in seen.page.get_by_role("alert").inner_text()
        assert str(guard.data_dir) not in seen.page.content()
        nothing_to_complain_about(seen, guard)


@LOOKS
def test_a_page_that_does_not_exist_leads_back(look: Seen, running: Served) -> None:
    answer = look.page.goto(running.url + "/nowhere")
    assert answer is not None
    assert answer.status == 404
    assert look.heading == "Not found"
    (complaint,) = look.complaints
    assert "404" in complaint, "that the page itself is one is the browser's only complaint"
    look.complaints.clear()
    nothing_to_complain_about(look, running)
    look.follow("Back to the start page")
    assert look.heading == "No users yet"
