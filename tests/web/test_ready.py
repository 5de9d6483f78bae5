"""`/readyz` at a start and later: it waits for the approved servers, but for none for ever, and for none again."""

import sys
from pathlib import Path

import anyio
import httpx2
import pytest
from anyio.lowlevel import checkpoint

from mcpguard.domain.people import Role
from tests.patience import PATIENCE
from tests.process import ROOT
from tests.review import approved
from tests.web.rest import browser, program
from tests.web.reviewing import add
from tests.world import World, world

pytestmark = pytest.mark.anyio
TRACED = """
import pathlib, sys, time
trace = pathlib.Path(sys.argv[1])
if (trace / "broken").exists():
    sys.exit(3)
while (trace / "slow").exists():
    time.sleep(0.01)
from mcpguard.demo.__main__ import main
main(["honest"], {})
"""
READY = {"status": "ready"}
ONE = {"not_connected": 1}
NAMED = {"not_connected": 1, "servers": ["notes"]}


async def reviewed(folder: Path) -> None:
    """A guard ran here, and a person approved a server."""
    async with world(folder) as guard:
        words = ["-c", TRACED, str(folder)]
        await add(guard, command=sys.executable, args=words, cwd=str(ROOT), sandbox="none")
        assert await approved(guard.now, "notes") == ""


async def until_ready(guard: World) -> httpx2.Response:
    with anyio.fail_after(PATIENCE):
        while (answer := await guard.network.get("/readyz")).status_code == 503:
            assert answer.json()["status"] == "starting"
            assert answer.headers["retry-after"] == "1"
            await checkpoint()
    return answer


async def test_a_server_that_does_not_answer_is_waited_for_and_then_no_longer(tmp_path: Path) -> None:
    await reviewed(tmp_path)
    (tmp_path / "slow").touch()
    async with world(tmp_path) as guard:
        await guard.clock.advance(4)
        answer = await guard.network.get("/readyz")
        assert (answer.status_code, answer.json()["status"]) == (503, "starting")
        assert (await guard.network.get("/healthz")).status_code == 200
        await guard.clock.advance(1)
        answer = await guard.network.get("/readyz")
        assert (answer.status_code, answer.json()) == (200, READY | ONE)
        (tmp_path / "slow").unlink()


async def test_one_that_cannot_be_started_was_tried(tmp_path: Path) -> None:
    await reviewed(tmp_path)
    (tmp_path / "broken").touch()
    async with world(tmp_path) as guard:
        assert (await until_ready(guard)).json() == READY | ONE


async def test_it_is_ready_once_all_are_connected_and_stays_so_when_one_falls(tmp_path: Path) -> None:
    await reviewed(tmp_path)
    async with world(tmp_path) as guard:
        assert (await until_ready(guard)).json() == READY
        (tmp_path / "broken").touch()
        assert guard.now.fleet.restart("notes")
        with anyio.fail_after(PATIENCE):
            while (answer := await guard.network.get("/readyz")).json() == READY:
                await checkpoint()
        assert (answer.status_code, answer.json()) == (200, READY | ONE)


async def test_one_that_is_approved_while_the_guard_runs_makes_it_wait_for_nothing(tmp_path: Path) -> None:
    (tmp_path / "slow").touch()
    async with world(tmp_path) as guard:
        assert (await guard.network.get("/readyz")).json() == READY
        await add(guard, command=sys.executable, args=["-c", TRACED, str(tmp_path)], cwd=str(ROOT), sandbox="none")
        assert (await guard.network.get("/readyz")).json() == READY, "nobody approved it"
        (tmp_path / "slow").unlink()
        assert await approved(guard.now, "notes") == ""
        assert (await guard.network.get("/readyz")).status_code == 200


async def test_names_are_for_the_operators_socket_and_for_whoever_may_look_at_servers(tmp_path: Path) -> None:
    await reviewed(tmp_path)
    (tmp_path / "broken").touch()
    async with world(tmp_path) as guard:
        assert "notes" not in (await until_ready(guard)).text
        by = [await browser(guard, Role.VIEWER), await program(guard, Role.VIEWER)]
        assert (await guard.operator.get("/readyz")).json() == READY | NAMED
        for headers in by:
            assert (await guard.network.get("/readyz", headers=headers)).json() == READY | NAMED
        guard.network.cookies.clear()
        assert (await guard.network.get("/readyz")).json() == READY | ONE, "nobody has said who they are"
