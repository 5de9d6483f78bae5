"""The data directory of a command that asks a guard is the one that the settings say, and so is what is wrong."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest
import typer

from mcpguard.cli.shared import data_folder
from mcpguard.settings.load import load
from mcpguard.settings.problems import SettingsError
from tests.process import environment


class Case(NamedTuple):
    """What is set where. `usual` and `named`: the content of the usual file, and of the one that `--config` names.

    `light`: whether nothing else is set, so that the settings need not be loaded.
    """

    environ: Mapping[str, str] = MappingProxyType({})
    usual: object = None
    named: object = None
    given: str | None = None
    light: bool = True


CASES = {
    "nothing": Case(),
    "an option": Case(given="~/given"),
    "the environment": Case({"MCPGUARD_DATA_DIR": "/tmp/../tmp/there"}),  # noqa: S108 - only a name
    "an empty variable": Case({"MCPGUARD_DATA_DIR": ""}),
    "a token for agents": Case({"MCPGUARD_TOKEN": "mcpg_x"}, usual={"mcpServers": {}}),
    "servers in the file": Case(usual={"mcpServers": {"a": {"command": "a"}}, "servers": {"b": "wrong"}}),
    "the usual file": Case(usual={"mcpguard": {"data_dir": "/there"}}),
    "a named file": Case(usual={"mcpguard": {"data_dir": "/usual"}}, named={"mcpguard": {"data_dir": "/named"}}),
    "an option and a file": Case(named={"mcpguard": {"data_dir": 7}}, given="/given"),
    "a wrong directory": Case(named={"mcpguard": {"data_dir": 7}}),
    "another setting": Case(usual={"mcpguard": {"data_dir": "/there", "listen": "[::1]:9"}}, light=False),
    "a wrong setting": Case(usual={"mcpguard": {"store": {"readers": 0}}}, given="/given", light=False),
    "a misplaced setting": Case(usual={"data_dir": "/there"}, light=False),
    "a misspelt setting": Case(named={"mcpGuard": {"data_dir": "/there"}}, light=False),
    "no object": Case(usual=[], light=False),
    "no settings": Case(usual={"mcpguard": None}, light=False),
    "a wrong variable": Case({"MCPGUARD_STORE__READERS": "0"}, light=False),
    "a misspelt variable": Case({"mcpguard_data_dir": "/there"}, light=False),
    "no such file": Case({"MCPGUARD_CONFIG": "/nonexistent/config.json"}, given="/given", light=False),
    "an unnamed file": Case({"MCPGUARD_CONFIG": ""}, light=False),
}


@pytest.mark.parametrize("case", CASES.values(), ids=[*CASES])
def test_a_command_finds_the_directory_that_the_settings_say(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in {*os.environ} - {*environment({})}:
        monkeypatch.delenv(name)
    for name, value in {"XDG_CONFIG_HOME": str(tmp_path), **case.environ}.items():
        monkeypatch.setenv(name, value)
    usual, named = tmp_path / "mcpguard" / "config.json", tmp_path / "named.json"
    usual.parent.mkdir()
    for path, content in ((usual, case.usual), (named, case.named)):
        if content is not None:
            path.write_text(json.dumps(content))
    config = named if case.named is not None else None
    given = None if case.given is None else Path(case.given)
    try:
        said: Path | None = load({"data_dir": given}, os.environ, config).settings.data_dir
    except SettingsError:
        said = None
    try:
        found: Path | None = data_folder.data_directory(config, given)
    except typer.Exit:
        found = None
    assert found == said
    assert data_folder._says_nothing_else(config, os.environ) == case.light
