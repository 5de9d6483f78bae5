"""The fleet: servers come, change and go while the others work."""

import sys
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from mcpguard.domain.servers.connections import ConnectionState
from mcpguard.domain.servers.launches import DeclaredServer, Profile, StdioLaunch, Templates
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.supervise.fleet import Unreachable
from tests.process import gone
from tests.simulators.asked import Asked
from tests.simulators.over_http import serving_http
from tests.simulators.processes import controlled
from tests.simulators.script import Script
from tests.upstreams.calling import Calls
from tests.upstreams.flock import flock, plain, process, reaching, remote, settled

pytestmark = pytest.mark.anyio


# Starting and failing.


async def test_many_processes_start_side_by_side(tmp_path: Path) -> None:
    """None is ready before all of them were started."""
    script = Script("modern")
    names = [f"s{number}" for number in range(20)]

    async def greet(asked: Asked) -> dict[str, object]:
        await asked.script.hold()
        return {"supportedVersions": ["2026-07-28"], "capabilities": script.capabilities}

    script.answers["server/discover"] = greet
    async with controlled(script, tmp_path) as server:
        async with flock(reaching(tmp_path), *(process(name, server) for name in names)) as kept:
            await script.until(lambda: script.held == len(names))
            assert [kept.state(name) for name in names] == ["starting"] * len(names)
            script.go()
            await kept.ready(*names)
            pids = [started.pid for started in server.processes]
            assert len({*pids}) == len(names)
        assert all(gone(pid) for pid in pids)


async def test_fifty_that_fail_at_once_wait_and_do_nothing_else() -> None:
    names = [f"bad{number}" for number in range(50)]
    scripts: dict[str, Script | BaseException] = {name: TransportEnded("nobody is there") for name in names}
    async with flock({**scripts, "good": Script()}, retry_seconds=1) as kept:
        await kept.stands("error", *names)
        await kept.ready("good")
        for _ in range(1000):
            await checkpoint()
        assert len(kept.wires.reached) == 51, "each was tried once"
        assert await kept.call("good")
        told = len(kept.news)
        await kept.clock.advance(0.5)
        await kept.until(lambda: all(kept.times(name, ConnectionState.ERROR) == 2 for name in names))
        assert len(kept.wires.reached) == 101
        assert len(kept.news) == told + 100


async def test_they_do_not_all_come_back_at_the_same_moment() -> None:
    names = [f"bad{number}" for number in range(50)]
    drawn = iter([number / 50 for number in range(50)])
    scripts: dict[str, Script | BaseException] = {name: TransportEnded("nobody is there") for name in names}
    async with flock(scripts, jitter=lambda: next(drawn), retry_seconds=1) as kept:
        await kept.stands("error", *names)
        moments = {kept.condition(name).next_try for name in names}
        assert len(moments) == 50
        assert 400_000 < max(filter(None, moments)) - min(filter(None, moments)) < 500_000


# Coming, changing and going.


async def test_what_is_no_longer_wanted_is_unreachable_at_once_and_then_gone(tmp_path: Path) -> None:
    script = Script()
    async with (
        controlled(script, tmp_path) as server,
        flock(reaching(tmp_path), process("a", server), concurrency=1) as kept,
        anyio.create_task_group() as tasks,
    ):
        await kept.ready("a")
        calls = Calls(kept)
        for _ in range(3):
            tasks.start_soon(calls.make)
        await script.until(lambda: script.held == 1)
        await settled()
        kept.fleet.want([])
        with pytest.raises(Unreachable):
            kept.fleet.free_turn("a", "caller", None)
        with pytest.raises(Unreachable):
            await kept.call("a")
        await calls.until(3)
        assert calls.ended == ["TransportEnded", "Unreachable", "Unreachable"]
        await kept.until(lambda: kept.removed("a"))
        assert gone(server.process.pid)
        assert kept.fleet.condition("a") is None
        assert not kept.fleet.restart("a")
        assert len(script.called("tools/call")) == 1
        await kept.clock.advance(3600)
        assert len(server.processes) == 1


async def test_what_stays_as_it_is_is_left_alone() -> None:
    async with flock({"a": Script(), "b": Script()}) as kept:
        await kept.ready("a", "b")
        for wanted in ([plain("a"), plain("b")], [plain("a")], [plain("a"), plain("b", timeout=7)], [plain("a")]):
            kept.fleet.want(wanted)
            await settled()
        assert kept.stood("a") == ["starting", "ready"]
        assert kept.removed("b")


async def test_what_is_switched_off_is_stopped_and_can_be_switched_on_again() -> None:
    async with flock({"a": Script()}) as kept:
        await kept.ready("a")
        kept.fleet.want([plain("a", enabled=False)])
        await kept.until(lambda: kept.removed("a"))
        assert kept.wires.open == {}
        kept.fleet.want([plain("a")])
        await kept.ready("a")


