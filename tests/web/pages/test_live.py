"""The stream of what changed: numbers only, to those who may see them, and to nobody who may no longer look."""

import json
from pathlib import Path

import anyio
import pytest

from mcpguard.domain.people import Role
from mcpguard.web.pages.agents.live import event
from tests import people
from tests.gate import Gate
from tests.gateway.holding import HELD, Making, held
from tests.gateway.speaking import guarded
from tests.simulators.script import Script
from tests.web.pages.reading import Sends, somebody
from tests.world import World

pytestmark = pytest.mark.anyio


async def first(lines: object, word: str) -> str:
    """What comes first of a stream that begins so."""
    async for line in lines:  # type: ignore[attr-defined]
        if line.startswith(word):
            return str(line)
    raise AssertionError(f"the stream ended before {word}")


def stream(guard: Gate, by: Sends) -> object:
    return guard.http.stream("GET", f"{guard.where.url}/live", headers=by)


async def test_a_call_that_waits_is_told_to_those_who_look(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script(), **HELD) as guard, anyio.create_task_group() as tasks:
        by = await somebody(guard, Role.AUDITOR)
        async with stream(guard, by) as answer:  # type: ignore[attr-defined]
            assert answer.headers["content-type"].startswith("text/event-stream")
            lines = answer.aiter_lines()
            said = json.loads((await first(lines, "data: ")).removeprefix("data: "))
            assert (said["counts"]["held"], said["ready"]) == (0, True)
            tasks.start_soon(Making(guard.client()))
            await held(guard)
            while said["counts"]["held"] == 0:
                await guard.clock.advance(0.25)
                said = json.loads((await first(lines, "data: ")).removeprefix("data: "))
            assert said["counts"]["held"] == said["counts"]["inbox"] == 1
            assert said["records"] == guard.now.guard.depth().records
        tasks.cancel_scope.cancel()


async def test_it_ends_when_they_may_no_longer_look(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        by = await somebody(guard)
        async with stream(guard, by) as answer:  # type: ignore[attr-defined]
            lines = answer.aiter_lines()
            await first(lines, "data: ")
            await guard.now.guard.users.disable("ada", people.BY)
            await guard.clock.advance(0.25)
            assert await first(lines, "event: over")


async def test_a_viewer_is_told_nothing_of_calls(guard: World) -> None:
    await people.user(guard, role=Role.VIEWER)
    shown = await people.cookie(guard)
    me = guard.now.guard.people.by_session(shown)
    assert me is not None
    said = event(guard.now.guard, me)
    assert said.startswith(b"id: 0\n")
    assert json.loads(said.split(b"data: ")[1]) == {
        "counts": {"inbox": 0, "servers": 0, "findings": 0},
        "ready": True,
        "records": 0,
    }


async def test_nobody_hears_anything(guard: World) -> None:
    answer = await guard.network.get("/live")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?back=%2Flive")


async def test_it_ends_for_a_token_that_is_revoked(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        token, shown = await guard.now.guard.operators.add("ci", Role.VIEWER, None, people.BY)
        async with stream(guard, people.bears(shown)) as answer:  # type: ignore[attr-defined]
            lines = answer.aiter_lines()
            await first(lines, "data: ")
            await guard.now.guard.operators.revoke(token.id, people.BY)
            await guard.clock.advance(0.25)
            assert await first(lines, "event: over")
