"""Settings that stand beside `mcpguard` in the file, and not below it, are refused, so that nobody relies on them."""

import json
from pathlib import Path
from typing import Any

import pytest

from mcpguard.settings.fields import groups, leaves
from mcpguard.settings.load import load
from mcpguard.settings.model import Settings
from mcpguard.settings.problems import SettingsError
from tests.process import run, serving
from tests.settings.samples import WriteFile

NAMES = [*groups(Settings), *(key for key in leaves(Settings) if "." not in key)]
CLOSED: dict[str, Any] = {"enabled": False}


def problems(path: Path) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        load({}, {}, path)
    return caught.value.problems


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [{}, {"enabled": False}, False, None])
def test_a_name_of_ours_at_the_top_says_where_it_belongs(name: str, value: object, write: WriteFile) -> None:
    path = write(json.dumps({"mcpServers": {}, name: value, "mcpguard": {}}))
    (problem,) = problems(path)
    assert problem.startswith(f'"{name}" in {path} belongs below "mcpguard": {{"mcpguard": {{"{name}": …}}}}; ')


@pytest.mark.parametrize(
    "wrong",
    [
        {"Anonymous": CLOSED},
        {"ANONYMOUS": CLOSED},
        {"anonymous.enabled": False},
        {"anonymus": CLOSED},
        {"anonymous ": CLOSED},
        {"dataDir": "/somewhere"},
        {"data-dir": "/somewhere"},
        {"mcpGuard": {"anonymous": CLOSED}},
        {"MCPGUARD": {}},
        {"mcp-guard": {"anonymous": CLOSED}},
        {"mcp_guard": None},
        {"mcpgaurd": {"anonymous": CLOSED}},
        {"mcpguard ": {"anonymous": CLOSED}},
        {"settings": {"anonymous": CLOSED}},
        {"config": {"log": {"level": "debug"}}},
        {"guard": {"Anonymous": CLOSED}},
    ],
    ids=json.dumps,
)
def test_what_is_nearly_right_is_refused_too(wrong: dict[str, Any], write: WriteFile) -> None:
    path = write(json.dumps(wrong))
    (problem,) = problems(path)
    assert '"mcpguard"' in problem
    assert str(path) in problem


@pytest.mark.parametrize(
    "others",
    [
        {"inputs": [], "permissions": {"allow": ["x"]}, "env": {"A": "1"}, "hooks": {}, "model": "m"},
        {"projects": {"/home/me": {"mcpServers": {}, "history": []}}, "numStartups": 3, "theme": "dark"},
        {"globalShortcut": "", "preferences": {"menuBarEnabled": False}},
        {"general": {"vimMode": True}, "ui": {"theme": "x"}, "tools": {"sandbox": True}, "logs": {"level": 3}},
        {"settings": {"log": "verbose"}, "mcp": {"enabled": True}},
    ],
    ids=lambda others: next(iter(others)),
)
def test_the_keys_of_other_programs_are_left_alone(others: dict[str, Any], write: WriteFile) -> None:
    assert set(load({}, {}, write(json.dumps({"mcpServers": {}, **others}))).sources.values()) == {"default"}


def test_no_value_is_repeated_and_not_everything_is_told(write: WriteFile) -> None:
    path = write(json.dumps({f"anonymous.\x1b{number}": "canary" for number in range(1000)}))
    found = problems(path)
    assert len(found) == 10
    assert "canary" not in "".join(found)
    assert "\x1b" not in "".join(found)


def test_the_guard_does_not_start_open_and_the_check_says_why(write: WriteFile, tmp_path: Path) -> None:
    path = write('{"anonymous": {"enabled": false}}')
    checked = run("config", "check", path)
    assert checked.returncode == 1
    assert '"anonymous"' in checked.stdout + checked.stderr
    refused = run("serve", "--config", path, "--data-dir", tmp_path / "data", "--listen", "127.0.0.1:0")
    assert refused.returncode != 0
    assert 'belongs below "mcpguard"' in refused.stderr
    assert not (tmp_path / "data").exists()
    path.write_text('{"mcpguard": {"anonymous": {"enabled": false}}}')
    with serving(tmp_path / "data", "--config", str(path)) as guard:
        assert guard.announced
