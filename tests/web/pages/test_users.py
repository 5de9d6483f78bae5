"""People, sessions and tokens in the console: who lets whom in and out, and what is shown only once."""

import re

import pytest

from mcpguard.domain.people import NotProven, Role
from tests.people import BY, PASSWORD, bears, cookie, token, user
from tests.web.pages.console import OLD, Browser, browser, nothing_happens, records
from tests.web.pages.reading import alert, heading, hidden, text, told
from tests.world import World

pytestmark = pytest.mark.anyio
OTHER = "nine green hedgehogs"
USERS = "/settings/users"
TOKENS = "/settings/tokens"
BOB = {"name": "bob", "role": "viewer", "new": OTHER, "again": OTHER}


def known(guard: World, name: str = "bob") -> str:
    """What somebody is."""
    found = guard.now.guard.people.user(name)
    return "nobody" if found is None else "disabled" if found.disabled else found.role.value


async def test_somebody_is_let_in_and_signs_in_with_that_password(guard: World) -> None:
    at = await browser(guard)
    page = await at.told(await at.post(USERS, **BOB, why="joins the team"))
    assert told(page) == "Added bob as viewer."
    assert (known(guard), OTHER in page.text) == ("viewer", False)
    await cookie(guard, "bob", OTHER)
    (record,) = [each for each in records(guard, "person") if each["user_name"] == "bob"]
    assert (record["change"], record["why"], record["via"]) == ("added", "joins the team", "console")


@pytest.mark.parametrize(
    ("sent", "status", "why"),
    [
        ({"name": "Bob"}, 422, "The name must have"),
        ({"name": "<script>"}, 422, "The name must have"),
        ({"name": "ada"}, 409, "There is, or was, a user named ada"),
        ({"role": "root"}, 422, "Choose a role"),
        ({"role": ""}, 422, "Choose a role"),
        ({"again": "another one entirely"}, 422, "The two passwords do not match"),
        ({"new": "short", "again": "short"}, 422, "A password must have at least"),
        ({"new": "", "again": ""}, 422, "A password must have at least"),
        ({"why": "x" * 2001}, 422, "The reason is longer"),
    ],
    ids=str,
)
async def test_who_cannot_be_let_in_is_not_and_no_password_is_shown_again(
    guard: World, sent: dict[str, str], status: int, why: str
) -> None:
    at = await browser(guard)
    async with nothing_happens(guard):
        answer = await at.post(USERS, **BOB | sent)
        assert (answer.status_code, why in alert(answer)) == (status, True)
        assert OTHER not in answer.text
        assert "<script>" not in answer.text.partition('aria-labelledby="h-add"')[2]
    assert known(guard) == "nobody"


async def test_letting_in_needs_the_password_and_shutting_out_does_not(guard: World) -> None:
    at = await browser(guard)
    await user(guard, "bob", Role.VIEWER)
    shown = await cookie(guard, "bob")
    await guard.clock.advance(OLD)
    async with nothing_happens(guard):
        for path, sent in (
            (USERS, BOB | {"name": "carla"}),
            (f"{USERS}/bob", {"do": "role", "role": "admin"}),
            (f"{USERS}/bob", {"do": "password", "new": OTHER, "again": OTHER}),
            (f"{USERS}/bob", {"do": "enable"}),
        ):
            answer = await at.post(path, **sent)
            assert (answer.status_code, "confirm it with your password" in alert(answer)) == (403, True), sent
            assert 'name="password"' in answer.text
    await at.post(f"{USERS}/bob", do="disable", why="left")
    assert known(guard) == "disabled"
    assert guard.now.guard.people.by_session(shown) is None
    answer = await at.post(f"{USERS}/bob", do="enable", password=PASSWORD)
    assert answer.status_code == 303
    assert known(guard) == "viewer"


async def test_what_an_admin_changes_about_somebody_is_recorded_with_the_reason(guard: World) -> None:
    at = await browser(guard)
    await user(guard, "bob", Role.VIEWER)
    before = len(records(guard, "person"))
    for do, more, said in (
        ("role", {"role": "approver"}, "Changed the role of bob to approver."),
        ("password", {"new": OTHER, "again": OTHER}, "Reset the password of bob and ended all their sessions."),
        ("sign-out", {}, "Signed bob out everywhere."),
        ("disable", {}, "Disabled bob and ended all their sessions."),
        ("enable", {}, "Enabled bob."),
    ):
        page = await at.told(await at.post(f"{USERS}/bob", do=do, why=f"because {do}", **more))
        assert (heading(page), told(page)) == ("bob", said)
    left = records(guard, "person")[before:]
    assert [(each["change"], each["why"]) for each in left] == [
        ("role", "because role"),
        ("password", "because password"),
        ("signed_out", "because sign-out"),
        ("disabled", "because disable"),
        ("enabled", "because enable"),
    ]
    await cookie(guard, "bob", OTHER)


