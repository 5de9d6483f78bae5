"""The commands there are, how they explain themselves, and what they say to wrong use."""

from collections.abc import Iterator

import pytest
import typer.main

from mcpguard import __version__
from mcpguard.cli.main import build
from tests.cli.command import mcpguard

DECIDING = {"NAME", "--reason", "--config", "--data-dir"}
DECIDING_ONE = {"SERVER:TOOL", "--reason", "--kind", "--config", "--data-dir"}
COMMANDS = {
    ("call",): {
        "read|write|destructive",
        "SERVER:TOOL",
        "--args",
        "--reason",
        "--timeout",
        "--config",
        "--data-dir",
        "--output",
    },
    ("code",): {"run"},
    ("code", "run"): {
        "FILE",
        "--input",
        "--effect",
        "--server",
        "--reason",
        "--config",
        "--data-dir",
        "--output",
    },
    ("connect",): {
        "PROGRAM",
        "--face",
        "--over",
        "--token-file",
        "--replace",
        "--keep",
        "--name",
        "--undo",
        "--dry-run",
        "--yes",
        "--project",
        "--home",
        "--config",
        "--data-dir",
        "--output",
    },
    ("import",): {
        "PROGRAM",
        "--server",
        "--all",
        "--sandbox",
        "--as",
        "--dry-run",
        "--project",
        "--home",
        "--config",
        "--data-dir",
        "--output",
    },
    ("doctor",): {"--config", "--data-dir", "--output"},
    ("scan",): {"FILE|-", "--output"},
    ("tour",): {"--yes", "--config", "--data-dir"},
    ("search",): {"QUERY", "--limit", "--config", "--data-dir", "--output"},
    ("serve",): {"--config", "--listen", "--data-dir", "--idle-exit"},
    ("stdio",): {"--config", "--data-dir", "--face", "--only"},
    ("status",): {"--config", "--data-dir", "--output"},
    ("audit",): {"verify", "list", "tail", "show", "export", "checkpoint", "key"},
    ("audit", "export"): {
        "FILTER",
        "--format",
        "--after",
        "--db",
        "--gzip",
        "--output",
        "--bundle",
        "--bodies",
        "--chain",
        "--resume",
        "--force",
        "--config",
        "--data-dir",
    },
    ("audit", "verify"): {"PATH", "--checkpoint", "--key", "--config", "--data-dir", "--output"},
    ("audit", "list"): {"FILTER", "--limit", "--before", "--db", "--config", "--data-dir", "--output"},
    ("audit", "tail"): {"FILTER", "--limit", "--once", "--db", "--config", "--data-dir", "--output"},
    ("audit", "show"): {"SEQ|CALL", "--db", "--config", "--data-dir", "--output"},
    ("audit", "checkpoint"): {"PATH", "--config", "--data-dir"},
    ("audit", "prune"): {
        "--reason",
        "--before",
        "--keep",
        "--bodies",
        "--dry-run",
        "--config",
        "--data-dir",
        "--output",
    },
    ("audit", "redact"): {"--reason", "--config", "--data-dir", "--output"},
    ("audit", "key"): {"show", "rotate", "--config", "--data-dir"},
    ("audit", "key", "show"): {"--config", "--data-dir"},
    ("audit", "key", "rotate"): {"--reason", "--config", "--data-dir", "--output"},
    ("caller",): {"add", "list", "revoke"},
    ("caller", "add"): {
        "NAME",
        "--servers",
        "--tools",
        "--effects",
        "--expires",
        "--must-declare",
        "--manage",
        "--reason",
        "--config",
        "--data-dir",
    },
    ("caller", "list"): {"--config", "--data-dir", "--output"},
    ("caller", "revoke"): {"NAME", "--reason", "--config", "--data-dir"},
    ("user",): {
        "add",
        "list",
        "passwd",
        "role",
        "disable",
        "enable",
        "sign-out",
        "sessions",
        "end-session",
        "setup-link",
    },
    ("user", "add"): {"NAME", "--role", "--password-stdin", "--reason", "--config", "--data-dir", "--output"},
    ("user", "list"): {"--config", "--data-dir", "--output"},
    ("user", "passwd"): {*DECIDING, "--password-stdin"},
    ("user", "role"): {*DECIDING, "ROLE"},
    ("user", "disable"): DECIDING,
    ("user", "enable"): DECIDING,
    ("user", "sign-out"): DECIDING,
    ("user", "sessions"): {"NAME", "--config", "--data-dir", "--output"},
    ("user", "end-session"): {*DECIDING - {"NAME"}, "SESSION"},
    ("user", "setup-link"): {"--reason", "--config", "--data-dir", "--output"},
    ("operator",): {"add", "list", "revoke"},
    ("operator", "add"): {"NAME", "--role", "--expires", "--reason", "--config", "--data-dir", "--output"},
    ("operator", "list"): {"--config", "--data-dir", "--output"},
    ("operator", "revoke"): DECIDING,
    ("config",): {"show", "check", "confirm", "schema"},
    ("config", "show"): {"--config", "--data-dir", "--output"},
    ("config", "check"): {"FILE", "--data-dir"},
    ("config", "confirm"): {"--config", "--data-dir", "--output"},
    ("config", "schema"): set[str](),
    ("held",): {"list", "show", "allow", "deny"},
    ("held", "list"): {"--config", "--data-dir", "--output"},
    ("held", "show"): {"ID", "--config", "--data-dir", "--output"},
    ("held", "allow"): {"ID", "--reason", "--config", "--data-dir", "--output"},
    ("held", "deny"): {"ID", "--reason", "--config", "--data-dir", "--output"},
    ("server",): {
        "list",
        "show",
        "logs",
        "add",
        "patch",
        "remove",
        "inspect",
        "approve",
        "reject",
        "quarantine",
        "block",
        "enable",
        "disable",
        "permit",
        "screen",
        "fetch-uv",
    },
    ("server", "fetch-uv"): {"--config", "--data-dir"},
    ("server", "list"): {"--config", "--data-dir", "--output"},
    ("server", "show"): {"NAME", "--config", "--data-dir", "--output"},
    ("server", "logs"): {"NAME", "--lines", "--config", "--data-dir"},
    ("server", "add"): {"NAME", "COMMAND", "--url", "--env", "--header", "--cwd", "--config", "--data-dir"},
    ("server", "patch"): {"NAME", "JSON|@FILE", "--revision", "--config", "--data-dir"},
    ("server", "remove"): {"NAME", "--config", "--data-dir"},
    ("server", "inspect"): {"NAME", "--consent", "--give", "--config", "--data-dir"},
    ("server", "approve"): {
        "NAME",
        "--reason",
        "--only",
        "--effect",
        "--prefix",
        "--may-ask",
        "--sandbox",
        "--mount",
        "--config",
        "--data-dir",
    },
    ("server", "reject"): DECIDING,
    ("server", "quarantine"): DECIDING,
    ("server", "block"): DECIDING,
    ("server", "enable"): DECIDING,
    ("server", "disable"): DECIDING,
    ("server", "permit"): {*DECIDING, "KIND"},
    ("server", "screen"): {*DECIDING, "MODE"},
    ("tool",): {"list", "show", "diff", "ready", "approve", "revoke", "reject", "block", "unblock"},
    ("tool", "list"): {"SERVER", "--kind", "--config", "--data-dir", "--output"},
    ("tool", "show"): {"SERVER:TOOL", "--kind", "--config", "--data-dir", "--output"},
    ("tool", "diff"): {"SERVER:TOOL", "--kind", "--before", "--after", "--config", "--data-dir", "--output"},
    ("tool", "ready"): {"SERVER:TOOL…", "--kind", "--wait", "--config", "--data-dir", "--output"},
    ("tool", "approve"): {*DECIDING_ONE, "--effect"},
    ("tool", "revoke"): DECIDING_ONE,
    ("tool", "reject"): DECIDING_ONE,
    ("tool", "block"): DECIDING_ONE,
    ("tool", "unblock"): DECIDING_ONE,
    ("db",): {"upgrade", "backup"},
    ("db", "upgrade"): {"--config", "--data-dir"},
    ("db", "backup"): {"TARGET", "--config", "--data-dir"},
}


