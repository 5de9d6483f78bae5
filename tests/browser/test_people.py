"""Callers, people and one's own account in a real browser that runs no script of any page."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser

from tests.browser.desk import fill, link, problem
from tests.browser.seen import Seen
from tests.patience import PATIENCE
from tests.people import PASSWORD
from tests.process import Served, serving

OTHER = "nine green hedgehogs"
THIRD = "seven yellow snails"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}},
}


@pytest.fixture(scope="module")
def guard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("people") / "data") as guard:
        yield guard


@pytest.fixture(scope="module")
def ada(browser: Browser, guard: Served) -> Iterator[Seen]:
    """The first admin, who stays signed in."""
    with browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 800}) as context:
        seen = Seen(context.new_page())
        seen.watch()
        seen.page.goto(link(guard))
        fill(seen, Name="ada", Password=PASSWORD, Repeat_password=PASSWORD)
        seen.press("Create admin")
        yield seen


def is_sound(seen: Seen) -> bool:
    """Every field has its label and is large enough to be hit, or its label is; an id is there once; nothing scrolls
    to the side (WCAG 2.2 AA, 1.3.1, 1.4.10 and 2.5.8)."""
    return bool(
        seen.page.evaluate("""() => {
            const shown = [...document.querySelectorAll("input, textarea, select, button, nav a")].filter(
                (each) => each.getBoundingClientRect().height > 0);
            const high = (each) => Math.max(each.getBoundingClientRect().height,
                ...[...(each.labels || [])].map((label) => label.parentElement.getBoundingClientRect().height));
            const ids = [...document.querySelectorAll("[id]")].map((each) => each.id);
            return shown.length > 0
                && shown.every((each) => high(each) >= 24 && (each.matches("button, a") || each.labels.length === 1))
                && document.querySelectorAll("h1").length === 1
                && new Set(ids).size === ids.length
                && [...document.querySelectorAll("[aria-describedby]")].every((each) =>
                    each.getAttribute("aria-describedby").split(" ").every((id) => ids.includes(id)))
                && document.documentElement.scrollWidth <= document.documentElement.clientWidth;
        }""")
    )


def told(seen: Seen) -> str:
    return seen.page.get_by_role("status").inner_text()


def hello(guard: Served, token: str) -> int:
    """What an agent is answered that shows this token."""
    headers = {"authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"}
    return httpx2.post(f"{guard.url}/mcp", json=HELLO, headers=headers, trust_env=False, timeout=PATIENCE).status_code


def sign_in(seen: Seen, guard: Served, name: str, password: str) -> None:
    seen.page.goto(guard.url + "/login")
    fill(seen, Name=name, Password=password)
    seen.press("Sign in")


def test_a_caller_is_let_in_uses_its_token_and_is_revoked(ada: Seen, guard: Served) -> None:
    page = ada.page
    page.goto(guard.url + "/callers")
    ada.follow("Create token")
    assert is_sound(ada)
    fill(ada, Name="Desk", Reason="for the build")
    page.get_by_label("Name", exact=True).evaluate("field => field.removeAttribute('pattern')")
    ada.press("Create token")
    assert problem(ada).startswith("The name must have")
    assert page.get_by_label("Reason").input_value() == "for the build"
    fill(ada, Name="desk")
    page.get_by_label("write").check()
    ada.press("Create token")
    assert ada.heading == "Token for desk"
    token = page.locator("#token").inner_text()
    assert token in page.locator("#http").inner_text()
    assert hello(guard, token) == 200
    assert hello(guard, token + "x") == 401
    ada.follow("I have copied it")
    assert token not in page.content()
    last = page.locator(".facts div", has_text="Last seen")
    assert last.locator("time").count() == 1, "its token was used"
    fill(ada, Reason="over")
    ada.press("Revoke")
    assert told(ada).startswith("Revoked desk.")
    assert hello(guard, token) == 401


def test_a_call_is_tried_and_what_was_typed_stays(ada: Seen, guard: Served) -> None:
    ada.page.goto(guard.url + "/policy")
    assert is_sound(ada)
    ada.page.get_by_label("Tool, as server:name").fill("files:read_file")
    fill(ada, Caller="anonymous", Arguments='{"path": 1, "path": 2}')
    ada.press("Test")
    assert problem(ada).startswith("The arguments are not strict JSON")
    fill(ada, Arguments='{"path": "notes.txt"}')
    ada.press("Test")
    assert ada.page.get_by_role("heading", name="This call would be denied.").is_visible()
    assert ada.page.get_by_label("Arguments").input_value() == '{"path": "notes.txt"}'
    assert ada.page.get_by_role("row").filter(has_text="server.standing").get_by_text("denies").is_visible()


def test_somebody_is_let_in_signs_in_and_changes_their_password(ada: Seen, browser: Browser, guard: Served) -> None:
    ada.page.goto(guard.url + "/settings/users")
    assert is_sound(ada)
    fill(ada, Name="bob", New_password=OTHER, Repeat_password=OTHER)
    ada.page.get_by_label("Role").select_option("auditor")
    ada.press("Add user")
    assert told(ada) == "Added bob as auditor."
    with (
        browser.new_context(java_script_enabled=False) as here,
        browser.new_context(java_script_enabled=False) as elsewhere,
    ):
        bob, other = Seen(here.new_page()), Seen(elsewhere.new_page())
        sign_in(bob, guard, "bob", OTHER)
        sign_in(other, guard, "bob", OTHER)
        bob.follow("Account")
        assert is_sound(bob)
        fill(bob, Current_password=PASSWORD, New_password=THIRD, Repeat_password=THIRD)
        bob.press("Change password")
        assert problem(bob) == "The current password is wrong."
        fill(bob, Current_password=OTHER, New_password=THIRD, Repeat_password=THIRD)
        bob.press("Change password")
        assert told(bob) == "Changed your password and ended your other sessions."
        other.page.reload()
        assert other.heading == "Sign in"
        sign_in(other, guard, "bob", OTHER)
        assert problem(other).startswith("Wrong name or password")
        sign_in(other, guard, "bob", THIRD)
        assert other.heading == "Inbox"
        ada.page.goto(guard.url + "/settings/sessions")
        assert is_sound(ada)
        fill(ada, Reason="left the company")
        ada.page.get_by_role("row").filter(has_text="bob").first.get_by_role("button").click()
        assert told(ada) == "Signed out a session of bob."
        bob.page.reload()
        assert bob.heading == "Sign in"


def test_looks_are_chosen_and_kept(ada: Seen, guard: Served, tmp_path: Path) -> None:
    ada.page.goto(guard.url + "/settings")
    assert is_sound(ada)
    ada.page.get_by_label("Dark").check()
    ada.press("Save")
    assert told(ada) == "Saved the appearance for this browser."
    ada.page.goto(guard.url + "/callers")
    ada.page.screenshot(path=tmp_path / "page.png")
    assert ada.page.locator("html").get_attribute("data-theme") == "dark"
    ada.page.goto(guard.url + "/settings")
    ada.page.get_by_label("System").check()
    ada.press("Save")
    assert ada.page.locator("html").get_attribute("data-theme") is None
    assert not [each for each in ada.complaints if "Failed to load" not in each]


PAGES = (
    "/callers",
    "/callers/add",
    "/policy",
    "/settings",
    "/settings/users",
    "/settings/users/ada",
    "/settings/sessions",
    "/settings/tokens",
    "/settings/me",
)


def test_every_page_is_sound_on_a_narrow_window(ada: Seen, guard: Served) -> None:
    ada.page.set_viewport_size({"width": 320, "height": 800})
    for path in PAGES:
        ada.page.goto(guard.url + path)
        assert is_sound(ada), path
