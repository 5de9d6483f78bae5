"""`mcpguard stdio` is understood at a glance where that is possible, and explained like every other command."""

import tempfile
from pathlib import Path

import pytest
import typer.main

from mcpguard.cli.agents.quick_start import OPTIONS, parse_relay_command
from mcpguard.cli.main import build
from mcpguard.relay.relay import RelayCommand, RelayFace
from tests.cli.command import mcpguard
from tests.process import run

COMMAND = typer.main.get_command(build(["stdio"])).commands["stdio"]  # type: ignore[attr-defined]


def explained(words: list[str]) -> RelayCommand:
    """What the whole command line makes of the words."""
    return RelayCommand(**COMMAND.make_context("stdio", list(words)).params)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--config", "a b.json"],
        ["--config=c=d.json", "--data-dir", "/srv/é"],
        ["--data-dir", "one", "--data-dir=two"],
        ["--data-dir", ""],
        ["--data-dir="],
        ["--face", "guard"],
        ["--face=direct"],
        ["--face", "direct", "--only", "x", "--face", "transparent"],
        ["--only", "x"],
        ["--only="],
        ["--face", "direct", "--separator", "__"],
        ["--separator=::"],
        ["--separator", "."],
        ["--only", "a server", "--face", "transparent", "--config", "c", "--data-dir", "d"],
    ],
    ids=" ".join,
)
def test_what_is_understood_at_a_glance_is_what_was_meant(words: list[str]) -> None:
    assert parse_relay_command(words) == explained(words)


def test_what_looks_like_an_option_is_looked_at_twice() -> None:
    for option in OPTIONS:
        assert parse_relay_command([option, "-x"]) is None
        assert parse_relay_command([f"{option}=-x"]) is None
    assert explained(["--only", "-x", "--data-dir=-y"]) == RelayCommand(None, Path("-y"), RelayFace.GUARD, "-x")


WRONG = [
    ["extra"],
    ["--help=1"],
    ["--no-such"],
    ["--config"],
    ["--only"],
    ["--face"],
    ["--face", "other"],
    ["--face=GUARD"],
    ["--separator"],
    ["--separator", "/"],
    ["--separator="],
    ["--face", "transparent"],
    ["--data", "x"],
    ["--token", "x"],
    ["--idle-exit", "1"],
    ["-h"],
]


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_wrong_use_is_exit_code_2_and_nothing_on_standard_output(words: list[str]) -> None:
    assert parse_relay_command(words) is None
    told = mcpguard("stdio", *words)
    assert (told.exit_code, told.stdout) == (2, "")
    assert told.stderr


@pytest.mark.parametrize(("words", "code"), [(["--help"], 0), (["--face", "transparent"], 2)])
def test_the_program_itself_explains_as_the_command_does(words: list[str], code: int) -> None:
    told = run("stdio", *words)
    assert told.returncode == code
    explanation = told.stdout if code == 0 else told.stderr
    assert "Usage: mcpguard stdio" in explanation
    assert {told.stdout, told.stderr} == {"", explanation}
    if code == 0:
        for word in (*OPTIONS, "MCPGUARD_TOKEN", "MCPGUARD_TOKEN_FILE"):
            assert word in explanation


@pytest.mark.parametrize(
    "environ", [{"MCPGUARD_TOKEN": "a", "MCPGUARD_TOKEN_FILE": "b"}, {"MCPGUARD_CONFIG": "missing"}]
)
def test_what_cannot_be_done_is_told_in_a_sentence(environ: dict[str, str]) -> None:
    told = run("stdio", environ=environ)
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr.startswith("mcpguard: ")
    assert told.stderr.count("\n") == 1


def test_the_whole_command_line_relays_too() -> None:
    """What is no mistake, yet too much for a glance."""
    with tempfile.TemporaryDirectory(prefix="mg-", dir="/tmp") as short:  # a long path has its socket elsewhere
        data_dir = Path(short, "-x")
        data_dir.mkdir(mode=0o700)
        (data_dir / "agents.sock").touch()
        told = run("stdio", "--data-dir", "-x", cwd=Path(short))
        assert (told.returncode, told.stdout) == (1, "")
        assert told.stderr == f"mcpguard: {data_dir}/agents.sock is not a socket\n"
