"""Where no guard runs, a relay starts one and nobody else's program."""

import json
import os
import signal
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from mcpguard.app.places import agents_socket
from mcpguard.relay.problem import CannotRelay
from mcpguard.relay.starting import connect
from mcpguard.store.files import datadir
from tests.gateway import relay_that_starts
from tests.gateway.agent import Agent, python, relaying, request
from tests.gateway.played_guard import playing
from tests.process import until

NO_PORT = "mcpguard: 127.0.0.1:8080 cannot be listened on: Address already in use; choose another with --listen"


def starting(data_dir: Path, conversations: int = 1, **environ: str) -> AbstractContextManager[Agent]:
    """A relay that starts a guard, if there is none, which leaves after so many conversations."""
    command = python(relay_that_starts.__name__)
    return relaying(data_dir, str(conversations), environ=environ, command=command)


def answered(agent: Agent) -> None:
    agent.say(request(1))
    assert json.loads(agent.heard())["id"] == 1


def left(agent: Agent) -> None:
    agent.close()
    assert agent.ended() == (0, "")


def started(data_dir: Path) -> list[dict[str, Any]]:
    """What every guard that became one has noted about itself."""
    return [json.loads(note.read_text()) for note in data_dir.glob("note-*")]


def log(data_dir: Path) -> str:
    try:
        return (data_dir / "serve.log").read_text()
    except FileNotFoundError:
        return ""


@contextmanager
def held(data_dir: Path) -> Iterator[None]:
    """Somebody is the guard, and does not listen."""
    datadir.prepare(data_dir)
    with datadir.lock_folder(data_dir, "serve"):
        yield


def test_a_guard_is_started_that_has_nothing_of_the_agent_and_stays_for_the_next(tmp_path: Path) -> None:
    data_dir = tmp_path / "new" / "data"
    token = tmp_path / "token"
    token.write_text("canary")
    with starting(data_dir, 2, MCPGUARD_TOKEN="canary", KEPT="yes") as agent:  # noqa: S106 - no token of anybody's
        answered(agent)
        (guard,) = started(data_dir)
        assert guard["sid"] == guard["pid"] != os.getsid(agent.relay.pid)
        assert guard["environ"]["KEPT"] == "yes"
        assert "canary" not in json.dumps(guard)
        assert guard["input"] == Path(os.devnull).stat().st_rdev
        assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700
        assert stat.S_IMODE((data_dir / "serve.log").stat().st_mode) == 0o600
        left(agent)
    with starting(data_dir, MCPGUARD_TOKEN_FILE=str(token)) as agent:
        answered(agent)
        left(agent)
    assert [each["pid"] for each in started(data_dir)] == [guard["pid"]]
    assert log(data_dir) == "mcpguard is running\n"


def test_a_socket_that_a_killed_guard_left_is_no_guard(tmp_path: Path) -> None:
    with playing(tmp_path):
        pass
    assert stat.S_ISSOCK(agents_socket(tmp_path).lstat().st_mode)
    with starting(tmp_path) as agent:
        answered(agent)
        left(agent)


def test_relays_that_start_together_share_one_guard(tmp_path: Path) -> None:
    with starting(tmp_path, 3) as one, starting(tmp_path, 3) as two, starting(tmp_path, 3) as three:
        for agent in (one, two, three):
            answered(agent)
        assert len(started(tmp_path)) == 1
        for agent in (one, two, three):
            left(agent)


def test_a_relay_whose_guard_was_kept_out_waits_for_the_other_one(tmp_path: Path) -> None:
    with held(tmp_path), starting(tmp_path) as agent:
        until(lambda: " is in use by process " in log(tmp_path), "its guard is kept out")
        with playing(tmp_path) as guard:
            agent.say(request(1))
            assert json.loads(guard.accepted().heard())["id"] == 1
            agent.relay.kill()
    assert started(tmp_path) == []


def test_if_the_other_one_leaves_without_listening_another_is_started(tmp_path: Path) -> None:
    with starting(tmp_path) as agent:
        with held(tmp_path):
            until(lambda: " is in use by process " in log(tmp_path) or started(tmp_path), "its guard is kept out")
        answered(agent)
        left(agent)


def shell(script: str) -> list[str]:
    return ["sh", "-c", script]


def refused(data_dir: Path, script: str, patience: float = 30.0) -> str:
    """Why there is no connection when this program is started as the guard."""
    with pytest.raises(CannotRelay) as refusal:
        connect(agents_socket(data_dir), data_dir, shell(script), os.environ, patience)
    return str(refusal.value)


