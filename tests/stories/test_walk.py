"""From a checkout to a guarded call of a real server and to the proof of its record, as anybody can see it."""

import re
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documentation.newcomer import INSTALLED, NOT_A_NEWCOMERS, cloned
from tests.patience import PATIENCE
from tests.upstreams.packages.installations import environ

EVERYTHING = "@modelcontextprotocol/server-everything@2026.8.31"
WITHOUT_ECHO = "@modelcontextprotocol/server-memory@2026.8.31"


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A folder for temporary ones, with a path that leaves room for that of a socket."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def walked(tmp_path: Path, temporary: Path, package: str) -> subprocess.CompletedProcess[str]:
    """The walk of somebody who has a guard of their own."""
    kept = {name: value for name, value in environ().items() if not name.startswith(NOT_A_NEWCOMERS)}
    theirs = {"MCPGUARD_DATA_DIR": str(tmp_path / "theirs"), "TMPDIR": str(temporary)}
    return subprocess.run(
        [cloned(tmp_path / "mcpguard") / "docs" / "walk.sh"],
        env={**kept, **theirs, "MAKE": INSTALLED, "WALK_PACKAGE": package},
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=3 * PATIENCE,
    )


def guards_stopped(said: str) -> bool:
    """Whether nobody listens any more where the guard was."""
    (port,) = re.findall(r"console +http://127\.0\.0\.1:(\d+)/", said)
    with socket.socket() as there:
        return there.connect_ex(("127.0.0.1", int(port))) != 0


def test_the_walk_ends_with_a_call_that_was_answered_and_a_log_that_is_whole(tmp_path: Path, temporary: Path) -> None:
    done = walked(tmp_path, temporary, EVERYTHING)
    assert done.returncode == 0, done.stdout + done.stderr
    numbers = re.findall(r"^(\d)\. \$ ", done.stdout, re.MULTILINE)
    assert numbers == ["1", "2", "3", "4", "5", "6"]
    assert len(re.findall(r"^   \d+ s$", done.stdout, re.MULTILINE)) == 6, "each with the seconds that it took"
    assert "   Echo: hello\n" in done.stdout
    assert "   Integrity: OK\n" in done.stdout
    assert not (tmp_path / "theirs").exists(), "nothing of theirs is touched"
    assert list(temporary.iterdir()) == [], "and nothing is left"
    assert guards_stopped(done.stdout)


def test_a_call_that_nobody_answers_is_no_end_of_the_walk(tmp_path: Path, temporary: Path) -> None:
    done = walked(tmp_path, temporary, WITHOUT_ECHO)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "command 4 of 6 failed" in done.stderr
    assert "Integrity" not in done.stdout
    assert guards_stopped(done.stdout), "the guard was stopped all the same"
