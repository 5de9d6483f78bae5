"""Users, sessions and operators' tokens over the operator's socket: who may do what, and what is recorded of it."""

import json
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from mcpguard.domain.decisions import Actor, ActorRevoked, Decision, Forbidden, Undecidable
from mcpguard.domain.errors import LedgerUnavailable
from mcpguard.domain.people import LastAdmin, NotProven, Role, UserTaken
from mcpguard.guard.people import operators
from mcpguard.guard.people.operators import LONGEST_SECONDS
from mcpguard.guard.people.sign_in import MOST_SESSIONS
from tests.people import BY, NARROW, PASSWORD, PEER, bears, cookie, shows, token, user
from tests.web.reviewing import Json, problem, said
from tests.world import World, world

pytestmark = pytest.mark.anyio
API = "/api/v1"
USERS = f"{API}/users"
OTHER = "nine green hedgehogs"


async def send(guard: World, what: str, **body: Any) -> httpx2.Response:  # noqa: ANN401 - JSON
    return await guard.operator.post(f"{API}/{what}", json=body)


async def add(guard: World, name: str = "ada", role: str = "admin", **more: Any) -> Json:  # noqa: ANN401 - JSON
    added: Json = said(await send(guard, "users", **{"name": name, "role": role, "password": PASSWORD} | more), 201)
    return added


async def listed(guard: World, what: str = "users") -> list[Json]:
    found: list[Json] = said(await guard.operator.get(f"{API}/{what}"))[what]
    return found


def records(guard: World, *kinds: str) -> list[Json]:
    wanted = kinds or ("person", "operator", "signed_in", "signed_out")
    return [record for record in guard.said() if record["kind"] in wanted]


def fields(record: Json) -> Json:
    hidden = ("v", "chain", "seq", "at", "process", "by", "via")
    return {key: value for key, value in record.items() if key not in hidden}


async def break_ledger(guard: World) -> Path:
    aside = guard.database.with_name("aside.db")
    guard.database.rename(aside)
    return aside


