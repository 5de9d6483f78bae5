"""Attacks on the operator's socket by processes that found its path: whoever is not the operator gets no answer."""

import functools
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcpguard.web.gate.peer import NotTheOperator, identify
from tests.attacks import guard_with_children, knock
from tests.patience import PATIENCE
from tests.process import Served, run, serving, until

ROOTS = os.getuid() == 0
SOMEBODY = 65534


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every account reaches; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory(prefix="mg-", dir="/tmp") as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


@pytest.fixture
def guard(open_folder: Path) -> Iterator[Served]:
    with serving(open_folder / "data") as served:
        yield served


def knocking(guard: Served, note: Path, *through: str, uid: int | None = None) -> dict[str, Any]:
    """What a process hears that is started with `through` in front."""
    knocker = [sys.executable, str(knock.__file__), str(guard.operator), str(note)]
    subprocess.run([*through, *knocker, *([] if uid is None else [str(uid)])], check=True, timeout=PATIENCE)
    return noted(note)


def noted(note: Path) -> dict[str, Any]:
    until(note.exists, "the knocking process writes down what it heard")
    said: dict[str, Any] = json.loads(note.read_text())
    return said


def nothing_happened(guard: Served, said: dict[str, Any], why: str) -> None:
    """No byte was answered, the guard says why, and the operator is served as before."""
    assert said["heard"] == ""
    assert why in guard.until_logged("operator.refused")["why"]
    assert not guard.logged("request", door="operator")
    told = run("status", "--data-dir", guard.data_dir)
    assert (told.returncode, told.stderr) == (0, "")
    guard.until_logged("request", door="operator", path="/api/v1/status", status=200)


def test_the_same_question_is_answered_when_the_operator_asks(guard: Served, open_folder: Path) -> None:
    said = knocking(guard, open_folder / "note")
    assert said["heard"].startswith("HTTP/1.1 200 ")
    assert f'"process":{guard.pid}' in said["heard"]
    assert not guard.logged("operator.refused")


@pytest.mark.parametrize("how", guard_with_children.HOW)
def test_what_the_guard_started_is_refused(tmp_path: Path, how: str) -> None:
    note = tmp_path / "note"
    started = (sys.executable, "-m", guard_with_children.__name__)
    with serving(tmp_path / "data", "--note", str(note), "--how", how, command=started) as guard:
        said = noted(note)
        nothing_happened(guard, said, f"process {said['pid']} was started by the guard")


@functools.cache
def apart(*kinds: str) -> tuple[str, ...]:
    """A command that starts another in namespaces of these kinds of its own.

    Root may make any. Others may make a user namespace, and in it the rest; where even that is denied, bubblewrap may
    still do it (Ubuntu lets it).
    """
    also = sorted({"user", *kinds})
    unshared = ("unshare", *(f"--{kind}" for kind in kinds), "--fork")
    unshared_both = ("unshare", *(f"--{kind}" for kind in also), "--fork")
    wrapped = ("bwrap", *(f"--unshare-{kind}" for kind in also), "--dev-bind", "/", "/")
    for way in (unshared, unshared_both, wrapped):
        try:
            subprocess.run([*way, "true"], check=True, capture_output=True, timeout=PATIENCE)
        except (OSError, subprocess.CalledProcessError):
            continue
        return way
    pytest.fail(f"neither unshare nor bubblewrap can make a {' and '.join(kinds)} namespace here: install bubblewrap")


@pytest.mark.parametrize("kinds", [("user", "pid"), ("user",), ("pid",)], ids="+".join)
def test_a_process_in_a_namespace_of_its_own_is_refused(
    guard: Served, open_folder: Path, kinds: tuple[str, ...]
) -> None:
    said = knocking(guard, open_folder / "note", *apart(*kinds))
    nothing_happened(guard, said, "namespace")


def connected(folder: Path) -> tuple[socket.socket, socket.socket]:
    """Both ends of a connection: the accepted one first."""
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as caller:
        listener.bind(str(folder / "s"))
        listener.listen()
        caller.connect(str(folder / "s"))
        return listener.accept()[0], caller.dup()


