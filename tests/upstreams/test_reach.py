"""From a declaration to a conversation: secrets at the last moment, and ends that say what happened."""

import json
import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import anyio
import pytest
import structlog
from anyio import from_thread, to_thread

from mcpguard.domain.servers.launches import DeclaredServer, Profile, StdioLaunch, Templates
from mcpguard.domain.servers.upstreams import Transport
from tests.simulators.over_http import HttpFace, serving_http
from tests.simulators.over_sse import serving_sse
from tests.simulators.processes import controlled
from tests.simulators.script import Script
from tests.upstreams.flock import Flock, flock, process, reaching, remote

pytestmark = pytest.mark.anyio
PYTHON = shutil.which("python3")
SECRET = "canary-4711"  # noqa: S105 - no password


def environ(**more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], **more}


def environment_of(pid: int) -> dict[str, str]:
    variables = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return dict(each.partition("=")[::2] for each in variables if each)


def everything_told(kept: Flock) -> str:
    return repr(kept.news) + repr([kept.fleet.condition(name) for name in ("a", "b", "c", "bad", "good", "fine")])


async def test_secrets_reach_the_process_and_nobody_else(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(f"{SECRET}-file\n")
    templates = {"TOKEN": "Bearer ${env:GH}", "KEY": f"${{file:{tmp_path}/secret}}", "PLAIN": "plain"}
    reach = reaching(tmp_path, environ(GH=SECRET, OTHER="other"), secret_folders=[str(tmp_path)])
    with structlog.testing.capture_logs() as logged:
        async with controlled(Script(), tmp_path) as server, flock(reach, process("a", server, templates)) as kept:
            await kept.ready("a")
            got = environment_of(server.process.pid)
            assert (got["TOKEN"], got["KEY"], got["PLAIN"]) == (f"Bearer {SECRET}", f"{SECRET}-file", "plain")
            assert "GH" not in got
            assert "OTHER" not in got
            assert SECRET not in everything_told(kept) + repr(logged) + repr(server.process.arguments)


@pytest.mark.parametrize("transport", [Transport.HTTP, Transport.SSE])
async def test_secrets_reach_the_url_in_headers(transport: Transport, tmp_path: Path) -> None:
    face = HttpFace(Script())
    async with serving_http(face) as http, serving_sse(face.script) as sse:
        headers = {"Authorization": "Bearer ${env:GH}"}
        server = remote("a", http if transport is Transport.HTTP else sse, headers, transport)
        async with flock(reaching(tmp_path, environ(GH=SECRET)), server) as kept:
            await kept.ready("a")
            if transport is Transport.HTTP:
                assert {request.headers["authorization"] for request in face.requests} == {f"Bearer {SECRET}"}
            assert SECRET not in everything_told(kept)


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("${env:MISSING}", "MISSING is not set in the environment of mcpguard"),
        (f"{SECRET}${{env:MISSING}}", "MISSING is not set in the environment of mcpguard"),
        ("${env:EMPTY}", "EMPTY is empty in the environment of mcpguard"),
        ("${file:/etc/shadow}", "/etc/shadow is neither below a folder"),
        ("${file:FOLDER/missing}", "cannot be read: No such file or directory"),
        ("${file:FOLDER/folder}", "cannot be read: Is a directory"),
        ("${file:FOLDER/fifo}", "is not a regular file"),
        ("${file:FOLDER/out}", "is neither below a folder"),
        (f"{SECRET}${{env:", 'a value contains "${" without "}"'),
    ],
)
@pytest.mark.parametrize("how", ["process", "url"])
async def test_what_cannot_be_resolved_is_named_and_the_others_run_on(
    how: str, template: str, says: str, tmp_path: Path
) -> None:
    secrets = tmp_path / "secrets"
    (secrets / "folder").mkdir(parents=True)
    os.mkfifo(secrets / "fifo")
    (secrets / "out").symlink_to("/etc/hostname")
    templates = {"Authorization": template.replace("FOLDER", str(secrets))}
    reach = reaching(tmp_path, environ(EMPTY=""), secret_folders=[str(secrets)])
    face = HttpFace(Script())
    async with serving_http(face) as url, controlled(Script(), tmp_path) as good, serving_http(Script()) as fine:
        touching = StdioLaunch("touch", (str(tmp_path / "ran"),), Templates(templates), profile=Profile.NONE)
        bad = DeclaredServer("bad", "bad", touching) if how == "process" else remote("bad", url, templates)
        async with flock(reach, bad, process("good", good), remote("fine", fine)) as kept:
            condition = await kept.stands("error", "bad")
            what = "the environment variable" if how == "process" else "the header"
            assert condition.error.startswith(f"{what} Authorization cannot be resolved: ")
            assert says in condition.error
            assert SECRET not in everything_told(kept)
            assert condition.next_try is not None
            await kept.ready("good", "fine")
            assert await kept.call("good")
    assert face.requests == [], "nothing was sent"
    assert not (tmp_path / "ran").exists(), "nothing was started"


