"""A machine on which nothing can be confined: nobody may take the sandbox for tested there."""

import subprocess
import sys
from pathlib import Path

import pytest

from mcpguard.upstreams.sandbox.probe import NoSandbox, UsableSandbox, probe_sandbox
from tests.attacks.sandboxed import works
from tests.patience import PATIENCE
from tests.process import ROOT, environment

ONE = "tests/attacks/test_sandbox_network.py"
CHOSEN = ("-k", "other_kinds", "-p", "no:cacheprovider", "-q")
UNCONFINED = """#!/bin/sh
# Takes the options of bubblewrap, and does nothing of what they say.
while [ "$1" != cat ]; do shift; done
exec "$@"
"""


def run_where_nothing_can_be_confined(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """In a sandbox of its own, which lets nobody have another. What older runs left is not for it to remove."""
    around = [works().sandbox.bwrap, "--unshare-user", "--disable-userns", "--cap-drop", "ALL", "--dev-bind", "/", "/"]
    command = [*around, sys.executable, "-m", "pytest", ONE, *CHOSEN, f"--basetemp={folder / 'run'}"]
    environ = {name: value for name, value in environment({}).items() if name != "CI"} | variables
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=PATIENCE, check=False)


def test_a_run_that_decides_fails(tmp_path: Path) -> None:
    run = run_where_nothing_can_be_confined(tmp_path, CI="true")
    assert run.returncode == 1, run.stdout + run.stderr
    assert "the sandbox cannot be tested: bubblewrap failed: " in run.stdout, run.stdout + run.stderr


def test_another_run_says_loudly_that_it_was_not_tested(tmp_path: Path) -> None:
    run = run_where_nothing_can_be_confined(tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "THE SANDBOX WAS NOT TESTED" in run.stdout
    assert "the sandbox was not tested: bubblewrap failed: " in run.stdout
    assert "passed" not in run.stdout


def with_bubblewrap(folder: Path, text: str | None) -> UsableSandbox | NoSandbox:
    """What is found where bubblewrap is this program, or is not there, and the rest is as it should be."""
    sandbox = works().sandbox
    for program in (sandbox.prlimit, sandbox.setpriv, sandbox.env, "/usr/bin/cat"):
        (folder / Path(program).name).symlink_to(program)
    if text is not None:
        (folder / "bwrap").write_text(text)
        (folder / "bwrap").chmod(0o755)
    return probe_sandbox(path=str(folder))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "bwrap is not installed: install bubblewrap"),
        ("#!/bin/sh\necho 'setting up uid map: Permission denied' >&2; exit 1\n", "map: Permission denied"),
        ("#!/bin/sh\nexit 3\n", "bubblewrap failed: exit code 3"),
        ("#!/nonexistent\n", "cannot run bubblewrap: "),
        ("#!/bin/sh\nexit 0\n", "a process in bubblewrap is not confined: "),
        (
            UNCONFINED,
            "it can gain privileges, its system calls are not filtered, the number of its processes is not limited",
        ),
    ],
    ids=["not there", "denied", "fails", "cannot be run", "does nothing", "confines nothing"],
)
def test_nothing_weaker_takes_its_place(tmp_path: Path, text: str | None, why: str) -> None:
    found = with_bubblewrap(tmp_path, text)
    assert isinstance(found, NoSandbox)
    assert why in found.why
    assert "\n" not in found.why
