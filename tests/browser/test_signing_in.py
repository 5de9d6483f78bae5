"""The first admin, and signing in and out, in a real browser that runs no script of any page."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.desk import fill, link, problem, set_up
from tests.browser.seen import LOOKS, Seen, nothing_to_complain_about
from tests.people import PASSWORD
from tests.process import Served, serving

WRONG = "seven brown cows"


@pytest.fixture
def guard(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path / "data") as guard:
        yield guard


@pytest.fixture
def scriptless(browser: Browser) -> Iterator[Seen]:
    with browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 800}) as context:
        seen = Seen(context.new_page())
        seen.watch()
        yield seen


def test_the_first_admin_is_made_signs_out_and_in_again(scriptless: Seen, guard: Served) -> None:
    page = scriptless.page
    page.goto(link(guard))
    assert scriptless.heading == "Create the first admin"
    fill(scriptless, Name="ada", Password=PASSWORD, Repeat_password=PASSWORD + ".")
    scriptless.press("Create admin")
    assert problem(scriptless) == "The two passwords do not match."
    fill(scriptless, Name="ada", Password=PASSWORD, Repeat_password=PASSWORD)
    scriptless.press("Create admin")
    assert scriptless.heading == "Inbox"
    scriptless.follow("Sign out")
    assert scriptless.heading == "Sign out"
    scriptless.press("Sign out here")
    assert scriptless.heading == "Sign in"
    fill(scriptless, Name="ada", Password=WRONG)
    scriptless.press("Sign in")
    assert problem(scriptless) == "Wrong name or password, or this user may not sign in."
    assert page.get_by_label("Password").input_value() == ""
    fill(scriptless, Name="ada", Password=PASSWORD)
    scriptless.press("Sign in")
    assert scriptless.heading == "Inbox"
    (cookie,) = page.context.cookies()
    assert (cookie["name"], cookie["httpOnly"], cookie["sameSite"], cookie["expires"]) == (
        "mcpguard_session",
        True,
        "Strict",
        -1,
    )
    page.goto(guard.url + "/login")
    assert scriptless.heading == "Sign in again"
    fill(scriptless, Password=PASSWORD)
    scriptless.press("Sign in")
    (renewed,) = page.context.cookies()
    assert renewed["value"] != cookie["value"]
    page.goto(link(guard))
    assert scriptless.heading == "Not found"
    assert scriptless.asked >= {f"{guard.url}/static/guard.css"}
    assert all(each.startswith(guard.url + "/") for each in scriptless.asked)


def test_signing_out_everywhere_reaches_another_browser(scriptless: Seen, browser: Browser, guard: Served) -> None:
    set_up(scriptless, guard)
    with browser.new_context(java_script_enabled=False) as elsewhere:
        other = Seen(elsewhere.new_page())
        other.page.goto(guard.url + "/login")
        fill(other, Name="ada", Password=PASSWORD)
        other.press("Sign in")
        other.page.goto(guard.url + "/logout")
        other.press("Sign out everywhere")
        assert other.heading == "Sign in"
        scriptless.page.reload()
        assert scriptless.heading == "Sign in"


def test_a_page_of_another_site_signs_nobody_out(scriptless: Seen, guard: Served, tmp_path: Path) -> None:
    """Another port of the same host is the same site to cookies, and not to us."""
    set_up(scriptless, guard)
    evil = tmp_path / "evil.html"
    evil.write_text(f'<form method="post" action="{guard.url}/logout"><button>Win a prize</button></form>')
    scriptless.page.goto(evil.as_uri())
    scriptless.press("Win a prize")
    assert "pages of other sites are refused" in scriptless.page.inner_text("body")
    scriptless.page.goto(guard.url + "/")
    assert scriptless.page.get_by_role("link", name="Sign out").is_visible()


@LOOKS
def test_the_forms_look_as_they_should(look: Seen, tmp_path: Path) -> None:
    with serving(tmp_path / "data") as guard:
        look.page.goto(link(guard))
        nothing_to_complain_about(look, guard)
        assert every_field_has_a_label(look)
        fill(look, Name="ada", Password=PASSWORD, Repeat_password=PASSWORD)
        look.page.screenshot(path=tmp_path / "setup.png", full_page=True)
        with look.page.expect_navigation():
            look.page.get_by_role("button", name="Create admin").press("Enter")
        assert look.heading == "Inbox"
        for path, name in (("/logout", "logout"), ("/login", "login")):
            look.asked.clear()
            look.page.goto(guard.url + path)
            look.page.screenshot(path=tmp_path / f"{name}.png", full_page=True)
            nothing_to_complain_about(look, guard)
            assert every_field_has_a_label(look)


def every_field_has_a_label(look: Seen) -> bool:
    """And is large enough to be hit (WCAG 2.2 AA, 1.3.1 and 2.5.8), and there is one heading of the first level."""
    return bool(
        look.page.evaluate("""() =>
            [...document.querySelectorAll("input:not([type=hidden]), button, nav a")].every((each) =>
                (each.tagName !== "INPUT" || each.labels.length === 1) && each.getBoundingClientRect().height >= 24)
            && document.querySelectorAll("h1").length === 1
            && new Set([...document.querySelectorAll("[id]")].map((each) => each.id)).size
                === document.querySelectorAll("[id]").length
            && [...document.querySelectorAll("[aria-describedby]")].every((each) =>
                each.getAttribute("aria-describedby").split(" ").every((id) => document.getElementById(id)))
        """)
    )
