"""A token goes to our own guard and to nobody who has taken its place."""

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from mcpguard.app.places import agents_socket
from mcpguard.relay.problem import CannotRelay
from mcpguard.relay.trust import connect_to_own_socket, is_private, make_private, refuse_others
from tests.gateway.agent import relaying
from tests.gateway.played_guard import playing
from tests.patience import PATIENCE

ROOTS = os.getuid() == 0
SOMEBODY = 65534
LISTENING = """
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
os.setuid(int(sys.argv[2]))
listener.listen()
print("listening", flush=True)
print(len(listener.accept()[0].recv(1)))
"""


def refusal(path: Path) -> str:
    with pytest.raises(CannotRelay) as refused:
        connect_to_own_socket(path)
    return str(refused.value)


def somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only root can make files and processes of others; anybody can take himself for somebody else."""
    ours = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: ours + 1)


def test_where_nothing_is_there_is_no_guard(tmp_path: Path) -> None:
    assert connect_to_own_socket(tmp_path / "agents.sock") is None
    assert connect_to_own_socket(tmp_path / "nothing" / "agents.sock") is None
    (tmp_path / "file").touch()
    assert connect_to_own_socket(tmp_path / "file" / "below" / "agents.sock") is None


@pytest.mark.parametrize("mode", [0o750, 0o701, 0o777])
def test_a_folder_that_others_can_enter_is_refused_before_anything_is_said(tmp_path: Path, mode: int) -> None:
    with playing(tmp_path) as guard:
        tmp_path.chmod(mode)
        with relaying(tmp_path, environ={"MCPGUARD_TOKEN": "canary"}) as agent:
            code, said = agent.ended()
        assert guard.nobody_came()
    assert code == 1
    assert said == (
        f"mcpguard: the directory {agents_socket(tmp_path).parent} is accessible to others (mode {mode:o}); "
        f"run: chmod 700 {tmp_path}, or choose another with --data-dir\n"
    )


def test_what_lies_there_must_be_a_socket_and_its_folder_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "agents.sock"
    path.touch()
    assert refusal(path) == f"{path} is not a socket"
    path.unlink()
    with playing(tmp_path / "real"):
        path.symlink_to(agents_socket(tmp_path / "real"))
        assert refusal(path) == f"{path} is not a socket"
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert refusal(tmp_path / "link" / "agents.sock") == f"{tmp_path}/link is not a directory"


def test_a_socket_or_a_folder_of_another_account_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = SOMEBODY if ROOTS else os.getuid()
    with playing(tmp_path) as guard:
        if ROOTS:
            os.chown(guard.path, SOMEBODY, SOMEBODY)
            assert refusal(guard.path) == f"the socket {guard.path} belongs to user {other}, not to your own account"
            os.chown(guard.path.parent, SOMEBODY, SOMEBODY)
        else:
            somebody_else(monkeypatch)
        wrong = f"the directory {guard.path.parent} belongs to user {other}, not to your own account"
        assert refusal(guard.path) == wrong
        with pytest.raises(CannotRelay, match="belongs to user"):
            make_private(guard.path.parent)
        assert guard.nobody_came()


def test_a_process_of_another_account_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    near, far = socket.socketpair()
    with near, far:
        refuse_others(near)
        with monkeypatch.context() as patch:
            somebody_else(patch)
            with pytest.raises(CannotRelay, match=f"belongs to user {os.geteuid()}, not to your own account"):
                refuse_others(near)
    if ROOTS:
        path = agents_socket(tmp_path)
        command = [sys.executable, "-c", LISTENING, str(path), str(SOMEBODY)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as listening:
            assert listening.stdout is not None
            assert listening.stdout.readline() == "listening\n"
            with relaying(tmp_path, environ={"MCPGUARD_TOKEN": "canary"}) as agent:
                code, said = agent.ended()
            assert code == 1
            assert f"the listening process belongs to user {SOMEBODY}" in said
            assert listening.communicate(timeout=PATIENCE)[0] == "0\n"


def test_a_folder_is_made_for_us_alone(tmp_path: Path) -> None:
    made = tmp_path / "one" / "two"
    assert not is_private(made)
    make_private(made)
    assert is_private(made)
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    make_private(made)
    (made / "file").touch()
    for wrong in (made / "file", made / "file" / "below"):
        with pytest.raises(CannotRelay, match="cannot be made"):
            make_private(wrong)
