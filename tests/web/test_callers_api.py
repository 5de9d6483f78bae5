"""Callers over REST: a token is told once and lies nowhere, what is granted is recorded, and who may do what."""

import os
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.capabilities import Effect
from mcpguard.guard.callers.grants import LONGEST_SECONDS, MOST_CALLERS
from mcpguard.web.api.api_door import Api
from mcpguard.web.operator import operator_app
from tests.clock import START
from tests.web.reviewing import Json, problem, said
from tests.world import World, files, world

pytestmark = pytest.mark.anyio
CALLERS = "/api/v1/callers"
READING = {"servers": ["*"], "tools": ["*"], "effects": ["read"]}


async def add(guard: World, name: str = "agent", **more: Any) -> Json:  # noqa: ANN401 - JSON
    added: Json = said(await guard.operator.post(CALLERS, json={"name": name, **more}), 201)
    return added


async def revoke(guard: World, caller: Json, **more: Any) -> httpx2.Response:  # noqa: ANN401 - JSON
    return await guard.operator.post(f"{CALLERS}/{caller['id']}/revoke", json=more)


async def listed(guard: World) -> list[Json]:
    found: list[Json] = said(await guard.operator.get(CALLERS, params={"limit": 1000}))["callers"]
    return found


def records(guard: World) -> list[Json]:
    return [record for record in guard.said() if record["kind"] in ("granted", "revoked")]


async def test_who_is_let_in_gets_a_token_and_by_default_may_only_read(guard: World) -> None:
    answer = await guard.operator.post(CALLERS, json={"name": "agent"})
    caller = said(answer, 201)
    assert answer.headers["cache-control"] == "no-store"
    token = caller.pop("token")
    assert token.startswith("mcpg_")
    assert len(token) == len("mcpg_") + 43, "256 bits"
    assert {key: caller[key] for key in READING} == READING
    assert (caller["standing"], caller["expires_at"], caller["must_declare"], caller["manage"]) == (
        "active",
        caller["created_at"] + 90 * 86_400_000_000,
        False,
        False,
    )
    assert await listed(guard) == [caller]
    found = guard.now.guard.callers.caller_of_token(token)
    assert found == Caller(caller["id"], "agent", Scope(("*",), ("*",), frozenset({Effect.READ})))
    assert guard.now.guard.callers.caller_of_token(token + "x") is None


async def test_who_is_let_in_for_ever_is_so_because_somebody_said_so(guard: World) -> None:
    assert (await add(guard, expires_in=None))["expires_at"] is None
    (record,) = records(guard)
    assert "expires" not in record


async def test_what_is_granted_is_exactly_what_was_asked_for_and_is_recorded(guard: World) -> None:
    asked: Json = {"servers": ["web", "files-*"], "tools": ["tool:read_*", "note://*"], "effects": ["write", "read"]}
    marks: Json = {"must_declare": True, "manage": True}
    caller = await add(guard, **asked, **marks, expires_in=3600, why="ticket 4711")
    reach = {"servers": asked["servers"], "tools": asked["tools"], "effects": ["read", "write"]}
    assert {key: caller[key] for key in (*reach, *marks)} == reach | marks
    assert 0 <= caller["expires_at"] - 3_600_000_000 - START < 1_000_000
    (record,) = records(guard)
    assert {key: record[key] for key in record if key not in ("v", "chain", "seq", "at", "process")} == {
        "kind": "granted",
        "caller": caller["id"],
        "caller_label": "agent",
        "servers": "web\nfiles-*",
        "tools": "tool:read_*\nnote://*",
        "effects": "read write",
        "expires": caller["expires_at"],
        "why": "ticket 4711",
        "by": caller["created_by"],
        "via": "operator socket",
        **marks,
    }
    assert caller["created_by"].startswith(f"uid:{os.getuid()}")


async def test_who_is_revoked_is_nobody_from_then_on_and_the_name_is_free(guard: World) -> None:
    caller = await add(guard)
    gone = said(await revoke(guard, caller, why="left"))
    assert (gone["id"], gone["standing"]) == (caller["id"], "revoked")
    assert "token" not in gone
    assert await listed(guard) == []
    assert guard.now.guard.callers.caller_of_token(caller["token"]) is None
    granted, revoked = records(guard)
    assert (revoked["kind"], revoked["caller"], revoked["why"]) == ("revoked", caller["id"], "left")
    told = problem(await revoke(guard, caller), 404)
    assert told["type"] == "urn:mcpguard:caller-unknown"
    assert records(guard) == [granted, revoked], "and nothing happened"
    again = await add(guard)
    assert again["id"] != caller["id"]
    assert again["token"] != caller["token"]
    assert guard.now.guard.callers.caller_of_token(caller["token"]) is None