async def test_each_change_is_recorded_with_who_made_it_and_why(guard: World) -> None:
    ada = await add(guard, why="the first one")
    bob = await add(guard, "bob", "viewer")
    assert (bob["standing"], bob["role"], bob["sessions"]) == ("active", "viewer", 0)
    assert "password" not in bob
    await cookie(guard, "bob")
    for what, body in (
        ("role", {"role": "auditor", "why": "looks into it"}),
        ("disable", {}),
        ("enable", {}),
        ("password", {"password": OTHER}),
        ("sign-out", {}),
    ):
        said(await send(guard, f"users/bob/{what}", **body))
    found = records(guard, "person")
    mine, hers = ({"kind": "person", "user": each["id"], "user_name": each["name"]} for each in (bob, ada))
    assert [fields(each) for each in found] == [
        hers | {"change": "added", "role": "admin", "why": "the first one"},
        mine | {"change": "added", "role": "viewer"},
        mine | {"change": "role", "role": "auditor", "before": "viewer", "why": "looks into it"},
        mine | {"change": "disabled", "role": "auditor", "ended": 1},
        mine | {"change": "enabled", "role": "auditor"},
        mine | {"change": "password", "role": "auditor", "ended": 0},
        mine | {"change": "signed_out", "role": "auditor", "ended": 0},
    ]
    assert {each["via"] for each in found} == {"operator socket"}
    assert all(each["by"].startswith("uid:") and each["process"] for each in found)
    assert [each["name"] for each in await listed(guard)] == ["ada", "bob"]
    assert guard.verified().whole


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "Ada"},
        {"name": "-ada"},
        {"name": "a" * 64},
        {"name": "a\n"},
        {"name": "a\0"},
        {"name": "ада"},
        {"name": "a/b"},
        {"role": "root"},
        {"role": None},
        {"password": "short"},
        {"password": 123456789012},
        {"password": "x" * 1025},
        {"password": "\ud800" * 12},
        {"why": "y" * 2001},
        {"disabled": False},
    ],
    ids=ascii,
)
async def test_what_is_no_user_is_refused_and_nothing_of_it_is_told(guard: World, wrong: Json) -> None:
    before = records(guard)
    body = json.dumps({"name": "ada", "role": "admin", "password": PASSWORD} | wrong)
    answer = await guard.operator.post(USERS, content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert PASSWORD not in answer.text
    assert "short" not in answer.text
    assert await listed(guard) == []
    assert records(guard) == before, "and nothing happened"


async def test_a_name_is_somebodys_for_ever(guard: World) -> None:
    await add(guard)
    await add(guard, "bob")
    said(await send(guard, "users/bob/disable"))
    for name in ("ada", "bob"):
        told = problem(await send(guard, "users", name=name, role="viewer", password=PASSWORD), 409)
        assert told["type"] == "urn:mcpguard:user-taken"
    assert len(records(guard)) == 3


@pytest.mark.parametrize("what", ["password", "role", "disable", "enable", "sign-out"])
@pytest.mark.parametrize("name", ["nobody", "A", "%00", "a%2Fb", "a" * 300])
async def test_who_is_not_there_cannot_be_changed(guard: World, what: str, name: str) -> None:
    body = {"password": {"password": OTHER}, "role": {"role": "viewer"}}.get(what, {})
    assert (await send(guard, f"users/{name}/{what}", **body)).status_code == 404
    assert records(guard) == []


async def test_there_is_always_an_admin(guard: World) -> None:
    await add(guard)
    await add(guard, "bob", "approver")
    before = records(guard)
    for what, body in (("disable", {}), ("role", {"role": "approver"})):
        told = problem(await send(guard, f"users/ada/{what}", **body), 422)
        assert "the last admin" in told["detail"]
    assert records(guard) == before, "and nothing happened"
    said(await send(guard, "users/ada/role", role="admin"))
    said(await send(guard, "users/bob/role", role="admin"))
    said(await send(guard, "users/ada/disable"))
    problem(await send(guard, "users/bob/disable"), 422)
    problem(await send(guard, "users/bob/role", role="viewer"), 422)
    said(await send(guard, "users/ada/enable"))
    said(await send(guard, "users/bob/disable"))


async def test_of_two_admins_who_disable_each_other_one_stays(guard: World) -> None:
    await add(guard)
    await add(guard, "bob")
    answers = list[int]()

    async def disable(name: str) -> None:
        answers.append((await send(guard, f"users/{name}/disable")).status_code)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(disable, "ada")
        tasks.start_soon(disable, "bob")
    assert sorted(answers) == [200, 422]
    assert sorted(each["standing"] for each in await listed(guard)) == ["active", "disabled"]


async def test_a_shell_that_may_only_tighten_lets_nobody_in_and_may_shut_out(tmp_path: Path) -> None:
    async with world(tmp_path) as guard:
        await add(guard)
        await add(guard, "bob", "approver")
    async with world(tmp_path, authority__shell="tighten") as guard:
        before = records(guard)
        for what, body in (
            ("users", {"name": "eve", "role": "viewer", "password": PASSWORD}),
            ("users/bob/password", {"password": OTHER}),
            ("users/bob/role", {"role": "admin"}),
            ("users/bob/enable", {}),
            ("operators", {"name": "ci", "role": "viewer"}),
            ("setup-link", {}),
        ):
            told = problem(await send(guard, what, **body), 403)
            assert "authority.shell is `tighten`" in told["detail"]
        assert records(guard) == before, "and nothing happened"
        said(await send(guard, "users/bob/sign-out"))
        said(await send(guard, "users/bob/role", role="viewer"))
        said(await send(guard, "users/bob/disable"))


async def test_a_role_that_was_taken_away_meanwhile_is_not_given_back_by_who_may_not(guard: World) -> None:
    """From admin to approver is tightening when it is asked for, and widening when it is its turn."""
    await user(guard)
    await user(guard, "bob", Role.ADMIN)
    users = guard.now.guard.users
    async with guard.now.guard.people._changing, anyio.create_task_group() as tasks:
        refused = list[Forbidden]()

        async def narrow() -> None:
            try:
                await users.role("bob", Role.APPROVER, NARROW)
            except Forbidden as error:
                refused.append(error)

        tasks.start_soon(users.role, "bob", Role.VIEWER, BY)
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(narrow)
        await anyio.wait_all_tasks_blocked()
        guard.now.guard.people._changing.release()
        await anyio.wait_all_tasks_blocked()
        await guard.settle()
        await guard.now.guard.people._changing.acquire()
    assert len(refused) == 1
    bob = guard.now.guard.people.user("bob")
    assert bob is not None
    assert bob.role is Role.VIEWER


async def test_who_lost_their_rights_meanwhile_changes_nothing(guard: World) -> None:
    await user(guard)
    gone = Decision(Actor("user:x (eve)", "api", may_widen=True, holds=lambda: False), "")
    people = guard.now.guard
    before = records(guard)
    for change in (
        people.users.add("eve", Role.ADMIN, PASSWORD, gone),
        people.users.password("ada", OTHER, gone),
        people.users.role("ada", Role.ADMIN, gone),
        people.users.enable("ada", gone),
        people.operators.add("ci", Role.ADMIN, None, gone),
    ):
        with pytest.raises(ActorRevoked):
            await change
    assert records(guard) == before, "and nothing happened"


async def test_another_password_ends_what_was_begun_with_the_old_one(guard: World) -> None:
    await user(guard)
    shown = await cookie(guard)
    said(await send(guard, "users/ada/password", password=OTHER))
    assert guard.now.guard.people.by_session(shown) is None
    with pytest.raises(NotProven):
        await cookie(guard)
    assert guard.now.guard.people.by_session(await cookie(guard, password=OTHER)) is not None


async def test_sessions_are_listed_and_say_nothing_that_lets_anybody_in(guard: World) -> None:
    await user(guard)
    await user(guard, "bob", Role.VIEWER)
    shown = [await cookie(guard), await cookie(guard, "bob")]
    found = await listed(guard, "sessions")
    assert [each["user"] for each in found] == ["ada", "bob"]
    assert {each["peer"] for each in found} == {PEER}
    assert not any(each in str(found) for each in shown)
    await guard.clock.advance(5)
    guard.now.guard.people.by_session(shown[1])
    used = (await listed(guard, "sessions"))[1]
    assert used["used_at"] - used["created_at"] >= 5_000_000
    said(await send(guard, "users/bob/sign-out"))
    assert [each["user"] for each in await listed(guard, "sessions")] == ["ada"]
    assert [each["sessions"] for each in await listed(guard)] == [1, 0]


async def test_one_persons_sessions_have_an_end_and_the_oldest_goes(guard: World) -> None:
    await user(guard)
    shown = [await cookie(guard) for _ in range(MOST_SESSIONS + 2)]
    known = [guard.now.guard.people.by_session(each) is not None for each in shown]
    assert known == [False, False, *[True] * MOST_SESSIONS]


@pytest.mark.parametrize(("key", "seconds"), [("idle_seconds", 100), ("session_seconds", 100)])
async def test_a_session_ends_when_it_is_idle_and_when_it_is_old(tmp_path: Path, key: str, seconds: int) -> None:
    async with world(tmp_path, **{f"people__{key}": seconds}) as guard:
        await user(guard)
        shown = await cookie(guard)
        people = guard.now.guard.people
        await guard.clock.advance(60)
        assert people.by_session(shown) is not None, "which counts as used"
        await guard.clock.advance(60)
        assert (people.by_session(shown) is not None) == (key == "idle_seconds")
        await guard.clock.advance(101)
        assert people.by_session(shown) is None
        await guard.clock.advance(61)
        await guard.settle()
        assert await listed(guard, "sessions") == []
        rows = await guard.now.store.readers.run(
            lambda connection: connection.exec_driver_sql("SELECT count(*) FROM sessions").scalar()
        )
        assert rows == 0, "and its row is gone"


async def test_a_session_outlives_a_restart_with_the_moment_when_it_was_used(tmp_path: Path) -> None:
    async with world(tmp_path) as guard:
        await user(guard)
        shown = await cookie(guard)
        await guard.clock.advance(1000)
        guard.now.guard.people.by_session(shown)
        program = await token(guard)
    async with world(tmp_path) as guard:
        (session,) = guard.now.guard.people.sessions()
        assert session.used_at - session.created_at >= 1_000_000_000
        found = guard.now.guard.people.by_session(shown)
        assert found is not None
        assert guard.now.guard.people.by_token(program) is not None
        assert guard.now.guard.people.holds(found)


async def test_that_a_session_was_used_is_written_once_a_minute(guard: World) -> None:
    await user(guard)
    shown = await cookie(guard)
    written = list[int]()
    submit = guard.now.store.writer.submit

    async def counted(work: Any, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - as it is called
        written.append(1)
        return await submit(work, *given, **named)

    guard.now.store.writer.submit = counted  # type: ignore[method-assign]
    for _ in range(50):
        guard.now.guard.people.by_session(shown)
    await guard.now.guard.people.tidy()
    await guard.now.guard.people.tidy()
    assert len(written) == 1


async def test_while_nothing_can_be_recorded_nobody_is_let_in_or_shut_out(guard: World) -> None:
    await user(guard)
    await user(guard, "bob", Role.VIEWER)
    shown, program = await cookie(guard, "bob"), await token(guard)
    (held,) = guard.now.guard.people.tokens()
    aside = await break_ledger(guard)
    for what, body in (
        ("users", {"name": "eve", "role": "viewer", "password": PASSWORD}),
        ("users/bob/disable", {}),
        ("users/bob/role", {"role": "admin"}),
        ("users/bob/sign-out", {}),
        (f"operators/{held.id}/revoke", {}),
        ("operators", {"name": "other", "role": "viewer"}),
    ):
        assert (await send(guard, what, **body)).status_code == 503
    people = guard.now.guard.people
    assert [each.name for each in people.users()] == ["ada", "bob"]
    found = people.by_session(shown)
    assert found is not None
    assert found.role is Role.VIEWER
    assert people.by_token(program) is not None
    aside.rename(guard.database)
    await guard.recovered()
    assert (await send(guard, "users/bob/disable")).status_code == 200
    assert people.by_session(shown) is None


async def test_what_was_stored_and_never_answered_is_found_with_the_next_change(
    guard: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store has it, and its answer did not reach us: whoever was disabled is not let in for long."""
    await user(guard)
    await user(guard, "bob", Role.VIEWER)
    shown = await cookie(guard, "bob")
    real = guard.now.ledger.transact

    async def late(work: Any) -> Any:  # noqa: ANN401 - as it is called
        await real(work)
        raise LedgerUnavailable("too late")

    with monkeypatch.context() as broken:
        broken.setattr(guard.now.ledger, "transact", late)
        assert (await send(guard, "users/bob/disable")).status_code == 503
        assert guard.now.guard.people.by_session(shown) is not None
        assert (await send(guard, "users", name="eve", role="viewer", password=PASSWORD)).status_code == 503
    await guard.now.guard.people.tidy()
    assert guard.now.guard.people.by_session(shown) is None
    assert [each["standing"] for each in await listed(guard)] == ["active", "disabled", "active"]
    with pytest.raises(UserTaken):
        await user(guard, "eve")


async def test_a_token_is_told_once_holds_for_its_time_and_can_be_revoked(guard: World) -> None:
    answer = await send(guard, "operators", name="ci", role="auditor", expires_in=100, why="nightly")
    made = said(answer, 201)
    assert answer.headers["cache-control"] == "no-store"
    shown = made.pop("token")
    assert shown.startswith("mcpo_")
    assert len(shown) == len("mcpo_") + 43, "256 bits"
    assert await listed(guard, "operators") == [made]
    people = guard.now.guard.people
    found = people.by_token(shown)
    assert found is not None
    assert (found.name, found.role, found.kind, found.recent) == ("ci", Role.AUDITOR, "token", False)
    assert people.holds(found)
    assert people.by_token(shown + "x") is None
    await guard.clock.advance(101)
    assert people.by_token(shown) is None
    assert not people.holds(found)
    problem(await send(guard, "operators", name="ci", role="viewer"), 409)
    said(await send(guard, f"operators/{made['id']}/revoke", why="over"))
    problem(await send(guard, f"operators/{made['id']}/revoke"), 404)
    again = said(await send(guard, "operators", name="ci", role="viewer"), 201)
    assert people.by_token(again["token"]) is not None
    said(await send(guard, f"operators/{again['id']}/revoke"))
    assert people.by_token(again["token"]) is None
    assert await listed(guard, "operators") == []
    added, revoked, *_ = records(guard, "operator")
    wanted = {"token": made["id"], "token_name": "ci", "role": "auditor", "expires": made["expires_at"]}
    assert {key: added[key] for key in (*wanted, "change", "why")} == wanted | {"change": "added", "why": "nightly"}
    assert (revoked["change"], revoked["token"], revoked["why"]) == ("revoked", made["id"], "over")


async def test_a_token_ends_after_ninety_days_unless_somebody_says_otherwise(guard: World) -> None:
    usual = said(await send(guard, "operators", name="usual", role="viewer"), 201)
    assert usual["expires_at"] - usual["created_at"] == 90 * 86_400_000_000
    endless = said(await send(guard, "operators", name="endless", role="viewer", expires_in=None), 201)
    assert endless["expires_at"] is None
    tokens = {token.name: token for token in guard.now.guard.people.tokens()}
    assert (tokens["usual"].holds(usual["expires_at"] - 1), tokens["usual"].holds(usual["expires_at"])) == (True, False)
    assert tokens["endless"].holds(endless["created_at"] + 10**18)


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "CI"},
        {"role": "operator"},
        {"expires_in": 0},
        {"expires_in": -1},
        {"expires_in": LONGEST_SECONDS + 1},
        {"expires_in": True},
        {"expires_in": "90d"},
        {"token": "mcpo_mine"},
    ],
    ids=str,
)
async def test_what_is_no_token_is_refused(guard: World, wrong: Json) -> None:
    answer = await guard.operator.post(f"{API}/operators", json={"name": "ci", "role": "viewer"} | wrong)
    assert answer.status_code == 422
    assert records(guard) == []
    assert await listed(guard, "operators") == []


async def test_how_many_tokens_there_may_be_has_an_end(guard: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operators, "MOST_TOKENS", 2)
    await token(guard, name="a")
    await token(guard, name="b")
    with pytest.raises(Undecidable, match="tokens, the maximum"):
        await token(guard, name="c")


async def test_the_link_of_the_first_start_is_told_until_there_is_somebody(guard: World) -> None:
    guard.now.guard.setting_up.console = "http://127.0.0.1:8080"
    made = said(await send(guard, "setup-link"), 201)
    assert made["url"].startswith("http://127.0.0.1:8080/setup?key=")
    assert made["seconds"] == 1800
    key = made["url"].partition("key=")[2]
    assert (await guard.network.get("/setup", params={"key": key})).status_code == 200
    await add(guard)
    told = problem(await send(guard, "setup-link"), 403)
    assert "an admin can add more" in told["detail"]
    assert (await guard.network.get("/setup", params={"key": key})).status_code == 404


async def test_a_last_admin_is_kept_whoever_asks(guard: World) -> None:
    await user(guard)
    for by in (BY, NARROW):
        with pytest.raises(LastAdmin):
            await guard.now.guard.users.disable("ada", by)


async def test_what_is_shown_by_one_is_nobodys_as_another(guard: World) -> None:
    """A session's value is no token, and the other way round: what is kept of each says what it is of."""
    await user(guard)
    shown, program = await cookie(guard), await token(guard)
    people = guard.now.guard.people
    assert people.by_token(shown) is people.by_token(f"mcpo_{shown}") is None
    assert people.by_session(program) is None
    guard.network.cookies.clear()
    assert (await guard.network.get("/", headers=bears(shown))).status_code == 401
    assert (await guard.network.get("/", headers=shows(program))).headers["location"] == "/login"
