"""A program that other accounts can exchange: a sandbox shows what was read all the same, or nothing is started."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcpguard.domain.servers.connections import ConnectionState
from mcpguard.domain.servers.launches import DeclaredServer, Mount, Profile, StdioLaunch
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.upstreams.launch.start import AnotherProgram, LaunchPreparation, ReadyLaunch
from mcpguard.upstreams.process import program_files
from mcpguard.upstreams.process.logs import UpstreamLog
from mcpguard.upstreams.process.stdio import ProcessLaunch, stdio
from mcpguard.upstreams.sandbox import kept_files
from mcpguard.upstreams.sandbox.confinement import ProcessConfinement
from mcpguard.upstreams.sandbox.limits import ProcessLimits
from mcpguard.upstreams.sandbox.not_confined import NotConfined
from mcpguard.upstreams.transports.dialing import Dialing
from tests.attacks.confined import attempts, in_file
from tests.attacks.exchanging import exchanged
from tests.attacks.quarantined import connection, exit_code, let_time_pass, standing, until
from tests.attacks.sandboxed import CODE, EACH_PROFILE, QUICK, told, works
from tests.gate import Gate, gate
from tests.review import DECISION, approved_as_listed, taken_in

pytestmark = pytest.mark.anyio
OURS, THEIRS = "# ours\n", "# theirs\n"
STEALS = "import os, pathlib; pathlib.Path({mark!r}).write_text(os.environ['GIVEN'])\n"


@pytest.fixture(autouse=True)
def _there_is_a_sandbox() -> None:
    works()


def folder(path: Path, mode: int = 0o755) -> Path:
    path.mkdir()
    path.chmod(mode)
    return path


def readied(tmp_path: Path, launch: StdioLaunch) -> ReadyLaunch:
    """It was looked at, and is about to be started."""
    confinement = ProcessConfinement(works(), ProcessLimits(), tmp_path / "data")
    starting = LaunchPreparation(confinement, tmp_path / "packages", os.environ, 1, Dialing())
    plain = ProcessLaunch(launch.command, launch.arguments, {"PATH": os.environ["PATH"], **launch.environment})
    return starting.prepare(DeclaredServer("web", "web", launch), launch, plain)


def script(file: Path, out: Path, profile: Profile, *tries: Any, mounts: tuple[Path, ...]) -> StdioLaunch:  # noqa: ANN401
    """One that tries things, from a folder that it may not write to."""
    seen = (*(Mount(str(each)) for each in mounts), Mount(str(out), writable=True))
    arguments = ("-I", "-S", "-u", str(file), json.dumps(tries))
    return StdioLaunch(sys.executable, arguments, profile=profile, mounts=seen)


def over_it(place: Path) -> None:
    (place / "other.py").write_text(THEIRS)
    (place / "other.py").rename(place / "server.py")


def over_its_folder(place: Path) -> None:
    place.rename(place.parent / "away")
    place.mkdir()
    (place / "server.py").write_text(THEIRS)


def another_link(place: Path) -> None:
    (place / "other.py").write_text(THEIRS)
    (place / "link.py").unlink()
    (place / "link.py").symlink_to("other.py")


@EACH_PROFILE
@pytest.mark.parametrize("exchange", [over_it, over_its_folder, another_link])
async def test_nothing_that_is_done_outside_exchanges_what_a_sandbox_shows(
    tmp_path: Path, profile: Profile, exchange: Callable[[Path], None]
) -> None:
    """Done once everything is in its place inside, when it is too late for any look at it."""
    root, out = folder(tmp_path / "root", 0o777), folder(tmp_path / "out", 0o777)
    place = folder(root / "program", 0o777)
    (place / "server.py").write_text(OURS + CODE)
    (place / "link.py").symlink_to("server.py")
    file = place / ("link.py" if exchange is another_link else "server.py")
    tries = (("read", str(file)), ("wait_for", str(out / "go")), ("read", str(file)))
    ready = readied(tmp_path, script(file, out, profile, *tries, mounts=(root,)))
    async with stdio(ready.launch, 1_000_000, UpstreamLog(tmp_path, "web", 100_000), QUICK) as server:
        assert (await told(server)).startswith(OURS)
        exchange(place)
        assert file.read_text() == THEIRS, "outside it is another one"
        (out / "go").touch()
        assert await told(server) == "there"
        assert (await told(server)).startswith(OURS)
        with pytest.raises(AnotherProgram):
            await ready.confirm()


@EACH_PROFILE
async def test_what_lies_beside_it_is_there_as_well(tmp_path: Path, profile: Profile) -> None:
    place, out = folder(tmp_path / "program", 0o777), folder(tmp_path / "out", 0o777)
    (place / "server.py").write_text(OURS + CODE)
    (place / "beside.txt").write_text("beside")
    (folder(place / "deep") / "deeper.txt").write_text("deeper")
    (place / "link.txt").symlink_to("deep/deeper.txt")
    (folder(place / "shared", 0o777) / "file").touch()
    tries = [("read", str(place / name)) for name in ("beside.txt", "deep/deeper.txt", "link.txt")]
    tries += [("listed", str(place)), ("write", str(place / "beside.txt")), ("write", str(place / "deep" / "new"))]
    launch = script(place / "server.py", out, profile, *tries, mounts=(place, place / "deep"))
    ready = readied(tmp_path, launch)
    async with stdio(ready.launch, 1_000_000, UpstreamLog(tmp_path, "web", 100_000), QUICK) as server:
        got = [await told(server) for _ in tries]
    beside = ["beside.txt", "deep", "link.txt", "server.py", "shared"]
    assert got == ["beside", "deeper", "deeper", beside, "EROFS", "EROFS"]


@EACH_PROFILE
async def test_a_name_beside_it_that_is_turned_into_a_link_shows_nothing_of_the_machine(
    tmp_path: Path, profile: Profile
) -> None:
    place, out, secret = folder(tmp_path / "program", 0o777), folder(tmp_path / "out", 0o777), folder(tmp_path / "kept")
    (place / "server.py").write_text(CODE)
    (secret / "canary").write_text("canary-77")
    folder(place / "beside")
    tries = (("read", str(place / "beside" / "canary")), ("read", str(place / "server.py")))
    ready = readied(tmp_path, script(place / "server.py", out, profile, *tries, mounts=(place,)))
    (place / "beside").rmdir()
    (place / "beside").symlink_to(secret)
    async with stdio(ready.launch, 1_000_000, UpstreamLog(tmp_path, "web", 100_000), QUICK) as server:
        assert await told(server) in ("ENOENT", "ENOTDIR")
        assert (await told(server)).startswith(CODE[:20])


@EACH_PROFILE
@pytest.mark.parametrize("why", ["too much beside it", "too large"])
async def test_what_cannot_be_kept_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: Profile, why: str
) -> None:
    place, out = folder(tmp_path / "program", 0o777), folder(tmp_path / "out", 0o777)
    (place / "server.py").write_text(CODE)
    for name in range(4):
        (place / str(name)).touch()
    if why == "too large":
        monkeypatch.setattr(program_files, "MOST_COPIED", 2)
    else:
        monkeypatch.setattr(kept_files, "MOST_ENTRIES", 4)
    launch = script(place / "server.py", out, profile, mounts=(place,))
    with pytest.raises(NotConfined, match=rf"{place} is writable by everyone \(chmod go-w {place}\)"):
        readied(tmp_path, launch)
    place.chmod(0o755)
    readied(tmp_path, launch)  # once nobody else may


async def inspected(guard: Gate, profile: Profile) -> Any:  # noqa: ANN401 - see Inspecting
    consent = profile is Profile.NONE
    return await guard.now.guard.inspecting.inspect("web", DECISION, consent=consent, give=frozenset())


@pytest.mark.parametrize("back", [(), ("back",)])
@pytest.mark.parametrize(
    "what", ["its folder", "a folder above", "the file", "a link to it", "what its first line has run"]
)
async def test_unconfined_it_is_not_started_where_others_could_exchange_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, back: tuple[str, ...]
) -> None:
    monkeypatch.setenv("THE_TOKEN", "canary-77")
    root, links, mark = folder(tmp_path / "root"), folder(tmp_path / "links"), tmp_path / "stolen"
    place = folder(root / "program")
    file, link = place / "server.py", links / "server.py"
    link.symlink_to(file)
    open_to_all = {"its folder": place, "a folder above": root, "the file": file}.get(what, links)
    server = in_file(link if what == "a link to it" else file, GIVEN="${env:THE_TOKEN}")
    if what == "a link to it":
        links.chmod(0o755)
        in_file(file)
    code, first_line = file.read_text(), ""
    if what == "what its first line has run":
        (links / "python").symlink_to(sys.executable)
        first_line = f"#!{links}/python -u\n"
        file.write_text(first_line + code)
        file.chmod(0o755)
        server = DeclaredServer(
            "web", "web", StdioLaunch(str(file), (), {"GIVEN": "${env:THE_TOKEN}"}, profile=Profile.NONE)
        )
    other = place / "other.py"
    other.write_text(first_line + STEALS.format(mark=str(mark)) + code)
    # It could be started in place of the first, and is as open to others as the first will be.
    other.chmod(0o777 if what == "the file" else 0o755)
    async with gate(tmp_path, screening__mode="off") as guard:
        await guard.declare(server)
        assert not (await inspected(guard, Profile.NONE)).error
        await approved_as_listed(guard.now, "web")
        await taken_in(guard.now, ["web"])
        asked, mode = len(guard.entries()), open_to_all.stat().st_mode & 0o777
        open_to_all.chmod(mode | 0o022)
        with exchanged(file, other, *back) as attacker:
            assert guard.now.fleet.restart("web")
            await until(guard, lambda: "was not started" in connection(guard).error)
            assert await exit_code(attacker) == 0, "it was done"
        assert connection(guard).state is ConnectionState.ERROR
        said = connection(guard).error
        assert f"{open_to_all} is writable by everyone (chmod go-w {open_to_all})" in said
        assert standing(guard) is UpstreamStanding.APPROVED, "nothing of it has changed"
        answer = (await (await guard.legacy()).call("web::attempt", attempts(("environment",)))).result
        assert answer["isError"]
        await let_time_pass(guard)
        (entry,) = guard.entries()[asked:]
        assert (entry["reason"], entry["executed"]) == ("server:unreachable", "no")
        assert not mark.exists()


async def test_nor_inspected(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        server = in_file(tmp_path / "program.py")
        folder(tmp_path / "open", 0o777)
        (tmp_path / "program.py").rename(tmp_path / "open" / "program.py")
        assert isinstance(server.launch, StdioLaunch)
        file = str(tmp_path / "open" / "program.py")
        launch = StdioLaunch(server.launch.command, (*server.launch.arguments[:-1], file), profile=Profile.NONE)
        await guard.declare(DeclaredServer("web", "web", launch))
        done = await inspected(guard, Profile.NONE)
        assert "because other users could replace it" in done.error
        assert "or run it in a sandbox" in done.error
        assert not done.started
        assert standing(guard) is UpstreamStanding.QUARANTINED


@pytest.mark.parametrize("profile", list(Profile))
def test_env_is_not_left_to_find_what_others_put_first(tmp_path: Path, profile: Profile) -> None:
    first, then = folder(tmp_path / "first", 0o777), folder(tmp_path / "then")
    (then / "runner").symlink_to("/usr/bin/env")
    file = tmp_path / "server"
    file.write_text("#!/usr/bin/env runner\n")
    file.chmod(0o755)
    for path, refused in ((f"{first}:{then}", True), (f"{then}:{first}", False), (f"{first}/new:{then}", True)):
        launch = StdioLaunch(str(file), (), {"PATH": path}, profile=profile)
        if refused:
            with pytest.raises(NotConfined, match="others could add a program there"):
                readied(tmp_path, launch)
        else:
            readied(tmp_path, launch)
