"""`/api/v1/scripts` and `/programs`: changes rest on the revision that was seen; what is only checked does not run."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from mcpguard.domain.people import Role
from tests.attacks.sandboxed import works
from tests.web.rest import API, program, seen
from tests.world import World, world

pytestmark = pytest.mark.anyio
NEW = {"name": "one", "code": "1"}


@pytest.fixture
async def runs(tmp_path: Path) -> AsyncIterator[World]:
    """A guard that may run programs."""
    works()
    async with world(tmp_path, code__enabled=True) as guard:
        yield guard


def kinds(guard: World) -> list[str]:
    return [record["kind"] for record in guard.said() if record["kind"] in ("script", "ran", "ended_run")]


async def test_a_script_is_added_changed_and_removed_by_the_revision_that_was_seen(runs: World) -> None:
    by = await program(runs, Role.APPROVER)
    added = await runs.network.post(f"{API}/scripts", json=NEW, headers=by)
    assert (added.status_code, added.headers["location"], added.headers["etag"]) == (201, f"{API}/scripts/one", '"1"')
    assert (added.json()["standing"], added.json()["tools"]) == ("pending", [])
    again = await runs.network.post(f"{API}/scripts", json=NEW, headers=by)
    assert (again.status_code, again.json()["type"]) == (409, "urn:mcpguard:stale")
    resting = await seen(runs, "/scripts/one", by)
    change = {"code": "2", "revision": 1}
    bare = await runs.network.put(f"{API}/scripts/one", json=change, headers=by)
    assert bare.status_code == 428
    changed = await runs.network.put(f"{API}/scripts/one", json=change, headers=resting)
    assert (changed.status_code, changed.json()["revision"], changed.json()["code"]) == (200, 2, "2")
    late = await runs.network.put(f"{API}/scripts/one", json=change, headers=resting)
    assert late.status_code == 412
    assert (await runs.network.delete(f"{API}/scripts/one?revision=2", headers=resting)).status_code == 412
    resting = await seen(runs, "/scripts/one", by)
    assert (await runs.network.delete(f"{API}/scripts/one?revision=2", headers=resting)).status_code == 204
    assert (await runs.network.get(f"{API}/scripts/one", headers=by)).status_code == 404
    assert kinds(runs) == ["script"] * 3


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "A B"},
        {"code": ""},
        {"code": "1 +"},
        {"input_schema": {"type": "array"}},
        {"tools": ["x"]},
        {"tools": ["web:nothing"]},
        {"more": 1},
    ],
)
async def test_what_is_no_script_is_refused_and_nothing_is_stored(runs: World, wrong: dict[str, Any]) -> None:
    by = await program(runs)
    answer = await runs.network.post(f"{API}/scripts", json=NEW | wrong, headers=by)
    assert answer.status_code == 422, answer.text
    assert (await runs.network.get(f"{API}/scripts", headers=by)).json() == {"server": None, "scripts": []}
    assert kinds(runs) == []


async def test_a_check_tells_what_a_program_names_and_runs_nothing(runs: World) -> None:
    by = await program(runs, Role.APPROVER)
    code = 'call_tool("web", "look")\nlog("ran")'
    checked = await runs.network.post(f"{API}/programs/check", json={"code": code}, headers=by)
    assert checked.json() == {"named": [{"name": "web:look", "effect": None}], "error": None}
    wrong = await runs.network.post(f"{API}/programs/check", json={"code": "a = 1\nb = ("}, headers=by)
    assert (wrong.json()["error"]["code"], wrong.json()["error"]["line"]) == ("SYNTAX_ERROR", 2)
    assert kinds(runs) == []


async def test_an_admin_runs_a_program_in_the_name_of_a_caller(runs: World) -> None:
    by = await program(runs)
    await runs.network.post(f"{API}/callers", json={"name": "bot", "why": "for a test"}, headers=by)
    wanted = {"caller": "bot", "code": 'log("x")\ncall_tool("web", "look")["ok"]', "input": 1}
    ended = (await runs.network.post(f"{API}/programs/run", json=wanted, headers=by)).json()
    assert (ended["ok"], ended["value"], ended["logs"]) == (True, False, ["x"])
    assert [(call["name"], call["reason"]) for call in ended["calls"]] == [("web:look", "capability:unknown")]
    assert kinds(runs) == ["ran", "ended_run"]
    (ran,) = [record for record in runs.said() if record["kind"] == "ran"]
    assert (ran["face"], ran["by"].rpartition(" ")[2], ran["caller_label"]) == ("api", "(ci)", "bot")
    assert (
        await runs.network.post(f"{API}/programs/run", json=wanted | {"caller": "x"}, headers=by)
    ).status_code == 404
    approver = await program(runs, Role.APPROVER, "less")
    assert (await runs.network.post(f"{API}/programs/run", json=wanted, headers=approver)).status_code == 403
    assert kinds(runs) == ["ran", "ended_run"]


async def test_where_programs_are_off_each_route_says_so(guard: World) -> None:
    by = await program(guard)
    for path, body in (
        ("/programs/check", {"code": "1"}),
        ("/programs/run", {"caller": "x", "code": "1"}),
        ("/scripts", NEW),
    ):
        answer = await guard.network.post(API + path, json=body, headers=by)
        assert answer.status_code == 422
        assert "code.enabled" in answer.json()["detail"]
    assert (await guard.network.get(f"{API}/scripts", headers=by)).json() == {"server": None, "scripts": []}
    assert kinds(guard) == []
