"""Units of systemd, as systemd itself reads them."""

import os
import shutil
import subprocess
from pathlib import Path

PROGRAM = Path("/opt/mcpguard/bin/mcpguard")
"""Where the unit of the documentation expects the program; no machine that runs tests has it there."""


def complaints(unit: Path, *, of_a_user: bool = False) -> str:
    """What `systemd-analyze verify` says about a unit on a machine where `PROGRAM` is installed; nothing if it is
    fine. Its exit code says less: a value that it does not understand is left out, with a warning."""
    bwrap, analyze = shutil.which("bwrap"), shutil.which("systemd-analyze")
    assert bwrap, "install bubblewrap"
    assert analyze, "install systemd"
    installed = ["--dev-bind", "/", "/", "--tmpfs", "/opt", "--dir", "/opt/run", "--ro-bind", "/bin/true", str(PROGRAM)]
    words = [bwrap, *installed, "--", analyze, *(["--user"] if of_a_user else []), "verify", str(unit)]
    environ = {**os.environ, "HOME": "/opt", "XDG_RUNTIME_DIR": "/opt/run"}  # of a user who has no other units
    done = subprocess.run(words, env=environ, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout + done.stderr or ("" if done.returncode == 0 else f"exit code {done.returncode}")
