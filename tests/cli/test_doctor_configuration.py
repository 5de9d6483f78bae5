"""`mcpguard doctor` where the configuration is wrong, or others have access to it."""

import json
from pathlib import Path

import pytest

from tests.cli.command import HOSTILE, inert, mcpguard
from tests.cli.doctoring import bad, doctor, of, only

BUSY = {"listener.free"}
"""Without settings a guard would listen on the usual port, which whoever runs the tests may have given to their own."""


def config(tmp_path: Path, whole: object, mode: int = 0o600) -> Path:
    path = tmp_path / "config.json"
    path.write_text(whole if isinstance(whole, str) else json.dumps(whole))
    path.chmod(mode)
    return path


@pytest.mark.parametrize(
    "whole",
    [
        "",
        "{",
        "[]",
        '{"mcpguard": {"listn": "x"}}',
        '{"mcpguard": {"limits": {"depth": 1}}}',
        '{"mcpguard": {"store": {"url": "mysql://s3cr3t-v4lu3"}}}',
        '{"a": 1, "a": 2}',
        json.dumps({"mcpguard": {HOSTILE: 1}}),
    ],
)
def test_settings_that_are_refused_are_a_problem_and_the_rest_is_looked_at(
    stopped: Path, tmp_path: Path, whole: str
) -> None:
    file = config(tmp_path, whole)
    findings = doctor(stopped, "--config", file, code=1)
    assert {*bad(findings)} - BUSY == {"settings.loaded"}
    assert of(findings, "settings.known")
    assert only(findings, "database.read")["level"] == "ok"
    printed = mcpguard("doctor", "--data-dir", stopped, "--config", file).output
    assert inert(printed)
    assert "s3cr3t-v4lu3" not in printed


@pytest.mark.parametrize("data_dir", ['""', "7", '"\\u0000"', '"~nobody-of-this-name/x"'])
def test_a_data_directory_that_cannot_be_meant_is_survived(tmp_path: Path, data_dir: str) -> None:
    result = mcpguard("doctor", "--config", config(tmp_path, f'{{"mcpguard": {{"data_dir": {data_dir}}}}}'))
    assert (result.exit_code, result.stderr) == (1, "")
    assert "the disk" in result.stdout


def test_a_configuration_file_that_is_not_there_is_a_problem(stopped: Path, tmp_path: Path) -> None:
    assert {*bad(doctor(stopped, "--config", tmp_path / "none.json", code=1))} - BUSY == {"settings.loaded"}


def test_servers_that_are_wrong_and_keys_that_are_not_read_are_told(stopped: Path, tmp_path: Path) -> None:
    file = config(tmp_path, {"mcpServers": {"a": {}, "b": {"url": "https://x.example/", "trust": True}}, "more": 1})
    found = of(doctor(stopped, "--config", file, code=1), "servers.declared")
    assert sorted(each["level"] for each in found) == ["notice", "notice", "problem"]


def test_a_file_that_others_can_write_is_a_problem(stopped: Path, tmp_path: Path) -> None:
    file = config(tmp_path, {}, 0o620)
    found = only(doctor(stopped, "--config", file, code=1), "file.writable")
    assert found["next"] == f"chmod go-w {file}"


def test_a_file_in_a_folder_where_others_can_replace_it_is_a_problem(stopped: Path, tmp_path: Path) -> None:
    folder = tmp_path / "etc"
    folder.mkdir()
    folder.chmod(0o770)
    assert bad(doctor(stopped, "--config", config(folder, {}), code=1)) == ["file.replaceable"]


def test_a_file_that_others_can_read_is_a_problem_where_values_are_written_out(stopped: Path, tmp_path: Path) -> None:
    remote = {"url": "https://x.example/", "headers": {"Authorization": "Bearer s3cr3t-v4lu3"}}
    file = config(tmp_path, {"mcpServers": {"x": remote}}, 0o644)
    found = only(doctor(stopped, "--config", file, code=1), "file.readable")
    assert "x's Authorization" in found["sentence"]
    assert f"chmod 600 {file}" in found["next"]
    assert "s3cr3t-v4lu3" not in mcpguard("doctor", "--data-dir", stopped, "--config", file).output
    file.chmod(0o600)
    assert bad(doctor(stopped, "--config", file)) == []
    config(tmp_path, {"mcpServers": {"x": {**remote, "headers": {"Authorization": "${env:X}"}}}}, 0o644)
    assert bad(doctor(stopped, "--config", file)) == []


def test_the_password_of_a_database_counts_as_written_out(stopped: Path, tmp_path: Path) -> None:
    url = "postgresql://guard:s3cr3t-v4lu3@127.0.0.1:1/guard"
    file = config(tmp_path, {"mcpguard": {"store": {"url": url}}}, 0o604)
    assert "store.url" in only(doctor(stopped, "--config", file, code=1), "file.readable")["sentence"]


def test_a_shell_that_only_tightens_is_no_notice(stopped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert only(doctor(stopped), "account.shell")["level"] == "notice"
    monkeypatch.setenv("MCPGUARD_AUTHORITY__SHELL", "tighten")
    assert only(doctor(stopped), "account.shell")["level"] == "ok"