async def test_a_server_has_secrets_of_its_own_and_no_others(tmp_path: Path) -> None:
    reach, face, nosy = reaching(tmp_path), HttpFace(Script()), HttpFace(Script())
    folder = reach.secrets / "a"
    folder.mkdir(parents=True)
    (folder / "key").write_text(SECRET)
    (reach.secrets / "b").mkdir()
    (reach.secrets / "b" / "way").symlink_to("../a")
    async with serving_http(face) as url, serving_http(nosy) as other:
        reached = remote("a", url, {"X-Key": f"${{file:{folder}/key}}"})
        through = remote("b", other, {"X-Key": f"${{file:{reach.secrets}/b/way/key}}"})
        async with flock(reach, reached, through, remote("c", other, {"X-Key": f"${{file:{folder}/key}}"})) as kept:
            await kept.ready("a")
            for name in ("b", "c"):
                assert "nor among the secrets of this server" in (await kept.stands("error", name)).error
    assert face.requests[0].headers["x-key"] == SECRET
    assert nosy.requests == [], "nothing was sent"


async def test_they_are_read_anew_for_each_launch(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("first")
    reach = reaching(tmp_path, secret_folders=[str(tmp_path)])
    face = HttpFace(Script())
    async with serving_http(face) as url, flock(reach, remote("a", url, {"X-Key": f"${{file:{secret}}}"})) as kept:
        await kept.ready("a")
        secret.unlink()
        kept.fleet.restart("a")
        await kept.stands("error", "a")
        await kept.clock.advance(1)
        await kept.until(lambda: "cannot be read" in kept.condition("a").error)
        secret.write_text("second")
        await kept.clock.advance(2)
        await kept.ready("a")
        assert [face.requests[0].headers["x-key"], face.requests[-1].headers["x-key"]] == ["first", "second"]


@pytest.mark.parametrize("value", ["two\nlines", "null\0", "ünicode"])
async def test_a_value_that_no_header_can_have_is_not_repeated(value: str, tmp_path: Path) -> None:
    reach = reaching(tmp_path, environ(GH=SECRET + value))
    face = HttpFace(Script())
    async with serving_http(face) as url, flock(reach, remote("a", url, {"Authorization": "${env:GH}"})) as kept:
        condition = await kept.stands("error", "a")
        assert "Authorization" in condition.error
        assert SECRET not in everything_told(kept)
        assert face.requests == []


class Slow(Mapping[str, str]):
    """An environment in which a variable is as slow to read as a file on a network can be."""

    def __init__(self) -> None:
        self.read = threading.Event()
        self.go = threading.Event()
        self.asking = 0
        self.told: anyio.Event | None = None

    def __getitem__(self, name: str) -> str:
        if name != "SLOW":
            return os.environ[name]
        self.asking += 1
        if self.told is not None:
            from_thread.run_sync(self.told.set)
        assert self.go.wait(30)
        self.read.set()
        return "value"

    def __iter__(self) -> Iterator[str]:
        return iter(os.environ)

    def __len__(self) -> int:
        return len(os.environ)


async def test_one_whose_secrets_are_slow_to_read_holds_up_nobody(tmp_path: Path) -> None:
    slow = Slow()
    slow.told = anyio.Event()
    async with serving_http(Script()) as url:
        servers = remote("slow", url, {"X-Key": "${env:SLOW}"}), remote("good", url, {"X-Path": "${env:PATH}"})
        async with flock(reaching(tmp_path, slow), *servers) as kept:
            await slow.told.wait()
            await kept.ready("good")
            assert await kept.call("good")
            assert kept.state("slow") == "starting"
            slow.go.set()
            await kept.ready("slow")


async def test_while_one_reading_hangs_there_is_no_second_one(tmp_path: Path) -> None:
    """Each new attempt would leave a thread behind that waits."""
    slow = Slow()
    async with serving_http(Script()) as url:
        server = remote("slow", url, {"X-Key": "${env:SLOW}"})
        async with flock(reaching(tmp_path, slow), server, connect_seconds=0.1) as kept:
            assert (await kept.stands("error", "slow")).error == "the server was not ready within 0.1 seconds"
            for attempt in range(4):
                await kept.clock.advance(2**attempt)
                await kept.until(lambda: "still waiting for the disk" in kept.condition("slow").error)
            assert slow.asking == 1
            slow.go.set()
            await to_thread.run_sync(slow.read.wait)
            while kept.state("slow") != "ready":
                await kept.clock.advance(60)


# How a process ended.


def running(code: str, **environment: str) -> DeclaredServer:
    return DeclaredServer(
        "a", "a", StdioLaunch("python3", ("-I", "-S", "-c", code), Templates(environment), profile=Profile.NONE)
    )


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("raise SystemExit(3)", "the server process exited (exit code 3); log: LOG"),
        ("pass", "the server process exited (exit code 0); log: LOG"),
        ("import os; os.kill(os.getpid(), 9)", "the server process exited (by signal 9); log: LOG"),
        (
            "import sys; print('one\\nlast \\x1b[31mword\\n\\n', file=sys.stderr); sys.exit(1)",
            "the server process exited (exit code 1); log: LOG; last output: last ⟨U+001B⟩[31mword",
        ),
        (
            "import sys; sys.stderr.write('x' * 5000); sys.exit(1)",
            f"the server process exited (exit code 1); log: LOG; last output: {'x' * 200}",
        ),
        ("import os; os.write(2, b'\\xff\\xfe'); os._exit(1)", "LOG; last output: \ufffd\ufffd"),
    ],
)
async def test_a_process_that_ends_at_once_says_how_and_where_to_look(code: str, says: str, tmp_path: Path) -> None:
    async with flock(reaching(tmp_path), running(code)) as kept:
        condition = await kept.stands("error", "a")
        assert condition.error.endswith(says.replace("LOG", str(tmp_path / "a.log")))
        assert condition.next_try is not None


