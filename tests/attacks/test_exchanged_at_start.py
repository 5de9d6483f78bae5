"""Somebody puts another program in the place of a server's, between the guard's look at it and its start."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcpguard.domain.servers.connections import ConnectionState
from mcpguard.domain.servers.launches import DeclaredServer, Mount, Profile, StdioLaunch
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.launch.start import AnotherProgram, LaunchPreparation
from mcpguard.upstreams.process import program_files
from mcpguard.upstreams.process.changeable_files import find_changeable
from mcpguard.upstreams.process.logs import UpstreamLog
from mcpguard.upstreams.process.program_files import read_program
from mcpguard.upstreams.process.stdio import ProcessLaunch, stdio
from mcpguard.upstreams.sandbox.confinement import ProcessConfinement
from mcpguard.upstreams.sandbox.limits import ProcessLimits
from mcpguard.upstreams.transports.dialing import Dialing
from tests.attacks.confined import attempts, in_file
from tests.attacks.exchanging import exchanged
from tests.attacks.quarantined import connection, exit_code, let_time_pass, moves, standing, until, upstream
from tests.attacks.sandboxed import EACH_PROFILE, works
from tests.gate import Gate, gate
from tests.review import DECISION, approved_as_listed, taken_in

pytestmark = pytest.mark.anyio
STEALS = "import os, pathlib; pathlib.Path({mark!r}).write_text(os.environ['GIVEN'])\n"


@pytest.fixture(autouse=True)
def _there_is_a_sandbox() -> None:
    works()


def declared(file: Path, profile: Profile, *mounts: Mount, name: str = "web") -> DeclaredServer:
    server = in_file(file, name, profile, GIVEN="${env:THE_TOKEN}")
    assert isinstance(server.launch, StdioLaunch)
    launch = StdioLaunch(
        server.launch.command,
        server.launch.arguments,
        server.launch.environment,
        profile=profile,
        mounts=(*server.launch.mounts, *mounts),
    )
    return DeclaredServer(name, name, launch)


async def inspected(guard: Gate, name: str, profile: Profile) -> Any:  # noqa: ANN401 - see Inspecting
    consent = profile is Profile.NONE
    return await guard.now.guard.inspecting.inspect(name, DECISION, consent=consent, give=frozenset())


async def running(guard: Gate, server: DeclaredServer, *besides: DeclaredServer) -> None:
    """It is approved; the others are there."""
    assert isinstance(server.launch, StdioLaunch)
    await guard.declare(server, *besides)
    done = await inspected(guard, server.name, server.launch.profile)
    assert not done.error
    await approved_as_listed(guard.now, server.name)
    await taken_in(guard.now, [server.name])


def folder(path: Path, mode: int = 0o755) -> Path:
    path.mkdir()
    path.chmod(mode)
    return path


@pytest.mark.parametrize("back", [(), ("back",)])
@pytest.mark.parametrize("profile", list(Profile))
async def test_whoever_waits_for_the_guards_look_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: Profile, back: tuple[str, ...]
) -> None:
    monkeypatch.setenv("THE_TOKEN", "canary-77")
    file, out = folder(tmp_path / "program") / "server.py", folder(tmp_path / "out", 0o777)
    other, mark = tmp_path / "program" / "other.py", out / "stolen"
    async with gate(tmp_path, screening__mode="off") as guard:
        await running(guard, declared(file, profile, Mount(str(out), writable=True)))
        other.write_text(STEALS.format(mark=str(mark)) + file.read_text())
        asked, before = len(guard.entries()), upstream(guard)
        with exchanged(file, other, *back) as attacker:
            assert guard.now.fleet.restart("web")
            await until(guard, lambda: standing(guard) is UpstreamStanding.QUARANTINED)
            assert await exit_code(attacker) == 0, "it was done"
        answer = (await (await guard.legacy()).call("web::attempt", attempts(("environment",)))).result
        assert answer["isError"]
        await let_time_pass(guard)
        (entry,) = guard.entries()[asked:]
        assert (entry["reason"], entry["executed"]) == ("server:quarantined", "no")
        (move,) = moves(guard, capability=None)
        assert (move["move"], move["after"]) == ("identity_changed", "quarantined")
        assert before.approved is not None
        assert move["approved_observed"] == str(before.approved.observed)


@EACH_PROFILE
@pytest.mark.parametrize("by", ["a mount of its folder", "its first line"])
async def test_a_sandbox_shows_what_was_looked_at(tmp_path: Path, profile: Profile, by: str) -> None:
    """It is exchanged once the guard has read it, and before anything of the sandbox is there."""
    place, out = folder(tmp_path / "program"), folder(tmp_path / "out", 0o777)
    file, mark = place / "server.py", out / "ran"
    ours, theirs = (f"import pathlib; pathlib.Path({str(mark)!r}).write_text({word!r})" for word in ("ours", "theirs"))
    line = f"#!{sys.executable}\n"
    file.write_text(line + ours)
    file.chmod(0o755)
    mounts = (Mount(str(out), writable=True), *([Mount(str(place))] if by != "its first line" else []))
    command = [str(file)] if by == "its first line" else [sys.executable, str(file)]
    launch = StdioLaunch(command[0], tuple(command[1:]), profile=profile, mounts=mounts)
    confinement = ProcessConfinement(works(), ProcessLimits(), tmp_path / "data")
    starting = LaunchPreparation(confinement, tmp_path / "packages", os.environ, 1, Dialing())
    plain = ProcessLaunch(launch.command, launch.arguments, {"PATH": os.environ["PATH"]})
    ready = starting.prepare(DeclaredServer("web", "web", launch), launch, plain)
    other = place / "other.py"
    other.write_text(line + theirs)
    other.chmod(0o755)
    other.rename(file)
    async with stdio(ready.launch, 1_000_000, UpstreamLog(tmp_path, "web", 100_000)) as server:
        with pytest.raises(TransportEnded, match="exit code 0"):
            await server.receive()
    assert mark.read_text() == "ours"
    with pytest.raises(AnotherProgram):
        await ready.confirm()


@EACH_PROFILE
async def test_a_program_lies_nowhere_that_its_server_may_write(tmp_path: Path, profile: Profile) -> None:
    place = folder(tmp_path / "shared", 0o777)
    file, link = folder(place / "program") / "server.py", folder(tmp_path / "links") / "shared"
    link.symlink_to(place)
    async with gate(tmp_path) as guard:
        await guard.declare(declared(file, profile, Mount(str(link), writable=True)))
        done = await inspected(guard, "web", profile)
        assert "to which web may write" in done.error
        assert not done.started


@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize("what", ["the file", "a link to it"])
async def test_nor_where_another_one_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: Profile, what: str
) -> None:
    monkeypatch.setenv("THE_TOKEN", "canary-77")
    place, apart = folder(tmp_path / "shared", 0o777), folder(tmp_path / "apart")
    file = folder(place / "program") / "server.py"
    if what == "a link to it":
        in_file(apart / "real.py")
        file.symlink_to(apart / "real.py")
    async with gate(tmp_path) as guard:
        server = declared(file, profile, *([Mount(str(apart))] if profile is not Profile.NONE else []))
        other = declared(apart / "other.py", Profile.STRICT, Mount(str(place), writable=True), name="other")
        await running(guard, other, server)
        done = await inspected(guard, "web", profile)
        assert "to which other may write" in done.error
        assert not done.started
        assert standing(guard) is UpstreamStanding.QUARANTINED
        await guard.now.guard.decisions.disable("other", DECISION)
        place.chmod(0o755)
        assert not (await inspected(guard, "web", profile)).error, "once nobody may"


async def test_one_that_is_approved_does_not_start_once_another_one_may_write_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_TOKEN", "canary-77")
    place, apart = folder(tmp_path / "shared", 0o777), folder(tmp_path / "apart")
    async with gate(tmp_path) as guard:
        server = declared(folder(place / "program") / "server.py", Profile.STRICT)
        other = declared(apart / "other.py", Profile.STRICT, Mount(str(place), writable=True), name="other")
        await running(guard, server, other)
        assert not (await inspected(guard, "other", Profile.STRICT)).error
        await approved_as_listed(guard.now, "other")
        await taken_in(guard.now, ["other"])
        assert guard.now.fleet.restart("web")
        await until(guard, lambda: "to which other may write" in connection(guard).error)
        assert connection(guard).state is ConnectionState.ERROR
        assert standing(guard) is UpstreamStanding.APPROVED, "nothing of it has changed"
        answer = (await (await guard.legacy()).call("web::attempt", attempts(("environment",)))).result
        assert answer["isError"]
        assert "canary-77" not in json.dumps(answer)


@pytest.mark.parametrize("change", ["written to", "moved away and back", "another link", "the same bytes"])
def test_whatever_was_done_to_it_shows(tmp_path: Path, change: str) -> None:
    file, link = tmp_path / "server.py", tmp_path / "link.py"
    file.write_text("it")
    link.symlink_to(file)
    found = read_program("script", link)
    assert found.unchanged
    if change == "written to":
        file.write_text("is")
    elif change == "moved away and back":
        file.rename(tmp_path / "away")
        (tmp_path / "away").rename(file)
    elif change == "another link":
        link.unlink()
        link.symlink_to(file)
    else:
        file.write_bytes(file.read_bytes())
    assert not found.unchanged


def test_what_only_root_can_change_and_what_is_too_large_is_not_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read_program("file", Path("/usr/bin/env")).content is None
    file = tmp_path / "server"
    file.write_text("xyz")
    assert read_program("file", file).content == b"xyz", "the folder for temporary files is everybody's"
    monkeypatch.setattr(program_files, "MOST_COPIED", 2)
    assert read_program("file", file).content is None


@pytest.mark.parametrize("mode", [0o644, 0o666, 0o1666])
def test_what_others_may_write_to_is_hashed_again(tmp_path: Path, mode: int) -> None:
    """Through a page of memory that was mapped before, it may be written to while its times stay."""
    file = tmp_path / "server.py"
    file.write_text("it")
    file.chmod(mode)
    found = read_program("script", file)
    assert (find_changeable(file) is None) is (mode == 0o644)
    assert found.unchanged
    assert replace(found, digest="sha256:another").unchanged is (mode == 0o644)
