"""`python -m tests.browser.showcase FOLDER`: pictures of every page of a guard that is in use, in light and dark."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.sync_api import Page, sync_playwright

from tests.browser.desk import signed_in, sitting
from tests.browser.fleet.seeding import SETTINGS, Seeding
from tests.browser.locate import locate
from tests.browser.seen import ARGUMENTS, Scheme
from tests.process import serving

CALLS: Final = 600
PAGES: Final = {
    "inbox": "/",
    "overview": "/overview",
    "held": "/held",
    "servers": "/servers",
    "server-add": "/servers/add",
    "scripts": "/scripts",
    "script-edit": "/scripts/edit?name=stale-issues",
    "script": "/servers/scripts/capability?kind=tool&name=stale-issues",
    "review": "/servers/weather",
    "review-clean": "/servers/stripe",
    "server-activity": "/servers/github/activity",
    "server-approved": "/servers/github",
    "server-capabilities": "/servers/github/capabilities",
    "server-changes": "/servers/notion/changes",
    "server-configuration": "/servers/github/configuration",
    "server-edit": "/servers/github/edit",
    "server-decisions": "/servers/jira/decisions",
    "capability": "/servers/weather/capability?kind=tool&name=forecast",
    "capability-changed": "/servers/notion/capability?kind=tool&name=list_page",
    "capability-learned": "/servers/github/capability?kind=tool&name=search_issue",
    "findings": "/findings",
    "audit": "/audit",
    "audit-filtered": "/audit?q=verdict%3Adeny",
    "audit-searched": "/audit?q=ticket+sever%3Agithub+since%3A1h",
    "record": "/audit/40",
    "export": "/audit/export",
    "callers": "/callers",
    "policy": "/policy",
    "search": "/search?q=serch+open+issues+zorb&caller=*",
    "search-learned": "/search?q=kestrel+issues&caller=*",
    "search-empty": "/search",
    "settings": "/settings",
    "users": "/settings/users",
    "sessions": "/settings/sessions",
    "tokens": "/settings/tokens",
    "me": "/settings/me",
    "help": "/help",
    "help-reviewing": "/help/reviewing",
    "help-findings": "/help/findings",
    "help-console": "/help/console",
    "found": "/find?q=held",
}
DOCUMENTED: Final = (
    *("inbox", "held", "servers", "review", "capability-changed", "audit", "record", "policy", "search"),
)
"""Pages whose upper part stands in the documents."""
LOOKS: Final[tuple[tuple[Scheme, int], ...]] = (("light", 1280), ("dark", 1280), ("light", 320))


def call_pages(page: Page, url: str) -> dict[str, str]:
    """Pages of calls that went differently, by what became of them."""
    page.goto(f"{url}/audit")
    rows = page.locator("tr[data-entry]")
    found = {}
    for went in ("Sent", "Denied", "Held"):
        link = rows.filter(has_text=went).first.get_by_role("link")
        found[f"call-{went.lower()}"] = link.get_attribute("href") or ""
    return found


def main(folder: Path) -> None:
    """Fill a guard, and take them."""
    (folder / "documents").mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as scratch, serving(Path(scratch) / "data", environ=SETTINGS) as guard:
        shown = signed_in(guard)
        seeding = Seeding(guard, Path(scratch))
        seeding.servers()
        seeding.scripts()
        seeding.people()
        seeding.callers()
        seeding.calls(CALLS)
        seeding.searches()
        seeding.decisions()
        seeding.answers()
        with seeding.held(), sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=locate(), args=ARGUMENTS)
            for scheme, width in LOOKS:
                with sitting(browser, guard, shown, scheme, width) as seen:
                    for name, path in (PAGES | call_pages(seen.page, guard.url)).items():
                        seen.page.goto(guard.url + path)
                        _take_whole(seen.page, folder / f"{name}-{scheme}-{width}.png")
                        if name in DOCUMENTED and (scheme, width) == LOOKS[0]:
                            seen.page.screenshot(path=folder / "documents" / f"{name}.png")
            browser.close()


def _take_whole(page: Page, file: Path) -> None:
    """Take a picture of a whole page, in a window as high as the page, so that what sticks to an end is at that end."""
    window = page.viewport_size
    if window is None:
        raise ValueError("the window has no size of its own")
    height = page.evaluate("document.documentElement.scrollHeight")
    page.set_viewport_size({"width": window["width"], "height": max(window["height"], int(height))})
    page.screenshot(path=file)
    page.set_viewport_size(window)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
