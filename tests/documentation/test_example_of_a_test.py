"""The test file that CONTRIBUTING shows passes as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

from tests.process import ROOT


def test_the_example_passes(tmp_path: Path) -> None:
    (shown,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL | re.MULTILINE)
    file = tmp_path / "test_shown.py"
    file.write_text(shown)
    options = ["-q", "-p", "no:cacheprovider", "-p", "tests.conftest", "-c", "pyproject.toml", "--rootdir", "."]
    command = [sys.executable, "-m", "pytest", *options, str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, " passed" in done.stdout) == (0, True), done.stdout
