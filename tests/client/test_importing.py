"""A program that has only the library gets only the library."""

import subprocess
import sys

from tests.patience import PATIENCE
from tests.process import ROOT, environment

ASKED = """
import sys, threading
import mcpguard.client
ours = sorted(name for name in sys.modules if name.startswith("mcpguard."))
heavy = {"fastapi", "sqlalchemy", "alembic", "typer", "structlog", "re2"}
print(*{name.split(".")[1] for name in ours}, sep=",")
print(*heavy & {name.partition(".")[0] for name in sys.modules}, sep=",")
print(threading.active_count())
"""


def test_importing_it_brings_no_guard_and_starts_nothing() -> None:
    command = [sys.executable, "-c", ASKED]
    run = subprocess.run(
        command, cwd=ROOT, env=environment({}), capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    ours, heavy, threads = run.stdout.splitlines()
    assert set(ours.split(",")) == {"client", "proxy", "codec", "domain"}
    assert heavy == ""
    assert threads == "1"