def test_the_modes_alone_keep_other_users_out(guard: Served, open_folder: Path) -> None:
    assert stat.S_IMODE(guard.operator.stat().st_mode) == 0o600
    assert stat.S_IMODE(guard.data_dir.stat().st_mode) == 0o700
    if ROOTS:
        said = knocking(guard, open_folder / "note", uid=SOMEBODY)
        assert (said["heard"], said["error"]) == ("", "PermissionError")
        guard.data_dir.chmod(0o711)
        assert knocking(guard, open_folder / "second", uid=SOMEBODY)["error"] == "PermissionError"
        assert not guard.logged("operator.refused")


def test_another_user_is_refused_even_where_the_modes_let_him_in(
    guard: Served, open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if ROOTS:
        guard.data_dir.chmod(0o777)
        guard.operator.chmod(0o777)
        said = knocking(guard, open_folder / "note", uid=SOMEBODY)
        nothing_happened(guard, said, f"user {SOMEBODY} is not the guard's own")
    else:
        # Only root can become somebody else, and a user namespace does not help: to the kernel it stays the same user.
        # So the guard's question is asked here, on a real connection, in a process that takes itself for somebody else.
        near, far = connected(open_folder)
        with near, far:
            other = os.getuid() + 1
            monkeypatch.setattr(os, "getuid", lambda: other)
            with pytest.raises(NotTheOperator, match="is not the guard's own"):
                identify(near)


def test_a_process_that_is_gone_before_it_is_looked_at_is_refused(guard: Served) -> None:
    """It connects and ends while the guard cannot look, and leaves the connection to another process."""
    gone = "import os, socket, sys; s = socket.socket(fileno=int(sys.argv[1])); s.connect(sys.argv[2]); os._exit(0)"
    with socket.socket(socket.AF_UNIX) as left:
        guard.signal(signal.SIGSTOP)
        try:
            command = [sys.executable, "-c", gone, str(left.fileno()), str(guard.operator)]
            subprocess.run(command, pass_fds=[left.fileno()], check=True, timeout=PATIENCE)
            left.sendall(knock.ASKED)
        finally:
            guard.signal(signal.SIGCONT)
        left.settimeout(PATIENCE)
        try:
            heard = left.recv(65536)
        except ConnectionError:
            heard = b""
    nothing_happened(guard, {"heard": heard.decode()}, "cannot be")


def test_many_refused_knocks_leave_room_for_the_operator(open_folder: Path) -> None:
    """Refused connections are not kept, so they do not use up the number that may be open."""
    with serving(open_folder / "data", environ={"MCPGUARD_LIMITS__CONNECTIONS": "4"}) as guard:
        way = " ".join(apart("user", "pid"))
        knocks = f'for n in 1 2 3 4 5 6 7 8; do {way} "$@" "{open_folder}/note-$n" & done; wait'
        command = ["sh", "-c", knocks, "sh", sys.executable, str(knock.__file__), str(guard.operator)]
        subprocess.run(command, check=True, timeout=PATIENCE)
        until(lambda: len(guard.logged("operator.refused")) == 8, "all eight are refused")
        assert {noted(open_folder / f"note-{n}")["heard"] for n in range(1, 9)} == {""}
        assert run("status", "--data-dir", guard.data_dir).returncode == 0


def test_a_socket_that_a_guard_did_not_leave_behind_is_not_taken_away(open_folder: Path) -> None:
    """Only a socket is cleared away at start; whatever else lies there is somebody's."""
    data_dir = open_folder / "data"
    data_dir.mkdir(mode=0o700)
    (data_dir / "operator.sock").write_text("precious")
    refused = run("serve", "--listen", "127.0.0.1:0", "--data-dir", data_dir)
    assert refused.returncode == 1
    assert f"cannot listen on {data_dir}/operator.sock: " in refused.stderr
    assert "Traceback" not in refused.stderr
    assert (data_dir / "operator.sock").read_text() == "precious"
