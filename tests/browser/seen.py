"""A page as a browser shows it, and everything that the browser complained about."""

from dataclasses import dataclass, field
from typing import Literal

import pytest
from playwright.sync_api import Page

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
  const behind = (each) => {
    while (each !== document.documentElement && getComputedStyle(each).backgroundColor === "rgba(0, 0, 0, 0)")
      each = each.parentElement;
    return light(getComputedStyle(each).backgroundColor);
  };
  return [...document.querySelectorAll("body *")].filter((each) => each.textContent.trim()).map((each) => {
    const ink = light(getComputedStyle(each).color), paper = behind(each);
    return [each.tagName, (Math.max(ink, paper) + .05) / (Math.min(ink, paper) + .05)];
  });
}
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
        self.page.on("requestfailed", lambda request: self.complaints.append(f"failed: {request.url}"))
        self.page.on("request", lambda request: self.asked.add(request.url))

    @property
    def heading(self) -> str:
        return self.page.get_by_role("heading", level=1).inner_text()


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
