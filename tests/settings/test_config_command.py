"""`mcpguard config`: data on standard output, everything else on standard error, and honest exit codes."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mcpguard.cli.config import app
from mcpguard.settings.document import json_schema
from mcpguard.settings.fields import leaves
from mcpguard.settings.load import load
from mcpguard.settings.model import Settings
from tests.settings.samples import WriteFile, as_file


def run(*arguments: str, **env: str) -> Result:
    return CliRunner().invoke(app, list(arguments), env=env)


def test_show_prints_every_setting_with_its_source(write: WriteFile, tmp_path: Path) -> None:
    path = write(as_file({"store.readers": 5, "store.url": "postgresql://u:p@h/d"}))
    long = str(tmp_path / ("d" * 100))
    result = run("show", "--config", str(path), "--data-dir", long, MCPGUARD_HOSTS="[::1]:80,b")
    assert (result.exit_code, result.stderr) == (0, "")
    settings, _, _servers = result.stdout.partition("\n\n")
    head, *lines = (line.rstrip() for line in settings.splitlines())
    assert head.split() == ["key", "value", "source"]
    rows = dict(line.split(maxsplit=1) for line in lines)
    assert list(rows) == list(leaves(Settings))
    assert rows["store.readers"].split(maxsplit=1) == ["5", f"file {path}"]
    assert rows["store.url"].startswith("set ")
    assert rows["hosts"].startswith("[::1]:80, b ")
    assert rows["audit.key_file"].startswith("not set ")
    assert rows["data_dir"].split(maxsplit=1) == [long, "command line --data-dir"]


def test_show_as_json_is_what_was_loaded(write: WriteFile) -> None:
    path = write(as_file({"listen": "[::1]:1"}))
    result = run("show", "-o", "json", "--config", str(path))
    report = json.loads(result.stdout)
    loaded = load({}, {}, path)
    assert report["version"] == loaded.settings.version
    assert report["config_file"] == str(path)
    assert {each["key"]: each["source"] for each in report["settings"]} == loaded.sources
    (listen,) = (each for each in report["settings"] if each["key"] == "listen")
    assert listen == {"key": "listen", "value": "[::1]:1", "source": f"file {path}"}


def test_show_prints_hidden_characters_as_code_points() -> None:
    result = run("show", "--data-dir", "/srv/\x1b[31m[bold]x")
    assert "/srv/⟨U+001B⟩[31m[bold]x" in result.stdout


def test_check_says_ok(write: WriteFile) -> None:
    result = run("check", str(write("{}")))
    assert (result.exit_code, result.stdout, result.stderr) == (0, "ok\n", "")
    assert run("check").stdout == "ok\n"


@pytest.mark.parametrize("command", ["check", "show"])
def test_every_problem_goes_to_standard_error(command: str, write: WriteFile) -> None:
    path = write('{"mcpguard": {"listn": 1, "store": {"readers": 0}}}')
    result = run(command, MCPGUARD_CONFIG=str(path), MCPGUARD_LISTEN="0.0.0.0:1")
    assert (result.exit_code, result.stdout) == (1, "")
    assert len(result.stderr.splitlines()) == 3
    assert f"mcpguard.listn in {path} is not a setting; did you mean listen?\n" in result.stderr


def test_check_reads_the_file_it_is_given_and_no_other(write: WriteFile) -> None:
    path = write("{}")
    assert run("check", str(path), MCPGUARD_CONFIG="/no/such/file").exit_code == 0
    assert run("check", MCPGUARD_CONFIG="/no/such/file").exit_code == 1


def test_schema_prints_the_schema() -> None:
    assert json.loads(run("schema").stdout) == json_schema()


@pytest.mark.parametrize("arguments", [["show", "--no-such"], ["show", "-o", "xml"], ["check", "a", "b"], ["nothing"]])
def test_wrong_use_is_exit_code_2(arguments: list[str]) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
