"""Calls at a server: they wait their turn, run late, are taken back, or are refused; and the server is told."""

from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from mcpguard.domain.servers.launches import Era
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.protocol.calls_in_flight import Busy, Overdue
from mcpguard.upstreams.supervise.fleet import Unreachable
from tests.patience import PATIENCE
from tests.simulators.asked import Asked
from tests.simulators.script import Script
from tests.upstreams.calling import Calls
from tests.upstreams.flock import flock, plain, played, reaching, settled

pytestmark = pytest.mark.anyio


WAYS = [("stdio", Era.LEGACY), ("stdio", Era.MODERN), ("http", Era.LEGACY), ("http", Era.MODERN), ("sse", Era.LEGACY)]


async def test_a_server_gets_so_many_calls_at_once_and_so_many_wait() -> None:
    script = Script()
    async with flock({"a": script}, concurrency=2, queue=3) as kept, anyio.create_task_group() as tasks:
        await kept.ready("a")
        calls = Calls(kept)
        for _ in range(5):
            tasks.start_soon(calls.make)
        await script.until(lambda: script.held == 2)
        await settled()
        with pytest.raises(Busy, match="3 calls are waiting for this server already"):
            await kept.call("a")
        assert len(script.called("tools/call")) == 2, "nothing of the others was sent"
        calls.scopes[3].cancel()
        await calls.until(1)
        tasks.start_soon(calls.make, "a", "echo")
        while script.held or len(calls.ended) < 6:
            script.go()
            await checkpoint()
        assert calls.ended.count("answered") == 5
        assert len(script.called("tools/call")) == 5, "whoever gave up was never sent"


async def test_a_full_server_fills_no_other() -> None:
    scripts = {"full": Script(), "free": Script()}
    async with flock(scripts, concurrency=1, queue=0) as kept, anyio.create_task_group() as tasks:
        await kept.ready(*scripts)
        tasks.start_soon(kept.call, "full", "slow")
        await scripts["full"].until(lambda: scripts["full"].held)
        with pytest.raises(Busy):
            await kept.call("full")
        assert await kept.call("free")
        scripts["full"].go()


@pytest.mark.parametrize(("how", "era"), WAYS)
async def test_a_call_over_its_time_ends_and_the_server_is_told(how: str, era: Era, tmp_path: Path) -> None:
    script = Script()
    async with (
        played(how, script, tmp_path, era=era, timeout=1) as server,
        flock(reaching(tmp_path), server) as kept,
    ):
        await kept.ready("a")
        with pytest.raises(Overdue):
            await kept.call("a", "slow")
        await taken_back(script)
        await kept.until_idle("a")
        assert kept.state("a") == "ready"


@pytest.mark.parametrize(("how", "era"), WAYS)
async def test_a_call_that_is_taken_back_is_taken_back_at_the_server(how: str, era: Era, tmp_path: Path) -> None:
    script = Script()
    async with (
        played(how, script, tmp_path, era=era) as server,
        flock(reaching(tmp_path), server) as kept,
        anyio.create_task_group() as tasks,
    ):
        await kept.ready("a")
        calls = Calls(kept)
        tasks.start_soon(calls.make)
        tasks.start_soon(calls.make, "a", "slow")
        await script.until(lambda: script.held == 2)
        calls.scopes[0].cancel()
        await taken_back(script)
        script.go()
        await calls.until(2)
        assert calls.ended == ["cancelled", "answered"], "the other one was left alone"
        assert kept.state("a") == "ready"


async def taken_back(script: Script) -> None:
    with anyio.fail_after(PATIENCE):
        await script.until(lambda: script.abandoned)
    (message,) = script.abandoned
    assert message["params"]["name"] == "slow"


async def test_a_late_answer_is_nobodys() -> None:
    script = Script("legacy")

    async def deaf(asked: Asked) -> str:
        with anyio.CancelScope(shield=True):
            await asked.script.hold()
        return "too late"

    script.tool("slow", deaf)
    async with flock({"a": script}, plain("a", timeout=1)) as kept:
        await kept.ready("a")
        with pytest.raises(Overdue):
            await kept.call("a", "slow")
        script.go()
        assert (await kept.call("a", "echo", {"n": 1}))["structuredContent"] == {"n": 1}


@pytest.mark.parametrize("name", ["unknown", "", "a:b", "bad"])
async def test_what_is_not_connected_is_unreachable(name: str) -> None:
    script = Script()
    async with flock({"a": script, "bad": TransportEnded("nobody")}) as kept:
        await kept.ready("a")
        await kept.stands("error", "bad")
        with pytest.raises(Unreachable):
            await kept.call(name)
        assert script.called("tools/call") == []
