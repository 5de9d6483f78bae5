"""`mcpguard` without a command says what there is, and what to do next."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from mcpguard.cli.main import COMMANDS, GROUPS, command_line
from mcpguard.cli.next_steps import next_steps
from tests.cli.command import inert
from tests.cli.desk import Desk
from tests.process import serving
from tests.simulators.words import Json

SERVER: Json = {"name": "web", "standing": "approved", "waiting": 0}
QUIET: Json = {"ready": {"ready": True}, "held": 0, "unconfirmed": [], "servers": [SERVER]}


def told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What it says to somebody whose data is in this folder."""
    monkeypatch.setenv("MCPGUARD_DATA_DIR", str(folder))
    result = CliRunner().invoke(command_line([], {}), [])
    assert result.exit_code == 0, result.output
    assert inert(result.stdout)
    assert result.stdout.endswith("\nAll commands: mcpguard --help\n")
    for command in commands(result.stdout):
        name = command.split()[1]
        assert name in (*COMMANDS, *GROUPS), command
    return result.stdout


def commands(said: str) -> list[str]:
    """The commands that are proposed, in order."""
    return [line.strip().split("  ")[0] for line in said.splitlines() if line.startswith("  mcpguard")]


def proposed(*, has_users: bool = True, has_calls: bool = True, **changed: object) -> list[str]:
    return [step.command for step in next_steps(QUIET | changed, has_users=has_users, has_calls=has_calls)]


def test_somebody_who_begins_is_told_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = told(tmp_path / "nothing", monkeypatch)
    assert said.startswith("No guard runs, and none has run here yet.\n")
    assert commands(said)[0] == "mcpguard serve"
    assert not (tmp_path / "nothing").exists(), "nothing is made"


def test_where_a_guard_has_run_its_data_is_named(lived: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = told(lived, monkeypatch)
    assert said.startswith(f"No guard runs now. Its data is in {lived}.\n")
    assert commands(said) == ["mcpguard serve", "mcpguard doctor"]


def test_a_guard_that_runs_says_what_is_missing_until_nothing_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path / "data") as guard:
        desk = Desk(guard, tmp_path / "description")
        said = told(guard.data_dir, monkeypatch)
        assert said.startswith(f"The guard runs, with 0 servers. Console: {guard.url}/\n")
        assert commands(said) == [
            "mcpguard user setup-link",
            "mcpguard import",
            "mcpguard server add NAME -- COMMAND",
        ]
        desk.approved()
        assert commands(told(guard.data_dir, monkeypatch)) == ["mcpguard user setup-link", "mcpguard connect"]
        assert desk("call", "read", "notes:list_notes").exit_code == 0
        assert commands(told(guard.data_dir, monkeypatch))[1:] == ["mcpguard status", "mcpguard audit list"]


def test_what_waits_comes_first() -> None:
    assert proposed() == ["mcpguard status", "mcpguard audit list"]
    assert proposed(held=2, unconfirmed=["hosts"]) == ["mcpguard held list", "mcpguard config confirm"]
    assert proposed(servers=[SERVER | {"standing": "quarantined"}]) == ["mcpguard server show web"]
    assert proposed(servers=[SERVER | {"waiting": 3}]) == ["mcpguard server show web"]
    assert proposed(servers=[SERVER | {"standing": "blocked"}]) == []
    assert proposed(ready={"ready": False}, held=1)[0] == "mcpguard doctor"
    assert proposed(has_users=False, has_calls=False) == ["mcpguard user setup-link", "mcpguard connect"]
