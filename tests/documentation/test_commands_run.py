"""Every command of the README and of the first hour is run, in its order, as a newcomer would."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.documentation.newcomer import INSTALLED, NOT_A_NEWCOMERS, cloned
from tests.patience import PATIENCE
from tests.process import ROOT

BLOCK = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
MAY_FIND_SOMETHING = {"doctor": (0, 1)}
"""What ends otherwise where something is wrong with the machine: it is not this test's to say that nothing is."""
SERVER = """{
  // what somebody has already
  "mcpServers": {
    "notes": { "command": "npx", "args": ["-y", "notes-server"], "env": { "NOTES_TOKEN": "not-a-secret-1" } }
  }
}
"""


def commands(page: str) -> list[str]:
    said = (ROOT / page).read_text()
    return [line.removeprefix("$ ") for block in BLOCK.findall(said) for line in block.splitlines() if line[:2] == "$ "]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """And a home with a server in it."""
    home = tmp_path / "home"
    (home / ".cursor").mkdir(parents=True)
    (home / ".cursor" / "mcp.json").write_text(SERVER)
    return cloned(tmp_path / "mcpguard")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(NOT_A_NEWCOMERS)}
    ours = {"MCPGUARD_LISTEN": "127.0.0.1:0", "MCPGUARD_HOLDS__WAIT_SECONDS": "1"}  # nobody answers the held call
    return kept | ours | {"HOME": str(tmp_path / "home"), "COLUMNS": "200"}


@contextmanager
def running(command: str, checkout: Path, environ: dict[str, str]) -> Iterator[None]:
    """The guard in a terminal of its own, until Ctrl-C."""
    with subprocess.Popen(
        ["/bin/sh", "-c", command],
        cwd=checkout,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as guard:
        assert guard.stdout is not None
        seen: list[str] = []
        try:
            for line in guard.stdout:
                seen.append(line)
                if line.startswith("Stop it with "):
                    break
            assert any(line.startswith("Stop it with ") for line in seen), "".join(seen)
            yield
        finally:
            os.killpg(guard.pid, signal.SIGINT)
            guard.stdout.read()
            guard.wait(PATIENCE)


@pytest.mark.parametrize("page", ["README.md", "docs/quick-start.md"])
def test_the_commands_of_a_page_do_what_they_say(page: str, checkout: Path, environ: dict[str, str]) -> None:
    first, second, *rest = commands(page)
    assert (first, second) == ("make run", ". .venv/bin/activate"), "in two terminals"
    environ |= {"PATH": f"{checkout / '.venv' / 'bin'}{os.pathsep}{environ['PATH']}"}  # as the second one does
    assert len(rest) > 7
    before = (Path(environ["HOME"]) / ".cursor" / "mcp.json").read_bytes()
    with running(first.replace("make", INSTALLED), checkout, environ):
        for command in rest:
            done = subprocess.run(
                ["/bin/sh", "-c", command],
                cwd=checkout,
                env=environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=PATIENCE,
            )
            expected = next((codes for word, codes in MAY_FIND_SOMETHING.items() if word in command), (0,))
            assert done.returncode in expected, f"{command}\n{done.stdout}{done.stderr}"
            assert "Traceback" not in done.stderr
            assert not re.search("not-a-secret", done.stdout + done.stderr), command
    assert (Path(environ["HOME"]) / ".cursor" / "mcp.json").read_bytes() == before, "connected, and taken back"
    assert shutil.which("mcpguard", path=checkout / ".venv" / "bin")


def test_every_command_in_those_pages_is_one_that_is_run() -> None:
    """What begins with a prompt stands in a block that is run, and nowhere else."""
    for page in ("README.md", "docs/quick-start.md"):
        said = (ROOT / page).read_text()
        assert re.findall(r"^\$ (.*)$", said, re.MULTILINE) == commands(page)
        assert not re.findall(r"^```(?:bash|shell|console)", said, re.MULTILINE)
