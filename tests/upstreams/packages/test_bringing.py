"""uv is fetched as it is pinned, or not at all; and whoever has no network is told what to do."""

import subprocess
from pathlib import Path

import pytest

from mcpguard.upstreams.packages import own_uv
from mcpguard.upstreams.packages.not_installed import NotInstalled
from tests.cli.command import mcpguard

PINNED = own_uv.WANTED.read_text()


def nothing_is_left(data: Path) -> None:
    assert own_uv.fetched_uv(data) is None
    assert [each.name for each in own_uv.uv_folder(data).parent.iterdir()] == ["uv.lock"]


def test_what_is_pinned_is_fetched_and_runs(tmp_path: Path) -> None:
    done = mcpguard("server", "fetch-uv", "--data-dir", tmp_path / "data")
    assert done.exit_code == 0, done.output
    program = own_uv.fetched_uv(tmp_path / "data")
    assert program is not None
    assert str(program) in done.stdout
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    assert f"uv=={version} " in PINNED
    assert not (tmp_path / "data").exists()
    again = own_uv.fetch_own_uv(own_uv.uv_folder(tmp_path / "data"))
    assert (again, program.stat().st_mode & 0o022) == (program, 0)


def test_another_wheel_than_the_pinned_one_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = tmp_path / "uv.txt"
    wanted.write_text(f"{PINNED.splitlines()[2].split()[0]} --hash=sha256:{'0' * 64}\n")
    monkeypatch.setattr(own_uv, "WANTED", wanted)
    with pytest.raises(NotInstalled, match="could not be fetched"):
        own_uv.fetch_own_uv(own_uv.uv_folder(tmp_path / "data"))
    nothing_is_left(tmp_path / "data")


def test_without_network_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = {
        "INDEX_URL": "https://127.0.0.1:9/simple",
        "CONFIG_FILE": "/dev/null",
        "RETRIES": "0",
        "NO_CACHE_DIR": "1",
    }
    for name, value in (nowhere | {"EXTRA_INDEX_URL": "", "FIND_LINKS": ""}).items():
        monkeypatch.setenv(f"PIP_{name}", value)
    done = mcpguard("server", "fetch-uv", "--data-dir", tmp_path / "data")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "without network access, install uv yourself so that it is on the guard's PATH" in done.stderr
    nothing_is_left(tmp_path / "data")
