"""`mcpguard doctor`: for which programs the guard is not the only way."""

import shutil
from pathlib import Path

import pytest

from tests.agents import homes
from tests.cli.command import inert, mcpguard
from tests.cli.doctoring import bad, doctor, files, only

HERE = "http://127.0.0.1:0/mcp"
"""The address of the guard that listens at the port of the fixture `free`."""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root below which files of the system are looked for."""
    root = tmp_path / "root"
    root.mkdir()
    monkeypatch.setattr("mcpguard.cli.doctor.only_way.ROOT", root)
    return root


@pytest.mark.usefixtures("free")
def test_what_goes_around_the_guard_is_a_notice_until_lockdown_is_weakened(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, data = shutil.copytree(homes.LINUX, tmp_path / "somebody"), tmp_path / "none"
    monkeypatch.setenv("HOME", str(home))
    found = only(doctor(data), "lockdown.programs")
    assert found["level"] == "notice"
    assert "Claude Code (reaches github (user)" in found["sentence"]
    assert "mcpguard lockdown PROGRAM" in found["next"]
    assert inert(found["sentence"])
    assert not any(secret in found["sentence"] for secret in homes.SECRETS)

    for program in ("claude-code", "vscode", "codex"):
        words = ("--url", HERE, "--root", root, "--data-dir", tmp_path / "admin")
        assert mcpguard("lockdown", program, *words, "--write").exit_code == 0
    before = files(root)
    sentence = only(doctor(data), "lockdown.programs")["sentence"]
    assert "Cursor" in sentence
    assert not any(title in sentence for title in ("Claude Code", "VS Code", "Codex"))

    weak = next(path for path in root.rglob("managed-settings.json"))
    weak.write_bytes(weak.read_bytes().replace(b"127.0.0.1:0", b"127.0.0.1:*"))
    every = doctor(data, code=1)
    assert bad(every) == ["lockdown.deployed"]
    assert f"{weak} has another allowedMcpServers than this guard's" in only(every, "lockdown.deployed")["sentence"]
    assert "Claude Code" in only(every, "lockdown.programs")["sentence"]
    assert files(root).keys() == before.keys(), "nothing is changed"


@pytest.mark.usefixtures("free", "root")
def test_an_account_without_programs_is_told_so(tmp_path: Path) -> None:
    assert only(doctor(tmp_path / "none"), "lockdown.programs")["level"] == "ok"