def test_help_lists_every_command() -> None:
    told = mcpguard("--help")
    assert (told.exit_code, told.stderr) == (0, "")
    for command in (
        "doctor",
        "scan",
        "serve",
        "stdio",
        "status",
        "audit",
        "caller",
        "config",
        "db",
        "operator",
        "server",
        "tool",
        "user",
        "--version",
    ):
        assert command in told.stdout.replace("│", " ").split()


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_explains_itself(command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    told = mcpguard(*command, "--help")
    assert (told.exit_code, told.stderr) == (0, "")
    words = told.stdout.replace("│", " ").replace("[", " ").replace("]", " ").lower().split()
    assert {name.lower() for name in COMMANDS[command]} <= {*words}


def test_no_command_is_forgotten_here() -> None:
    def named(group: object, *path: str) -> Iterator[tuple[str, ...]]:
        for name, command in getattr(group, "commands", {}).items():
            yield (*path, name)
            yield from named(command, *path, name)

    assert sorted(named(typer.main.get_command(build([])))) == sorted(COMMANDS)


def test_the_version_is_told() -> None:
    told = mcpguard("--version")
    assert (told.exit_code, told.stdout, told.stderr) == (0, f"mcpguard {__version__}\n", "")


@pytest.mark.parametrize(
    "wrong",
    [
        ["nothing"],
        ["--no-such"],
        ["doctor", "extra"],
        ["doctor", "-o", "xml"],
        ["scan"],
        ["scan", "one", "two"],
        ["scan", "-", "-o", "xml"],
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
        ["audit", "export", "--format", "xml"],
        ["audit", "export", "--after", "-1"],
        ["audit", "export", "--since"],
        ["audit", "export", "--format", "csv", "--format", "jsonl"],
        ["audit", "export", "--bodies"],
        ["audit", "export", "--resume"],
        ["audit", "export", "--force"],
        ["audit", "export", "--bundle", "x", "--output", "y"],
        ["audit", "export", "--bundle", "x", "--force"],
        ["caller", "add"],
        ["caller", "add", "No Name"],
        ["caller", "add", "x", "--effects", "harmless"],
        ["caller", "add", "x", "--effects", ""],
        ["caller", "add", "x", "--expires", "soon"],
        ["caller", "add", "x", "--expires", "0d"],
        ["caller", "add", "x", "--expires", "-1d"],
        ["caller", "add", "x", "y"],
        ["caller", "list", "x"],
        ["user", "add", "x"],
        ["user", "add", "X", "--role", "admin"],
        ["user", "add", "x", "--role", "root"],
        ["user", "add", "x", "--role", "admin", "--password", "y"],
        ["user", "role", "x"],
        ["user", "role", "x", "root"],
        ["user", "sessions", "X"],
        ["user", "end-session", "../x"],
        ["operator", "add", "x"],
        ["operator", "add", "x", "--role", "admin", "--expires", "soon"],
        ["caller", "revoke"],
        ["caller", "revoke", "../x"],
        ["server", "show"],
        ["server", "show", "No Name"],
        ["server", "logs", "../x"],
        ["server", "add"],
        ["server", "add", "x"],
        ["server", "add", "x", "--url", "http://x/", "--", "cat"],
        ["server", "add", "x", "--url", "http://x/", "--env", "A=b"],
        ["server", "add", "x", "--url", "http://x/", "--cwd", "/"],
        ["server", "add", "x", "--header", "A=b", "--", "cat"],
        ["server", "add", "x", "--env", "A", "--", "cat"],
        ["server", "add", "x", "--env", "=b", "--", "cat"],
        ["server", "add", "x", "--env", "A=b", "--env", "A=c", "--", "cat"],
        ["server", "patch", "x"],
        ["server", "patch", "x", "{"],
        ["server", "patch", "x", "[]"],
        ["server", "patch", "x", '{"a": 1, "a": 2}'],
        ["server", "patch", "x", "@missing.json"],
        ["server", "patch", "x", "{}", "--revision", "new"],
        ["server", "approve", "x"],
        ["server", "approve", "x", "--reason"],
        ["server", "approve", "x", "--reason", "y", "--may-ask", "secrets"],
        ["server", "block", "x"],
        ["server", "permit", "x", "secrets", "--reason", "y"],
        ["server", "screen", "x", "none", "--reason", "y"],
        ["tool", "show", "x"],
        ["tool", "show", "x:"],
        ["tool", "show", "X:y"],
        ["tool", "show", "x:y", "--kind", "server"],
        ["tool", "list", "x:y"],
        ["tool", "diff", "x:y", "--before", "v1:0"],
        ["tool", "approve", "x:y"],
        ["tool", "approve", "x:y", "--reason", "z", "--effect", "harmless"],
        ["tool", "approve", "x:y", "--reason", "z", "--effect", "read", "--kind", "prompt"],
        ["audit", "key", "rotate"],
        ["audit", "prune"],
        ["audit", "redact"],
        ["audit", "key", "nothing"],
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


@pytest.mark.parametrize(
    "group", [["audit"], ["caller"], ["db"], ["config"], ["operator"], ["server"], ["tool"], ["user"], []], ids=" ".join
)
def test_a_group_alone_shows_its_help_as_wrong_use(group: list[str]) -> None:
    told = mcpguard(*group)
    assert told.exit_code == 2
    assert "Usage:" in told.output
