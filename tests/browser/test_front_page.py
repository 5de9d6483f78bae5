"""The first page in a real browser, as a person sees it: in light and dark, on a desk and on a telephone."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.seen import LOOKS, Scheme, Seen, lightness, nothing_to_complain_about
from tests.process import Served, serving, until


@pytest.fixture(scope="module")
def speechless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A guard whose database was taken away, and that has noticed."""
    often = {"MCPGUARD_AUDIT__CHECKPOINT_SECONDS": "0.1", "MCPGUARD_AUDIT__PROBE_SECONDS": "0.1"}
    with serving(tmp_path_factory.mktemp("speechless") / "data", environ=often) as guard:
        (guard.data_dir / "mcpguard.db").unlink()
        until(lambda: guard.get("/readyz").status_code == 503, "it notices")
        yield guard


@LOOKS
def test_it_says_that_the_guard_runs(look: Seen, running: Served, scheme: Scheme, tmp_path: Path) -> None:
    answer = look.page.goto(running.url + "/")
    look.page.screenshot(path=tmp_path / "page.png", full_page=True)
    assert answer is not None
    assert answer.status == 200
    assert look.heading == "The guard is running"
    assert look.page.title() == "Running · mcpguard"
    assert look.page.get_by_role("alert").count() == 0
    assert (lightness(look) > 384) == (scheme == "light")
    nothing_to_complain_about(look, running, "/")


@LOOKS
def test_with_its_ledger_down_it_says_that_it_takes_no_calls(look: Seen, speechless: Served, tmp_path: Path) -> None:
    look.page.goto(speechless.url + "/")
    look.page.screenshot(path=tmp_path / "page.png", full_page=True)
    assert look.heading == "The guard takes no calls"
    assert look.page.title() == "Not taking calls · mcpguard"
    told = look.page.get_by_role("alert").inner_text()
    assert "ledger:unavailable since 20" in told
    assert "mcpguard status" in told
    assert str(speechless.data_dir) not in look.page.content()
    nothing_to_complain_about(look, speechless, "/")


@LOOKS
def test_a_page_that_does_not_exist_leads_back(look: Seen, running: Served, tmp_path: Path) -> None:
    answer = look.page.goto(running.url + "/nowhere")
    look.page.screenshot(path=tmp_path / "page.png", full_page=True)
    assert answer is not None
    assert answer.status == 404
    assert look.heading == "Not found"
    (complaint,) = look.complaints
    assert "404" in complaint, "that the page itself is one is the browser's only complaint"
    look.complaints.clear()
    nothing_to_complain_about(look, running, "/nowhere")
    look.page.get_by_role("link", name="Back to the start").click()
    assert look.heading == "The guard is running"
