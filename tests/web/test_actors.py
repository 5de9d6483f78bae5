"""Who decides at the operator's socket, as it goes into the record."""

import os
import subprocess
import sys
from pathlib import Path

from mcpguard.web.gate.actors import LONGEST, account, program
from tests.cli.command import inert
from tests.process import until

PROC = Path("/proc/self/exe").exists()
NOBODY = 2**31 - 7
ON_A_TERMINAL = """
import pty, sys
pid, terminal = pty.fork()
if pid:
    print(pid, flush=True)
sys.stdin.read()
"""


def test_an_account_has_its_number_and_its_name() -> None:
    assert account(0) == "uid:0 (root)"
    assert account(NOBODY) == f"uid:{NOBODY}"


def test_a_program_that_cannot_be_looked_at_is_known_by_its_number() -> None:
    assert program(NOBODY) == f"process ({NOBODY})"


def test_this_program_is_known() -> None:
    name = Path("/proc/self/exe").readlink().name if PROC else "process"
    assert program(os.getpid()).startswith(f"{name} ({os.getpid()})")


def test_the_terminal_is_told() -> None:
    """Of a process that has one, whatever the tests themselves run on."""
    command = [sys.executable, "-c", ON_A_TERMINAL]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        expected = f"({pid}) on pts/" if PROC else f"process ({pid})"
        until(lambda: expected in program(pid), "it has its terminal")
        process.kill()


def test_a_hostile_name_of_a_program_does_nothing(tmp_path: Path) -> None:
    hostile = tmp_path / ("\u202e\x1b[2J" + "x" * 200)
    hostile.write_bytes(Path("/bin/cat").read_bytes())
    hostile.chmod(0o700)
    with subprocess.Popen(["/bin/cat"], executable=hostile, stdin=subprocess.PIPE) as process:
        told = program(process.pid)
        process.kill()
    assert inert(told)
    assert len(told) < 2 * LONGEST
    assert told.startswith("⟨U+202E⟩⟨U+001B⟩[2Jxxx" if PROC else "process ")
