"""Changing one's own password, and ending one session: who may, what ends with it, and what is recorded."""

from typing import Any

import httpx2
import pytest

from mcpguard.domain.decisions import Actor, ActorRevoked, Decision
from mcpguard.domain.people import NotProven, Principal, Role
from tests.people import BY, NARROW, OURS, PASSWORD, PEER, bears, cookie, shows, token, user
from tests.web.reviewing import Json, problem, said
from tests.world import World

pytestmark = pytest.mark.anyio
API = "/api/v1"
OTHER = "nine green hedgehogs"


async def change(guard: World, shown: str, present: str = PASSWORD, password: str = OTHER) -> httpx2.Response:
    headers = {**OURS, **shows(shown)}
    guard.network.cookies.clear()
    body = {"present": present, "password": password}
    return await guard.network.post(f"{API}/me/password", json=body, headers=headers)


async def end(guard: World, session: str, **body: Any) -> httpx2.Response:  # noqa: ANN401 - JSON
    return await guard.operator.post(f"{API}/sessions/{session}/end", json=body)


def me(guard: World, shown: str) -> Principal | None:
    return guard.now.guard.people.by_session(shown)


def changes(guard: World) -> list[Json]:
    return [each for each in guard.said() if each.get("change") in ("own_password", "session_ended")]


async def rows(guard: World) -> int:
    counted = "SELECT count(*) FROM sessions"
    found = await guard.now.store.readers.run(lambda connection: connection.exec_driver_sql(counted).scalar())
    assert isinstance(found, int)
    return found


@pytest.mark.parametrize("role", Role)
async def test_everybody_may_whatever_their_role_and_the_other_sessions_end(guard: World, role: Role) -> None:
    ada, _ = await user(guard, role=role), await user(guard, "bob")
    here, there, bobs = await cookie(guard), await cookie(guard), await cookie(guard, "bob")
    told = said(await change(guard, here))
    assert (told["name"], told["sessions"]) == ("ada", 1)
    assert me(guard, here) is not None
    assert me(guard, there) is None
    assert me(guard, bobs) is not None
    assert await rows(guard) == 2
    with pytest.raises(NotProven):
        await cookie(guard)
    await cookie(guard, password=OTHER)
    (record,) = changes(guard)
    assert (record["change"], record["ended"], record["by"]) == ("own_password", 1, f"user:{ada.id} (ada)")
    assert PASSWORD not in str(guard.said())
    assert OTHER not in str(guard.said())
    assert guard.verified().whole


async def test_it_outlives_a_password_that_was_given_long_ago(guard: World) -> None:
    """The present one is given with it: nothing else is needed."""
    await user(guard)
    shown = await cookie(guard)
    await guard.clock.advance(901)
    found = me(guard, shown)
    assert found is not None
    assert not found.recent
    said(await change(guard, shown))


async def test_who_does_not_know_the_present_one_changes_nothing_and_is_counted(guard: World) -> None:
    await user(guard)
    shown, other = await cookie(guard), await cookie(guard)
    told = problem(await change(guard, shown, "wrong"), 401)
    assert told["detail"] == "the current password is wrong"
    for _ in range(4):
        problem(await change(guard, shown, "wrong"), 401)
    answer = await change(guard, shown)
    assert problem(answer, 429)["type"] == "urn:mcpguard:too-many-tries", "with the right one, too"
    assert int(answer.headers["retry-after"]) >= 1
    assert me(guard, shown) is not None
    assert me(guard, other) is not None
    assert changes(guard) == [], "and nothing happened"
    await guard.now.guard.tallies.flush()
    counted = [each for each in guard.said() if each["kind"] == "sign_in_refused"]
    assert [(each["why"], each["user_name"], each["count"]) for each in counted] == [
        ("password", "ada", 5),
        ("too many tries", "ada", 1),
    ]


@pytest.mark.parametrize("password", ["", "short", "password1234", PASSWORD, "\ud800" * 12, "x" * 1025], ids=ascii)
async def test_what_cannot_be_the_new_one_is_refused(guard: World, password: str) -> None:
    await user(guard)
    shown, other = await cookie(guard), await cookie(guard)
    guard.network.cookies.clear()
    body = b'{"present": "%s", "password": "%s"}' % (PASSWORD.encode(), ascii(password)[1:-1].encode())
    headers = {**OURS, **shows(shown), "content-type": "application/json"}
    answer = await guard.network.post(f"{API}/me/password", content=body, headers=headers)
    assert answer.status_code in (400, 422), answer.text
    assert me(guard, other) is not None
    assert changes(guard) == [], "and nothing happened"