async def test_a_name_is_one_callers(guard: World) -> None:
    caller = await add(guard, expires_in=1)
    told = problem(await guard.operator.post(CALLERS, json={"name": "agent"}), 409)
    assert told["type"] == "urn:mcpguard:label-taken"
    await guard.clock.advance(2)
    problem(await guard.operator.post(CALLERS, json={"name": "agent"}), 409)
    (still,) = await listed(guard)
    assert (still["id"], still["standing"]) == (caller["id"], "expired")
    assert len(records(guard)) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "anonymous"},
        {"name": "Agent"},
        {"name": "-x"},
        {"name": "x" * 64},
        {"name": "a\n"},
        {"name": "x", "servers": []},
        {"name": "x", "tools": []},
        {"name": "x", "effects": []},
        {"name": "x", "effects": ["harmless"]},
        {"name": "x", "servers": ["[a-z]"]},
        {"name": "x", "tools": [""]},
        {"name": "x", "tools": ["a" * 201]},
        {"name": "x", "servers": ["a"] * 51},
        {"name": "x", "expires_in": 0},
        {"name": "x", "expires_in": -1},
        {"name": "x", "expires_in": LONGEST_SECONDS + 1},
        {"name": "x", "expires_in": "30"},
        {"name": "x", "manage": 1},
        {"name": "x", "why": "y" * 2001},
        {"name": "x", "token": "mcpg_mine"},
        {},
    ],
    ids=lambda wrong: str(wrong)[:60],
)
async def test_what_does_not_have_its_form_lets_nobody_in(guard: World, wrong: Json) -> None:
    problem(await guard.operator.post(CALLERS, json=wrong), 422)
    assert await listed(guard) == []
    assert records(guard) == []


async def test_there_are_only_so_many(guard: World) -> None:
    for number in range(MOST_CALLERS):
        await add(guard, f"agent-{number}")
    told = problem(await guard.operator.post(CALLERS, json={"name": "more"}), 422)
    assert "revoke one first" in told["detail"]
    assert len(await listed(guard)) == MOST_CALLERS


async def test_a_shell_that_may_only_tighten_revokes_and_lets_nobody_in(tmp_path: Path) -> None:
    async with world(tmp_path) as guard:
        caller = await add(guard)
    async with world(tmp_path, authority__shell="tighten") as guard:
        problem(await guard.operator.post(CALLERS, json={"name": "more"}), 403)
        assert [each["id"] for each in await listed(guard)] == [caller["id"]]
        assert [each["kind"] for each in records(guard)] == ["granted"], "and nothing happened"
        assert said(await revoke(guard, caller))["standing"] == "revoked"


async def test_whoever_is_not_known_does_neither(guard: World) -> None:
    caller = await add(guard)
    nobody = operator_app(guard.now.guard, Api(guard.now.guard), guard.new_id)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(nobody), base_url="http://operator") as client:
        problem(await client.post(CALLERS, json={"name": "more"}), 401)
        problem(await client.post(f"{CALLERS}/{caller['id']}/revoke", json={}), 401)
    assert [each["id"] for each in await listed(guard)] == [caller["id"]]
    assert len(records(guard)) == 1


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_the_network_has_none_of_this_for_nobody(guard: World, method: str) -> None:
    problem(await guard.network.request(method, CALLERS), 401)


async def test_while_nothing_can_be_recorded_nobody_comes_or_goes(guard: World) -> None:
    caller = await add(guard)
    await guard.now.store.writer.submit(lambda c: c.exec_driver_sql("PRAGMA query_only=ON").close())
    problem(await guard.operator.post(CALLERS, json={"name": "more"}), 503)
    problem(await revoke(guard, caller), 503)
    assert [each["id"] for each in await listed(guard)] == [caller["id"]]
    assert guard.now.guard.callers.caller_of_token(caller["token"]) is not None
    await guard.recovered()
    assert said(await revoke(guard, caller))["standing"] == "revoked"
    assert [each["kind"] for each in records(guard)] == ["granted", "revoked"]


async def test_what_anonymous_may_do_is_shown(tmp_path: Path) -> None:
    async with world(tmp_path, anonymous__servers=["web"], anonymous__effects=["read"]) as guard:
        anonymous = said(await guard.operator.get(CALLERS))["anonymous"]
        assert anonymous == {"enabled": True, "servers": ["web"], "tools": ["*"], "effects": ["read"]}
    async with world(tmp_path, anonymous__enabled=False) as guard:
        assert said(await guard.operator.get(CALLERS))["anonymous"]["enabled"] is False


async def test_a_restart_keeps_callers_and_forgets_nothing_that_was_revoked(tmp_path: Path) -> None:
    async with world(tmp_path) as guard:
        kept = await add(guard, "kept", servers=["web"], effects=["write"], must_declare=True, expires_in=100)
        gone = await add(guard, "gone")
        await revoke(guard, gone)
    async with world(tmp_path) as guard:
        (found,) = await listed(guard)
        assert found | {"token": kept["token"]} == kept
        known = guard.now.guard.callers
        assert known.caller_of_token(gone["token"]) is None
        mine = known.caller_of_token(kept["token"])
        assert mine is not None
        assert (mine.id, mine.scope.servers, mine.must_declare) == (kept["id"], ("web",), True)
        await guard.clock.advance(101)
        assert known.caller_of_token(kept["token"]) is None


async def test_a_token_lies_nowhere(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Not in the database, its WAL, a copy of it, a record, a log or any other file, whole or in part."""
    async with world(tmp_path) as guard:
        token = (await add(guard, why="for the canary"))["token"]
        assert guard.now.guard.callers.caller_of_token(token) is not None
        await guard.operator.get(CALLERS)
        await guard.settle()
        places = files(tmp_path)
        assert any(path.name.endswith("-wal") for path in places)
        secret = token.removeprefix("mcpg_").encode()
        for path in places:
            content = path.read_bytes()
            assert secret not in content, path
            assert secret[:20] not in content, path
        assert secret.decode() not in "".join(capfd.readouterr())
