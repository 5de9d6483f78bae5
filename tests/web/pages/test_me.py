"""One's own account: one's password, one's sessions, and nobody else's."""

import pytest

from mcpguard.domain.people import NotProven, Role
from tests.people import OURS, PASSWORD, bears, cookie, token, user
from tests.web.pages.console import OLD, browser, nothing_happens, records
from tests.web.pages.reading import alert, heading, text, told
from tests.world import World

pytestmark = pytest.mark.anyio
OTHER = "nine green hedgehogs"
ME = "/settings/me"
CHANGED = {"present": PASSWORD, "new": OTHER, "again": OTHER}


@pytest.mark.parametrize("role", Role)
async def test_everybody_sees_what_they_may_and_changes_their_password(guard: World, role: Role) -> None:
    at = await browser(guard, role)
    there = await cookie(guard, "ada")
    await guard.clock.advance(OLD)
    page = await at.get(ME)
    assert ("Manage the tokens of agents, users and API tokens" in page.text) == (role is Role.ADMIN)
    assert "this browser" in page.text
    page = await at.told(await at.post(f"{ME}/password", **CHANGED))
    assert told(page) == "Changed your password and ended your other sessions."
    assert guard.now.guard.people.by_session(at.shown) is not None
    assert guard.now.guard.people.by_session(there) is None
    with pytest.raises(NotProven):
        await cookie(guard, "ada")
    await cookie(guard, "ada", OTHER)
    (record,) = [each for each in records(guard, "person") if each["change"] == "own_password"]
    assert (record["via"], record["ended"]) == ("console", 1)


@pytest.mark.parametrize(
    ("sent", "status", "why"),
    [
        ({"present": "wrong"}, 401, "The current password is wrong"),
        ({"present": ""}, 401, "The current password is wrong"),
        ({"again": "another one entirely"}, 422, "The two passwords do not match"),
        ({"new": "short", "again": "short"}, 422, "A password must have at least"),
        ({"new": PASSWORD, "again": PASSWORD}, 422, "This is your current password"),
        ({"new": "password1234", "again": "password1234"}, 422, "too common"),
    ],
    ids=str,
)
async def test_what_cannot_be_is_told_and_the_password_stays(
    guard: World, sent: dict[str, str], status: int, why: str
) -> None:
    at = await browser(guard)
    there = await cookie(guard, "ada")
    async with nothing_happens(guard):
        answer = await at.post(f"{ME}/password", **CHANGED | sent)
        assert (answer.status_code, why in alert(answer)) == (status, True)
        assert OTHER not in answer.text
        assert PASSWORD not in answer.text
    assert guard.now.guard.people.by_session(there) is not None
    await cookie(guard, "ada")


async def test_whoever_tries_too_often_waits(guard: World) -> None:
    at = await browser(guard)
    async with nothing_happens(guard):
        for _ in range(5):
            await at.post(f"{ME}/password", **CHANGED | {"present": "wrong"})
        answer = await at.post(f"{ME}/password", **CHANGED)
        assert (answer.status_code, "many failed attempts" in alert(answer)) == (429, True)


async def test_one_ends_ones_own_sessions_and_nobody_elses(guard: World) -> None:
    at = await browser(guard, Role.VIEWER)
    there = await cookie(guard, "ada")
    await user(guard, "bob", Role.ADMIN)
    bobs = await cookie(guard, "bob")
    people = guard.now.guard.people
    mine, his = (people.session_shown(each) for each in (there, bobs))
    assert mine is not None
    assert his is not None
    refused = await at.post(f"{ME}/sessions", session=his.id)
    assert (refused.status_code, "This session has ended already" in alert(refused)) == (404, True)
    assert people.by_session(bobs) is not None
    assert his.id not in (await at.get(ME)).text
    page = await at.told(await at.post(f"{ME}/sessions", session=mine.id))
    assert told(page) == "Ended the session."
    assert people.by_session(there) is None
    (record,) = [each for each in guard.said() if each["kind"] == "signed_out"]
    assert (record["session"], record["via"], record["why"]) == (mine.id, "console", "asked")
    await cookie(guard, "ada")
    assert (await at.post(f"{ME}/sessions", session="every")).headers["location"] == "/login"
    assert [session.user for session in people.sessions()] == [his.user]
    assert (await at.get(ME)).status_code == 303


@pytest.mark.parametrize("session", ["", "none", "<script>"])
async def test_a_session_that_is_not_there_is_not_ended(guard: World, session: str) -> None:
    at = await browser(guard)
    answer = await at.post(f"{ME}/sessions", session=session)
    assert answer.status_code == 404
    assert "<script>" not in answer.text.partition("<main")[2]
    assert len([*guard.now.guard.people.sessions()]) == 1


async def test_a_program_has_no_account(guard: World) -> None:
    shown = await token(guard)
    page = await guard.network.get(ME, headers=bears(shown))
    assert (page.status_code, heading(page)) == (404, "Not found")
    async with nothing_happens(guard):
        for path, sent in ((f"{ME}/password", CHANGED), (f"{ME}/sessions", {"session": "every"})):
            assert (await guard.network.post(path, data=sent, headers={**OURS, **bears(shown)})).status_code == 404
    assert "Your account" not in text((await guard.network.get("/settings", headers=bears(shown))).text)
