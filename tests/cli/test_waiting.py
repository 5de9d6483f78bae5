"""Whoever waits at a terminal sees what for; whoever pipes a command somewhere gets what it says, and nothing more."""

import os
import pty
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mcpguard.cli.shared.progress import TELLER, show_waiting
from tests.cli.desk import Desk
from tests.patience import PATIENCE
from tests.process import MCPGUARD, environment, serving

SLOW = """
import pathlib, sys, time
while not pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.01)
from mcpguard.demo.__main__ import main
main(["honest"], {})
"""
WIPED = "\r\x1b[K"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with serving(tmp_path / "data") as guard:
        desk = Desk(guard, tmp_path / "none")
        desk.add(sys.executable, "-c", SLOW, str(tmp_path / "go"))
        yield desk


@contextmanager
def begun(desk: Desk, *words: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A command that has a terminal on its standard error, and that terminal."""
    ours, theirs = pty.openpty()
    command = [*MCPGUARD, *words, "--data-dir", str(desk.guard.data_dir)]
    try:
        with subprocess.Popen(
            command, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, text=True, env=environment({})
        ) as process:
            yield process, ours
    finally:
        os.close(theirs)
        os.close(ours)


def read_to(terminal: int, wanted: str) -> str:
    """What is shown there, until this is."""
    shown = ""
    while wanted not in shown:
        shown += os.read(terminal, 4096).decode()
    return shown


def test_a_slow_inspection_says_how_far_it_has_come_and_leaves_nothing_of_that(desk: Desk, tmp_path: Path) -> None:
    with begun(desk, "server", "inspect", "notes", "--consent") as (command, terminal):
        read_to(terminal, f"{WIPED}notes: starting or contacting it … ")
        (tmp_path / "go").touch()
        after = read_to(terminal, "Review them")
        assert command.wait(PATIENCE) == 0
        assert command.stdout is not None
        assert command.stdout.read() == "notes was started and listed 10 capabilities: 10 new, 0 changed, 0 gone\n"
    *_, left = after.rpartition(WIPED)
    assert "…" not in left, "what was shown meanwhile is wiped out"


def test_a_slow_call_says_that_it_waits(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    desk.done("server", "inspect", "notes", "--consent")
    (tmp_path / "go").unlink()
    desk.done("server", "approve", "notes", "--reason", "looked at it", "--findings-read", "all")
    with begun(desk, "call", "read", "notes:list_notes") as (command, terminal):
        read_to(terminal, f"{WIPED}waiting for the answer … ")
        (tmp_path / "go").touch()
        assert command.wait(PATIENCE) == 0
        assert command.stdout is not None
        assert "garden" in command.stdout.read()


def test_where_nobody_sits_at_a_terminal_nobody_is_asked_what_is_waited_for() -> None:
    assert not sys.stderr.isatty()
    with show_waiting(lambda: "never"):
        assert TELLER not in {thread.name for thread in threading.enumerate()}
