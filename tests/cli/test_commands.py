"""The commands there are, how they explain themselves, and what they say to wrong use."""

import pytest
import typer.main

from mcpguard import __version__
from mcpguard.cli.main import build
from tests.cli.command import mcpguard

COMMANDS = {
    ("serve",): {"--config", "--listen", "--data-dir", "--idle-exit"},
    ("stdio",): {"--config", "--data-dir", "--face", "--only"},
    ("status",): {"--config", "--data-dir", "--output"},
    ("audit",): {"verify", "list", "checkpoint", "key"},
    ("audit", "verify"): {"PATH", "--checkpoint", "--key", "--config", "--data-dir", "--output"},
    ("audit", "list"): {"PATH", "--limit", "--config", "--data-dir", "--output"},
    ("audit", "checkpoint"): {"PATH", "--config", "--data-dir"},
    ("audit", "key"): {"--config", "--data-dir"},
    ("config",): {"show", "check", "confirm", "schema"},
    ("config", "show"): {"--config", "--data-dir", "--output"},
    ("config", "check"): {"FILE", "--data-dir"},
    ("config", "confirm"): {"--config", "--data-dir", "--output"},
    ("config", "schema"): set[str](),
    ("server",): {"list", "logs"},
    ("server", "list"): {"--config", "--data-dir", "--output"},
    ("server", "logs"): {"NAME", "--lines", "--config", "--data-dir"},
    ("db",): {"upgrade", "backup"},
    ("db", "upgrade"): {"--config", "--data-dir"},
    ("db", "backup"): {"TARGET", "--config", "--data-dir"},
}


def test_help_lists_every_command() -> None:
    told = mcpguard("--help")
    assert (told.exit_code, told.stderr) == (0, "")
    for command in ("serve", "stdio", "status", "audit", "config", "db", "--version"):
        assert command in told.stdout.replace("│", " ").split()


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_explains_itself(command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    told = mcpguard(*command, "--help")
    assert (told.exit_code, told.stderr) == (0, "")
    words = told.stdout.replace("│", " ").replace("[", " ").replace("]", " ").lower().split()
    assert {name.lower() for name in COMMANDS[command]} <= {*words}


def test_no_command_is_forgotten_here() -> None:
    root = typer.main.get_command(build([]))
    found: list[tuple[str, ...]] = []
    for name, group in root.commands.items():  # type: ignore[attr-defined]
        found += [(name,), *((name, member) for member in getattr(group, "commands", ()))]
    assert sorted(found) == sorted(COMMANDS)


def test_the_version_is_told() -> None:
    told = mcpguard("--version")
    assert (told.exit_code, told.stdout, told.stderr) == (0, f"mcpguard {__version__}\n", "")


@pytest.mark.parametrize(
    "wrong",
    [
        ["nothing"],
        ["--no-such"],
        ["serve", "--no-such"],
        ["serve", "--listen"],
        ["serve", "extra"],
        ["status", "-o", "xml"],
        ["audit", "nothing"],
        ["audit", "verify", "one", "two"],
        ["audit", "verify", "--checkpoint"],
        ["audit", "list", "-n", "0"],
        ["audit", "list", "-n", "ten"],
        ["audit", "list", "-n", "10001"],
        ["audit", "key", "extra"],
        ["db", "backup"],
        ["db", "backup", "one", "two"],
        ["db", "upgrade", "extra"],
    ],
    ids=" ".join,
)
def test_wrong_use_is_exit_code_2_and_nothing_on_standard_output(wrong: list[str]) -> None:
    told = mcpguard(*wrong)
    assert (told.exit_code, told.stdout) == (2, "")
    assert told.stderr


@pytest.mark.parametrize("group", [["audit"], ["db"], ["config"], []], ids=" ".join)
def test_a_group_alone_shows_its_help_as_wrong_use(group: list[str]) -> None:
    told = mcpguard(*group)
    assert told.exit_code == 2
    assert "Usage:" in told.output
