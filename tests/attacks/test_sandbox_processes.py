"""From inside a sandbox: other processes, what they know, and more of the machine than was granted."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from mcpguard.domain.servers.launches import Profile
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.process.tree import descendants
from mcpguard.upstreams.sandbox.bwrap_command import HOME, SHARED_MEMORY, TEMPORARY
from mcpguard.upstreams.sandbox.limits import MEBIBYTE, ProcessLimits
from mcpguard.upstreams.sandbox.memory_watch import EVERY, watch_memory
from tests.attacks.sandboxed import EACH_PROFILE, here, started, told, tried, works
from tests.patience import PATIENCE
from tests.process import ROOT, gone, until

pytestmark = pytest.mark.anyio
CANARY = "canary-7d31"
STARTS_ONE = """
import os, sys
from pathlib import Path
import anyio
from mcpguard.domain.servers.launches import Profile
from mcpguard.upstreams.process.tree import descendants
from tests.attacks.sandboxed import started, told

async def main():
    async with started(Path(sys.argv[1]), ("daemon",), ("wait_for", "/never"), profile=Profile(sys.argv[2])) as server:
        await told(server)
        print("below", server.pid, *descendants(server.pid), flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""
SMALL = ProcessLimits(processes=24, memory=200 * MEBIBYTE, scratch=4 * MEBIBYTE, file=2 * MEBIBYTE)


@EACH_PROFILE
async def test_it_has_the_environment_it_was_given_and_sees_no_other(
    tmp_path: Path, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_SECRET", CANARY)
    attempts = (("environment",), ("environments",), ("processes",))
    got, all_of_them, processes = await tried(
        tmp_path, *attempts, profile=profile, environment={"TOKEN": "its own", "HOME": "/root", "TMPDIR": "/usr"}
    )
    assert set(got) <= {"PATH", "PWD", "HOME", "TMPDIR", "XDG_CACHE_HOME", "TOKEN", "MCPGUARD_STARTED", "LC_CTYPE"}
    assert (got["TOKEN"], got["HOME"], got["TMPDIR"]) == ("its own", HOME, TEMPORARY)
    assert CANARY not in json.dumps([got, all_of_them])
    assert len(processes) == 1, "itself; the first is hidden"


async def test_what_it_was_given_stands_on_no_command_line(tmp_path: Path) -> None:
    """Everybody on the machine can read those."""
    async with started(tmp_path, ("environment",), environment={"TOKEN": CANARY}) as server:
        assert (await told(server))["TOKEN"] == CANARY
        assert not [line for line in command_lines(server.pid) if CANARY in line]
        assert len(command_lines(server.pid)) >= 3


def command_lines(process: int) -> list[str]:
    return [Path(f"/proc/{pid}/cmdline").read_text() for pid in (process, *descendants(process))]


@EACH_PROFILE
async def test_a_variable_of_the_loader_has_no_effect_outside(tmp_path: Path, profile: Profile) -> None:
    """It would put the server's code into the programs that confine it. Here it makes every program leave a trace."""
    trace = f"{TEMPORARY}/{tmp_path.name}-{os.getpid()}"
    traced = {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": trace}
    got, inside = await tried(tmp_path, ("environment",), ("listed", TEMPORARY), profile=profile, environment=traced)
    assert got["LD_DEBUG"] == "files"
    assert len([name for name in inside if name.startswith(Path(trace).name)]) == 1, "inside, the server left one"
    (outside,) = await tried(tmp_path, ("listed", TEMPORARY), profile=Profile.NONE)
    assert not [name for name in outside if name.startswith(Path(trace).name)], "outside, nobody did"


@EACH_PROFILE
async def test_it_cannot_touch_other_processes(tmp_path: Path, profile: Profile) -> None:
    numbers = {"ptrace": 101, "mount": 165, "bpf": 321, "keyctl": 250, "io_uring_setup": 425, "shmget": 29}
    if os.uname().machine == "aarch64":
        numbers = {"ptrace": 117, "mount": 40, "bpf": 280, "keyctl": 219, "io_uring_setup": 425, "shmget": 194}
    calls = [("call", number) for number in numbers.values()]
    got = await tried(tmp_path, ("kill", os.getpid()), ("namespace",), ("memory_file",), *calls, profile=profile)
    assert got == ["ESRCH", *["EPERM"] * (2 + len(calls))]


async def test_a_fork_bomb_comes_to_an_end(tmp_path: Path) -> None:
    (grown,) = await tried(tmp_path, ("fork_bomb",), limits=SMALL)
    assert 0 < grown < SMALL.processes
    (next_ones,) = await tried(tmp_path, ("fork_bomb",), limits=SMALL)
    assert next_ones == grown, "the next one has as many: nothing of the first is left"


async def test_two_sandboxes_do_not_take_processes_from_each_other(tmp_path: Path) -> None:
    async with started(tmp_path, ("fork_bomb",), limits=SMALL) as one:
        grown = await told(one)
        async with started(tmp_path, ("fork_bomb",), limits=SMALL) as other:
            assert await told(other) == grown


async def test_one_that_takes_little_is_left_alone(tmp_path: Path) -> None:
    async with started(tmp_path, ("allocate", 100), ("wait_for", f"{HOME}/go"), limits=SMALL) as server:
        assert await told(server) == f"got {100 * MEBIBYTE}"
        with anyio.move_on_after(4 * EVERY) as looked:
            await watch_memory(server.pid, SMALL.memory)
        assert looked.cancelled_caught
        assert not gone(server.pid)


async def test_memory_that_is_its_own(tmp_path: Path) -> None:
    got = await tried(tmp_path, ("allocate", 100), ("allocate", 300), ("allocate", 100), limits=SMALL)
    assert got == [f"got {100 * MEBIBYTE}", "MemoryError", f"got {100 * MEBIBYTE}"]


@pytest.mark.parametrize(
    "how",
    [("share", 600), ("many", 10, 100), ("many_files", TEMPORARY), ("many_files", SHARED_MEMORY)],
    ids=["shared", "of many processes", "of empty files", "of empty files elsewhere"],
)
async def test_memory_beyond_that_gets_all_of_it_killed(tmp_path: Path, how: tuple[object, ...]) -> None:
    limits = replace(SMALL, memory=80 * MEBIBYTE) if how[0] == "many_files" else SMALL
    async with started(tmp_path, how, limits=limits) as server:
        with anyio.fail_after(PATIENCE):
            await watch_memory(server.pid, limits.memory)
        with pytest.raises(TransportEnded, match="by signal 9"):
            await server.receive()


async def test_room_on_disk(tmp_path: Path) -> None:
    got = await tried(
        tmp_path,
        ("big_file", f"{TEMPORARY}/big", SMALL.file + 1),
        ("fill", f"{TEMPORARY}/one", 1),
        ("fill", f"{HOME}/two", 2),
        ("fill", f"{TEMPORARY}/three", 2),
        ("fill", f"{SHARED_MEMORY}/three", 2),
        limits=SMALL,
    )
    assert got == ["EFBIG", "filled", "filled", "ENOSPC", "filled"]


async def test_a_flood_of_output_ends_the_connection(tmp_path: Path) -> None:
    async with started(tmp_path, ("flood",)) as server:
        with pytest.raises(TransportEnded, match="not valid MCP"), anyio.fail_after(PATIENCE):
            await server.receive()


@EACH_PROFILE
async def test_a_daemon_goes_with_its_server(tmp_path: Path, profile: Profile) -> None:
    async with started(tmp_path, ("daemon",), profile=profile) as server:
        assert await told(server) == "left behind"
        below = descendants(server.pid)
        assert not any(map(gone, below))
    assert all(map(gone, below))


@EACH_PROFILE
async def test_what_ends_it_cannot_be_touched(tmp_path: Path, profile: Profile) -> None:
    """The first process in a sandbox ends when the guard does, and the kernel ends the others with it."""
    async with started(tmp_path, ("into_the_first",), ("kill", 1), ("daemon",), profile=profile) as server:
        assert await told(server) == "ENOENT"
        await told(server)
        assert await told(server) == "left behind", "it still runs: the first takes no signal from within"
    (got,) = await tried(tmp_path, ("listed", "/proc/1"), profile=profile)
    assert got == []


@EACH_PROFILE
def test_when_the_guard_is_killed_it_is_too(tmp_path: Path, profile: Profile) -> None:
    """There is nobody left to do it: the kernel does."""
    works()
    command = [sys.executable, "-c", STARTS_ONE, str(tmp_path), profile.value]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as guard:
        assert guard.stdout
        below = next(set(map(int, line.split()[1:])) for line in guard.stdout if line.startswith("below "))
        assert len(below) >= 4
        assert not any(map(gone, below))
        guard.kill()
        until(lambda: all(map(gone, below)), "everything that it started has ended")


def test_it_is_said_what_bounds_a_process() -> None:
    in_force = works().in_force
    assert here() is works()
    assert any("processes" in each for each in in_force)