async def test_programs_and_the_operators_socket_have_none(guard: World) -> None:
    await user(guard)
    body = {"present": PASSWORD, "password": OTHER}
    for answer in (
        await guard.network.post(f"{API}/me/password", json=body, headers=bears(await token(guard))),
        await guard.operator.post(f"{API}/me/password", json=body),
    ):
        assert "signed-in user" in problem(answer, 403)["detail"]
    assert changes(guard) == [], "and nothing happened"


async def test_of_two_who_know_it_at_once_one_is_late(guard: World) -> None:
    """Both have proven it when the first of them changes it."""
    ada = await user(guard)
    here, there = await cookie(guard), await cookie(guard)
    proven = await guard.now.guard.signing_in.prove(ada, PASSWORD, PEER)
    said(await change(guard, here))
    gone = me(guard, here)
    assert gone is not None
    with pytest.raises(NotProven):
        await guard.now.guard.users.own_password(proven, "seven yellow snails", Decision(BY.by, ""), "")
    assert me(guard, there) is None
    assert me(guard, here) is not None
    assert len(changes(guard)) == 1
    await cookie(guard, password=OTHER)


async def test_whose_session_ended_meanwhile_changes_nothing(guard: World) -> None:
    ada = await user(guard)
    found = me(guard, await cookie(guard))
    assert found is not None
    lapsed = Actor(f"user:{ada.id} (ada)", "api", may_widen=True, holds=lambda: False)
    with pytest.raises(ActorRevoked):
        await guard.now.guard.own_password.change(found, PASSWORD, OTHER, PEER, lapsed)
    assert changes(guard) == []
    await cookie(guard)


async def test_while_nothing_can_be_recorded_the_one_before_goes_on(guard: World) -> None:
    await user(guard)
    here, there = await cookie(guard), await cookie(guard)
    (session, *_) = guard.now.guard.people.sessions()
    aside = guard.database.with_name("aside.db")
    guard.database.rename(aside)
    problem(await change(guard, here), 503)
    problem(await end(guard, session.id), 503)
    assert me(guard, here) is not None
    assert me(guard, there) is not None
    aside.rename(guard.database)
    await guard.recovered()
    said(await change(guard, there))
    assert me(guard, here) is None


async def test_one_session_ends_and_the_others_go_on(guard: World) -> None:
    await user(guard)
    here, there = await cookie(guard), await cookie(guard)
    first, second = guard.now.guard.people.sessions()
    told = said(await end(guard, first.id, why="a stolen laptop"))
    assert (told["name"], told["sessions"]) == ("ada", 1)
    assert me(guard, here) is None
    assert me(guard, there) is not None
    assert await rows(guard) == 1
    (record,) = changes(guard)
    wanted = {"change": "session_ended", "session": first.id, "ended": 1, "why": "a stolen laptop", "user_name": "ada"}
    assert {key: record[key] for key in wanted} == wanted
    problem(await end(guard, first.id), 404)
    assert len(changes(guard)) == 1, "and nothing happened"
    assert [each.id for each in guard.now.guard.people.sessions()] == [second.id]


@pytest.mark.parametrize("session", ["none", "%00", "a" * 300, "..", "é"])
async def test_a_session_that_is_not_there_cannot_be_ended(guard: World, session: str) -> None:
    assert (await end(guard, session)).status_code == 404
    assert changes(guard) == []


async def test_a_session_that_is_over_is_not_there(guard: World) -> None:
    await user(guard)
    await cookie(guard)
    (session,) = guard.now.guard.people.sessions()
    guard.clock.jump(43_200)
    problem(await end(guard, session.id), 404)
    assert changes(guard) == []


async def test_a_session_can_be_ended_by_whoever_may_only_tighten(guard: World) -> None:
    await user(guard)
    shown = await cookie(guard)
    (session,) = guard.now.guard.people.sessions()
    await guard.now.guard.users.end_session(session.id, NARROW)
    assert me(guard, shown) is None