def test_a_start_that_fails_is_told_with_what_it_said_last(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    first = refused(data_dir, "echo one; echo earlier; exit 1")
    said = refused(
        data_dir, f"for n in 1 2 3 4 5 6; do echo $n; done; printf '\\033[2J\\n'; echo '{NO_PORT}' >&2; exit 1"
    )
    begins = f"no guard is running, and the one that was started has exited; its log, {data_dir}/serve.log, says:"
    assert first == f"{begins}\n  one\n  earlier"
    assert said == f"{begins}\n  4\n  5\n  6\n  ⟨U+001B⟩[2J\n  {NO_PORT}"
    assert log(data_dir).startswith("one\nearlier\n1\n")


def test_a_start_that_fails_in_silence_is_told_too(tmp_path: Path) -> None:
    said = refused(tmp_path / "data", "exit 0")
    assert said == "no guard is running, and the one that was started has exited"


def test_another_guard_on_the_same_database_is_not_waited_for(tmp_path: Path) -> None:
    said = refused(tmp_path / "data", "echo 'postgresql://x is in use by another guard; stop that one first'; exit 1")
    assert said.endswith("stop that one first")


def test_a_guard_that_never_listens_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    with held(tmp_path):
        said = refused(tmp_path, "echo 'the data directory x is in use by process 1'; exit 1", patience=0.2)
    assert said.startswith(f"no guard is listening at {agents_socket(tmp_path)} in 0.2 seconds; its log, ")
    assert said.endswith("is in use by process 1")


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(CannotRelay, match="none can be started"):
        connect(agents_socket(tmp_path), tmp_path, [str(tmp_path / "nothing")], os.environ)


def test_the_log_is_not_written_where_a_link_leads(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir(mode=0o700)
    (tmp_path / "precious").write_text("precious")
    (data_dir / "serve.log").symlink_to(tmp_path / "precious")
    assert refused(data_dir, "echo overwritten").startswith(f"{data_dir}/serve.log cannot be written: ")
    assert (tmp_path / "precious").read_text() == "precious"


def test_a_log_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir(mode=0o700)
    (data_dir / "serve.log").touch()
    (data_dir / "serve.log").chmod(0o644)
    refused(data_dir, "exit 1")
    assert stat.S_IMODE((data_dir / "serve.log").stat().st_mode) == 0o600


def test_nothing_is_started_in_a_folder_that_others_can_enter(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert "is accessible to others (mode 755); run: chmod 700" in refused(tmp_path, "echo started")
    assert log(tmp_path) == ""


def test_the_project_that_the_agent_works_on_is_not_what_is_started(tmp_path: Path) -> None:
    """`python -m` would take the package of this name from the folder it is started in."""
    project, data_dir = tmp_path / "project", tmp_path / "data"
    for module in ("__init__", "__main__"):
        path = project / "mcpguard" / f"{module}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("open('executed', 'w').close()")
    command = (sys.executable, "-P", "-m", "mcpguard", "stdio", "--data-dir")
    nowhere = {"MCPGUARD_LISTEN": "nowhere"}  # so that the guard, too, says only that it was started
    with relaying(data_dir, command=command, cwd=project, environ=nowhere) as agent:
        code, said = agent.ended()
    assert code == 1
    assert said.startswith("mcpguard: no guard is running, and the one that was started has exited; its log, ")
    assert not (project / "executed").exists()


def test_the_folder_of_the_socket_must_be_ours_alone_wherever_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data_dir = tmp_path / ("long" * 30)
    with tempfile.TemporaryDirectory(prefix="mg-", dir="/tmp") as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        assert Path(runtime) in agents_socket(data_dir).parents
        with playing(data_dir) as guard:
            guard.path.parent.chmod(0o711)
            assert "is accessible to others (mode 711)" in refused(data_dir, "echo started")
            guard.path.parent.chmod(0o700)
            with connect(guard.path, data_dir, shell("echo started"), os.environ) as connection:
                assert isinstance(connection, socket.socket)


def test_the_real_guard_is_started_and_answers(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}}
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode()
    try:
        with relaying(data_dir, "--face", "direct", environ={"MCPGUARD_LISTEN": "127.0.0.1:0"}) as agent:
            agent.say(asked)
            assert json.loads(agent.heard())["result"]["serverInfo"]["name"] == "mcpguard"
            left(agent)
        assert agents_socket(data_dir).exists()
    finally:
        os.kill(json.loads((data_dir / "guard.lock").read_text())["pid"], signal.SIGTERM)
        until(lambda: not agents_socket(data_dir).exists(), "the guard has stopped")