async def test_its_last_words_do_not_give_away_what_it_was_given(tmp_path: Path) -> None:
    code = "import os, sys; sys.exit('key ' + os.environ['KEY'] + ' is refused; ' + os.environ['PLAIN'])"
    reach = reaching(tmp_path, environ(GH=SECRET))
    async with flock(reach, running(code, KEY="${env:GH}", PLAIN="written-out")) as kept:
        condition = await kept.stands("error", "a")
        assert condition.error.endswith("last output: key (hidden) is refused; (hidden)")


@pytest.mark.parametrize(
    ("launch", "says"),
    [
        (
            StdioLaunch("no-such-command", profile=Profile.NONE),
            "no-such-command was not found, or is not executable",
        ),
        (
            StdioLaunch("python3", folder="/etc/passwd", profile=Profile.NONE),
            f"cannot start {PYTHON}: Not a directory: /etc/passwd",
        ),
        (StdioLaunch("/etc/passwd", profile=Profile.NONE), "/etc/passwd was not found, or is not executable"),
        (StdioLaunch("python3", ("a\0b",), profile=Profile.NONE), f"cannot start {PYTHON}: embedded null byte"),
    ],
)
async def test_what_cannot_be_started_says_why(launch: StdioLaunch, says: str, tmp_path: Path) -> None:
    async with flock(reaching(tmp_path), DeclaredServer("a", "a", launch)) as kept:
        assert says in (await kept.stands("error", "a")).error


async def test_the_log_holds_what_it_said(tmp_path: Path) -> None:
    script = Script()
    async with controlled(script, tmp_path) as server, flock(reaching(tmp_path), process("a", server)) as kept:
        await kept.ready("a")
        await server.process.complain(1000)
        await server.process.exit(7)
        condition = await kept.stands("error", "a")
        assert "exit code 7" in condition.error
        assert "the server has something to say" in (tmp_path / "a.log").read_text()
    assert json.dumps(condition.error)