async def test_a_new_one_is_started_while_the_others_run() -> None:
    async with flock({"a": Script(), "b": Script()}, plain("a")) as kept:
        await kept.ready("a")
        kept.fleet.want([plain("a"), plain("b")])
        await kept.ready("b")
        assert kept.stood("a") == ["starting", "ready"]


async def test_a_name_that_goes_and_comes_back_in_one_breath_is_there() -> None:
    async with flock({"a": Script()}) as kept:
        for wanted in ([], [plain("a")], [plain("a", timeout=1)], [], [plain("a", timeout=2)]):
            kept.fleet.want(wanted)
        await kept.ready("a")
        kept.fleet.want([])
        kept.fleet.want([plain("a", timeout=3)])
        assert kept.state("a") == "starting", "nobody reaches the old one by the new name"
        await kept.ready("a")
        assert await kept.call("a")
        assert len(kept.wires.open) == 1


LOCKED = """
import fcntl, os, pathlib, sys
lock = open("lock", "a")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    pathlib.Path("twice").touch()
os.set_inheritable(lock.fileno(), True)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


async def test_what_changed_is_stopped_before_it_is_started_anew(tmp_path: Path) -> None:
    """Two of a name would fight over their files. The lock is held for as long as the process lives."""
    async with controlled(Script(), tmp_path) as server:

        def version(number: int) -> DeclaredServer:
            arguments = ("-I", "-S", "-c", LOCKED, *server.arguments)
            environment = Templates({"VERSION": str(number)})
            return DeclaredServer(
                "a", "a", StdioLaunch(sys.executable, arguments, environment, str(tmp_path), profile=Profile.NONE)
            )

        async with flock(reaching(tmp_path), version(0)) as kept:
            await kept.ready("a")
            for number in range(1, 6):
                kept.fleet.want([version(number)])
                if number % 2:
                    await kept.until(lambda count=number: kept.times("a", ConnectionState.STARTING) > count)  # type: ignore[misc]
                else:
                    await kept.ready("a")
            await kept.ready("a")
            assert not (tmp_path / "twice").exists()
            assert [gone(each.pid) for each in server.processes] == [True] * (len(server.processes) - 1) + [False]
            environment = Path(f"/proc/{server.process.pid}/environ").read_bytes()  # noqa: ASYNC240 - no disk
            assert b"VERSION=5" in environment


async def test_a_change_does_not_wait_for_the_end_of_a_pause() -> None:
    """A configuration that was put right is tried at once."""
    scripts: dict[str, Script | BaseException] = {"a": TransportEnded("wrong")}
    async with flock(scripts, retry_seconds=600) as kept:
        await kept.stands("error", "a")
        kept.wires.scripts["a"] = Script()
        kept.fleet.want([plain("a", timeout=1)])
        await kept.ready("a")


async def test_one_that_takes_its_time_to_stop_delays_no_other() -> None:
    leave, left = anyio.Event(), anyio.Event()

    async def stubborn(asked: Asked) -> str:
        try:
            await asked.script.hold()
        finally:
            with anyio.CancelScope(shield=True):
                await leave.wait()
            left.set()
        return "never"

    bad = Script()
    bad.tool("slow", stubborn)
    async with flock({"bad": bad, "good": Script()}) as kept, anyio.create_task_group() as tasks:
        await kept.ready("bad", "good")
        calls = Calls(kept)
        tasks.start_soon(calls.make, "bad")
        await bad.until(lambda: bad.held)
        kept.fleet.want([plain("good", timeout=5)])
        await kept.until(lambda: kept.times("good", ConnectionState.READY) == 2)
        assert await kept.call("good")
        assert not kept.removed("bad")
        leave.set()
        await kept.until(lambda: kept.removed("bad"))
        assert left.is_set()


async def test_nothing_is_left_when_the_fleet_stops(tmp_path: Path) -> None:
    script = Script()
    async with (
        controlled(script, tmp_path) as server,
        serving_http(script) as url,
        anyio.create_task_group() as tasks,
    ):
        async with flock(reaching(tmp_path), process("p", server), remote("h", url)) as kept:
            await kept.ready("p", "h")
            calls = Calls(kept)
            tasks.start_soon(calls.make, "p")
            tasks.start_soon(calls.make, "h")
            await script.until(lambda: script.held == 2)
        assert gone(server.process.pid)
        await calls.until(2)
        assert set(calls.ended) <= {"TransportEnded", "Unsent"}
        assert (kept.stood("p")[-1], kept.stood("h")[-1]) == ("disconnected", "disconnected")
