"""A page as a browser shows it, and everything that the browser complained about."""

from dataclasses import dataclass, field
from functools import cache
from typing import Literal

import pytest
from playwright.sync_api import Page, Request

from tests.conformance import tools
from tests.process import Served

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
LEFT = "net::ERR_ABORTED"
"""What a browser says of a request that nobody waits for any more, as when its page was left."""
WATCH_POLICY = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
"""
AXE = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
"""Every rule that a program can decide, and its makers' advice."""
JUDGED = """
async (options) => (await axe.run(document, options)).violations.map((each) =>
    `${each.id}: ${each.help}: ${each.nodes.map((node) => node.target.join(" ")).slice(0, 5).join(", ")}`)
"""


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
        self.page.on("requestfailed", self._failed)
        self.page.on("request", lambda request: self.asked.add(request.url))

    def _failed(self, request: Request) -> None:
        if request.failure != LEFT:
            self.complaints.append(f"failed: {request.url}: {request.failure}")

    def press(self, button: str) -> None:
        """A button that leads to a page; that page is whole when this returns."""
        with self.page.expect_navigation():
            self.page.get_by_role("button", name=button, exact=True).click()

    def follow(self, link: str) -> None:
        """A link, likewise."""
        with self.page.expect_navigation():
            self.page.get_by_role("link", name=link, exact=True).click()

    @property
    def heading(self) -> str:
        return self.page.get_by_role("heading", level=1).inner_text()


def nothing_to_complain_about(seen: Seen, guard: Served) -> None:
    """No complaint, nothing from anywhere else, nothing to scroll to the side, and nothing that axe finds."""
    assert seen.complaints == []
    assert seen.page.evaluate("window.violations") == []
    assert [each for each in seen.asked if not each.startswith(guard.url + "/")] == [], "and nothing from anywhere else"
    wide, fits = seen.page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert wide <= fits, f"{seen.page.url}: nothing to scroll to the side"
    found = faults(seen)
    assert found == [], f"{seen.page.url}: {found}"


def faults(seen: Seen) -> list[str]:
    """What axe finds wrong with the page as it is."""
    # At its end, where what sticks to the end of a window covers nothing.
    seen.page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    seen.page.evaluate(axe())
    found: list[str] = seen.page.evaluate(JUDGED, AXE)
    return found


@cache
def axe() -> str:
    return (tools.installed() / "node_modules" / "axe-core" / "axe.min.js").read_text()


def lightness(seen: Seen) -> int:
    paper: str = seen.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    return sum(int(part) for part in paper.strip("rgb()").split(","))
