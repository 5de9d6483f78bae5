"""What CONTRIBUTING says about tests: the file that it shows passes, and a failed test tells what its guard did."""

import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.process import ROOT, Result

FAILING = """
from tests.gateway.speaking import guarded
from tests.process import serving
from tests.simulators.script import Script


async def test_guarded(tmp_path):
    async with guarded(tmp_path, Script()) as guard:
        assert not await guard.client().call("web::echo", {"n": 1})


async def test_world(guard):
    assert not await guard.call()


def test_serving(tmp_path):
    with serving(tmp_path / "data") as guard:
        assert not guard.pid
"""


@pytest.fixture
def tried(tmp_path: Path, request: pytest.FixtureRequest) -> Result:
    """How this file of tests ends, where only what fails is kept."""
    file, kept = tmp_path / "test_shown.py", tmp_path / "kept"
    file.write_text(request.param)
    options = ["-q", "-p", "no:cacheprovider", "-p", "tests.conftest", "-c", "pyproject.toml", "--rootdir", "."]
    command = [sys.executable, "-m", "pytest", *options, "--basetemp", str(kept), str(file)]
    with TemporaryDirectory() as sockets:  # a guard that is killed with its test leaves them
        environ = os.environ | {"XDG_RUNTIME_DIR": sockets}
        return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)


SHOWN = re.findall(r"^```python\n(.*?)^```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("tried", SHOWN, ids=["shown"], indirect=True)
def test_the_example_passes_and_leaves_nothing(tried: Result, tmp_path: Path) -> None:
    assert (tried.returncode, " passed" in tried.stdout) == (0, True), tried.stdout
    assert [path for path in (tmp_path / "kept").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("tried", [FAILING], ids=["failing"], indirect=True)
def test_a_failed_test_tells_the_log_and_the_last_records_and_keeps_its_folder(tried: Result, tmp_path: Path) -> None:
    assert "3 failed" in tried.stdout
    guarded, world, serving = tried.stdout.split("The ledger's last records")[1:]
    assert '"capability": "tool"' in guarded
    assert '"caller_label": "an agent"' in world
    assert '"kind": "started"' in serving
    log = world.split("The guard's log")[1]
    assert "mcpguard 0." in log
    assert '"event": "setup.offered"' in log
    assert len([*(tmp_path / "kept").rglob("mcpguard.db")]) == 3
