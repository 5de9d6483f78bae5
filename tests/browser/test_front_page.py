"""The first page in a real browser, as a person sees it: in light and dark, on a desk and on a telephone."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.locate import locate
from tests.process import Served, serving, until

ARGUMENTS = [
    "--no-sandbox",  # the tests may run as root, and the page is ours
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
Scheme = Literal["light", "dark"]
LOOKS = pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 320), ("dark", 320)])
WATCH_POLICY = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
"""
CONTRASTS = """
() => {
  const linear = (part) => part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4;
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map((part) => linear(part / 255));
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const paper = light(getComputedStyle(document.documentElement).backgroundColor);
  return [...document.querySelectorAll("body *")].filter((each) => each.textContent.trim()).map((each) => {
    const ink = light(getComputedStyle(each).color);
    return [each.tagName, (Math.max(ink, paper) + .05) / (Math.min(ink, paper) + .05)];
  });
}
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = locate()
    if found is None:
        pytest.fail("there is no Chromium; `python -m tests.browser.locate` says how to get one")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("running") / "data") as guard:
        yield guard


@pytest.fixture(scope="module")
def speechless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A guard whose database was taken away, and that has noticed."""
    often = {"MCPGUARD_AUDIT__CHECKPOINT_SECONDS": "0.1", "MCPGUARD_AUDIT__PROBE_SECONDS": "0.1"}
    with serving(tmp_path_factory.mktemp("speechless") / "data", environ=often) as guard:
        (guard.data_dir / "mcpguard.db").unlink()
        until(lambda: guard.get("/readyz").status_code == 503, "it notices")
        yield guard


@dataclass
class Seen:
    """A page that was opened, and everything in it that a browser complained about."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)

    def watch(self) -> None:
        self.page.add_init_script(WATCH_POLICY)
        self.page.on("console", lambda said: self.complaints.append(f"{said.type}: {said.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("requestfailed", lambda request: self.complaints.append(f"failed: {request.url}"))
        self.page.on("request", lambda request: self.asked.add(request.url))

    @property
    def heading(self) -> str:
        return self.page.get_by_role("heading", level=1).inner_text()


@pytest.fixture
def look(browser: Browser, scheme: Scheme, width: int) -> Iterator[Seen]:
    with browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800}) as context:
        seen = Seen(context.new_page())
        seen.watch()
        yield seen


def nothing_to_complain_about(seen: Seen, guard: Served, path: str) -> None:
    assert seen.complaints == []
    assert seen.page.evaluate("window.violations") == []
    assert seen.asked == {f"{guard.url}{path}", f"{guard.url}/static/guard.css"}, "and nothing from anywhere else"
    wide, fits = seen.page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert wide <= fits, "nothing to scroll to the side"
    faint = [(tag, ratio) for tag, ratio in seen.page.evaluate(CONTRASTS) if ratio < 4.5]
    assert not faint, "WCAG 2.2 AA, 1.4.3"


def lightness(seen: Seen) -> int:
    paper: str = seen.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    return sum(int(part) for part in paper.strip("rgb()").split(","))


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
