"""A database that cannot be written when the guard starts: it does not start, says why, and changes nothing."""

import os
from pathlib import Path

import pytest

from tests.process import MCPGUARD, run, serving
from tests.world import said

# Root may write what nobody may, unless the capability that lets it is taken away.
AS_ANYONE = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []


@pytest.mark.parametrize("name", ["mcpguard.db", "guard.lock"])
def test_a_file_that_cannot_be_written_is_refused_and_left_as_it_is(name: str, tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with serving(data_dir) as guard:
        guard.signal(15)
        assert guard.ended() == 0
    before = said(data_dir / "mcpguard.db")
    (data_dir / name).chmod(0o400)

    refused = run("serve", "--data-dir", data_dir, "--listen", "127.0.0.1:0", command=[*AS_ANYONE, *MCPGUARD])

    assert refused.returncode == 1
    assert refused.stderr.splitlines()[-1].startswith(f"mcpguard: {data_dir / name} cannot be")
    assert "Permission denied" in refused.stderr
    assert said(data_dir / "mcpguard.db") == before


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir(mode=0o500)
    refused = run("serve", "--data-dir", data_dir, "--listen", "127.0.0.1:0", command=[*AS_ANYONE, *MCPGUARD])
    assert refused.returncode == 1
    assert "Permission denied" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert list(data_dir.iterdir()) == []