@pytest.mark.parametrize(
    ("path", "sent", "status"),
    [
        (f"{USERS}/ada", {"do": "disable"}, 422),
        (f"{USERS}/ada", {"do": "role", "role": "viewer"}, 422),
        (f"{USERS}/ada", {"do": ""}, 422),
        (f"{USERS}/ada", {"do": "remove"}, 422),
        (f"{USERS}/nobody", {"do": "disable"}, 404),
        (f"{USERS}/%3Cscript%3E", {"do": "disable"}, 404),
    ],
    ids=str,
)
async def test_what_cannot_be_done_is_not(guard: World, path: str, sent: dict[str, str], status: int) -> None:
    at = await browser(guard)
    async with nothing_happens(guard):
        answer = await at.post(path, **sent)
        assert answer.status_code == status
        assert "<script>" not in answer.text.partition("<main")[2]
    assert known(guard, "ada") == "admin"


async def test_one_session_ends_and_the_others_go_on(guard: World) -> None:
    at = await browser(guard)
    await user(guard, "bob", Role.VIEWER)
    here, there = await cookie(guard, "bob"), await cookie(guard, "bob")
    first = next(
        each for each in guard.now.guard.people.sessions() if guard.now.guard.people.session_shown(here) == each
    )
    page = await at.get("/settings/sessions")
    assert "this browser" in page.text
    assert "192.0.2.7" in page.text
    page = await at.told(await at.post("/settings/sessions", session=first.id, why="a stolen laptop"))
    assert told(page) == "Signed out a session of bob."
    assert guard.now.guard.people.by_session(here) is None
    assert guard.now.guard.people.by_session(there) is not None
    (record,) = [each for each in records(guard, "person") if each["change"] == "session_ended"]
    assert (record["session"], record["why"], record["via"]) == (first.id, "a stolen laptop", "console")
    async with nothing_happens(guard):
        again = await at.post("/settings/sessions", session=first.id, why="again")
        assert (again.status_code, 'value="again"' in again.text) == (404, True)


def made(markup: str) -> str:
    found = re.search(r'id="token"[^>]*>(mcpo_[\w-]+)<', markup)
    assert found is not None
    return found[1]


async def test_a_token_is_shown_once_and_a_reload_makes_no_second_one(guard: World) -> None:
    at = await browser(guard)
    once = hidden(await at.get(TOKENS), "once")
    sent = {"once": once, "name": "ci", "role": "auditor", "expires": "86400", "why": "exports"}
    answer = await at.post(f"{TOKENS}/add", **sent)
    assert answer.headers["cache-control"] == "no-store"
    shown = made(answer.text)
    assert (await guard.network.get("/api/v1/status", headers=bears(shown))).status_code == 200
    (record,) = records(guard, "operator")
    assert (record["token_name"], record["role"], record["why"], record["via"]) == (
        "ci",
        "auditor",
        "exports",
        "console",
    )
    async with nothing_happens(guard):
        again = await at.post(f"{TOKENS}/add", **sent)
        assert (again.status_code, "mcpo_" in again.text.replace("mcpo_…", "")) == (409, False)
    page = await at.get(TOKENS)
    assert shown not in page.text
    (held,) = guard.now.guard.people.tokens()
    page = await at.told(await at.post(TOKENS, token=held.id, why="over"))
    assert told(page).startswith("Revoked ci.")
    assert (await guard.network.get("/api/v1/status", headers=bears(shown))).status_code == 401
    assert "No API tokens." in page.text
    async with nothing_happens(guard):
        assert (await at.post(TOKENS, token=held.id)).status_code == 404


@pytest.mark.parametrize("sent", [{"name": "CI"}, {"role": "root"}, {"expires": "1"}, {"once": ""}], ids=str)
async def test_what_is_no_token_is_refused(guard: World, sent: dict[str, str]) -> None:
    at = await browser(guard)
    async with nothing_happens(guard):
        once = hidden(await at.get(TOKENS), "once")
        answer = await at.post(
            f"{TOKENS}/add", **{"once": once, "name": "ci", "role": "viewer", "expires": "never"} | sent
        )
        assert answer.status_code == 422
        assert "mcpo_" not in answer.text.replace("mcpo_…", "")
    assert [*guard.now.guard.people.tokens()] == []


async def test_a_program_that_may_only_tighten_makes_no_token_from_a_page(guard: World) -> None:
    """It may look at pages, and what it sends is held to what its token may."""
    shown = await token(guard, Role.VIEWER)
    for path in (USERS, TOKENS, "/settings/sessions"):
        assert (await guard.network.get(path, headers=bears(shown))).status_code == 403


async def test_who_was_signed_out_meanwhile_changes_nothing(guard: World) -> None:
    at = await browser(guard)
    await user(guard, "bob", Role.ADMIN)
    await guard.now.guard.users.sign_out("ada", BY)
    async with nothing_happens(guard):
        answer = await at.post(USERS, **BOB | {"name": "carla"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    assert known(guard, "carla") == "nobody"


async def test_a_name_that_somebody_has_keeps_what_was_typed(guard: World) -> None:
    at: Browser = await browser(guard)
    answer = await at.post(USERS, **BOB | {"name": "ada", "role": "approver", "why": "twice"})
    assert 'value="ada"' in answer.text
    assert "<option selected>approver</option>" in answer.text
    assert ">twice</textarea>" in answer.text
    with pytest.raises(NotProven):
        await cookie(guard, "ada", OTHER)
    assert "There is, or was, a user named ada" in text(answer.text)
