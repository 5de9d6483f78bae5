"""What a server that is no package is made of."""

import hashlib
import os
import sys
from pathlib import Path

import pytest

from mcpguard.domain.servers.launches import StdioLaunch
from mcpguard.inspection.definitions.launches import inspect_launch
from mcpguard.upstreams.launch import artifacts
from mcpguard.upstreams.launch.artifacts import executed_files
from mcpguard.upstreams.process import program_files
from mcpguard.upstreams.process.stdio import ProcessLaunch
from mcpguard.upstreams.sandbox.command_files import find_program

PATH = {"PATH": "/usr/bin:/bin"}


def artifact(launch: ProcessLaunch) -> str | None:
    program = find_program(launch.command, launch.environment, launch.folder)
    return artifacts.file_artifact(executed_files(launch, program)) if program else None


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def program(path: Path, text: str = "\x7fELF") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_a_program_is_what_its_links_lead_to(tmp_path: Path) -> None:
    real = program(tmp_path / "real", "one")
    (tmp_path / "link").symlink_to(real)
    for launch in (
        ProcessLaunch(str(tmp_path / "link"), ("--any", "thing"), PATH),
        ProcessLaunch("link", (), {"PATH": str(tmp_path)}),
        ProcessLaunch("./link", (), PATH, tmp_path),
    ):
        assert artifact(launch) == f"file:{digest(b'one')}"
    real.write_text("two")
    assert artifact(ProcessLaunch(str(real), (), PATH)) == f"file:{digest(b'two')}"


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("sh", ["s.js"]),
        ("sh", ["-u", "s.js", "-c", "x"]),
        ("python3", ["-u", "-I", "-X", "dev", "s.js", "-m"]),
        ("python3", ["-E", "-s", "--", "s.js"]),
        ("perl", ["-w", "s.js"]),
    ],
)
def test_with_an_interpreter_of_the_system_it_is_the_script(command: str, arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "s.js").write_text("it")
    assert artifact(ProcessLaunch(command, tuple(arguments), PATH, tmp_path)) == f"script:{digest(b'it')}"


@pytest.mark.parametrize(("path", "told"), [("{0}:.", True), (".:{0}", False), (":{0}", False), ("there:{0}", False)])
def test_which_of_two_is_started_is_not_guessed(path: str, told: bool, tmp_path: Path) -> None:
    """A folder of the PATH that is not written whole is another one in another working directory."""
    program(tmp_path / "bin" / "server", "one")
    launch = ProcessLaunch("server", (), {"PATH": path.format(tmp_path / "bin")}, tmp_path)
    assert artifact(launch) == (f"file:{digest(b'one')}" if told else None)


@pytest.mark.parametrize("arguments", [["s.js"], ["--no-warnings", "s.js"], ["--title", "x", "s.js"]])
def test_an_interpreter_from_elsewhere_counts_too(arguments: list[str], tmp_path: Path) -> None:
    node = program(tmp_path / "node", "node")
    (tmp_path / "s.js").write_text("it")
    launch = ProcessLaunch(str(node), tuple(arguments), PATH, tmp_path)
    assert artifact(launch) == f"file:{digest(b'node')} script:{digest(b'it')}"
    run = ProcessLaunch(str(program(tmp_path / "deno", "deno")), ("run", "-A", "s.js"), PATH, tmp_path)
    assert artifact(run) == f"file:{digest(b'deno')} script:{digest(b'it')}"


@pytest.mark.parametrize(
    "arguments",
    [
        ["-m", "s.js"],
        ["-c", "s.js"],
        ["-e", "s.js"],
        ["--eval", "s.js"],
        ["-r", "s.js", "s.js"],
        ["--require=./x", "s.js"],
        ["--import", "./x", "s.js"],
        ["-", "s.js"],
        [],
        ["-u"],
        ["missing.js"],
        ["https://x.example/s.js"],
        ["."],
    ],
)
def test_what_is_not_one_file_has_none(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "s.js").write_text("it")
    for name in ("node", "python3.12"):
        assert artifact(ProcessLaunch(str(program(tmp_path / name)), tuple(arguments), PATH, tmp_path)) is None


RUN_BY = [
    ("awk", ["-f", "s"]),
    ("mawk", ["-f", "s", "input"]),
    ("make", ["-f", "s", "goal"]),
    ("java", ["-jar", "s", "-f", "-jar"]),
    ("ksh93", ["./s", "-c"]),
    ("tsx", ["./s"]),
    ("dotnet", ["./s"]),
    ("Rscript", ["./s"]),
    ("busybox", ["sh", "./s"]),
]
RUN_BY_NOBODY_KNOWS_WHAT = [
    ("awk", ["-f", "s", "-f", "other"]),
    ("awk", ["BEGIN {}", "s"]),
    ("make", []),
    ("make", ["-f", "s", "-f", "other"]),
    ("make", ["-f", "s", "--file=other"]),
    ("java", ["-cp", "s", "Main"]),
    ("java", ["-javaagent:x", "-jar", "s"]),
    ("ksh", ["-c", "s"]),
    ("ksh", ["s"]),
    ("ksh", ["-o./s", "./s"]),
    ("ksh", ["+o./s", "./s"]),
    ("tsx", ["--import", "s", "s"]),
    ("tsx", ["watch"]),
    ("dotnet", ["run"]),
    ("Rscript", ["-e", "s"]),
    ("busybox", ["sh", "-c", "s"]),
    ("busybox", ["awk", "-f", "s"]),
    ("env", ["python3", "s"]),
    ("sudo", ["s"]),
]


@pytest.mark.parametrize(("runner", "arguments"), RUN_BY)
def test_what_other_programs_run_counts_and_not_they_alone(runner: str, arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "s").write_text("it")
    launch = ProcessLaunch(str(program(tmp_path / runner, "runner")), tuple(arguments), PATH, tmp_path)
    assert artifact(launch) == f"file:{digest(b'runner')} script:{digest(b'it')}"
    declared = StdioLaunch(launch.command, tuple(arguments))
    assert "launch.unhashed" not in {finding.rule for finding in inspect_launch(declared)}


@pytest.mark.parametrize(("link", "real"), [("awk", "own-tool"), ("own-tool", "awk"), ("awk", "mawk")])
def test_what_counts_is_the_file_however_the_runner_or_a_link_to_it_is_called(
    link: str, real: str, tmp_path: Path
) -> None:
    """Some programs go by the name that they were started with, and others do not."""
    (tmp_path / "s").write_text("it")
    program(tmp_path / "bin" / real, "runner")
    (tmp_path / link).symlink_to(tmp_path / "bin" / real)
    launch = ProcessLaunch(str(tmp_path / link), ("-f", "s"), PATH, tmp_path)
    assert artifact(launch) == f"file:{digest(b'runner')} script:{digest(b'it')}"


@pytest.mark.parametrize(("runner", "arguments"), RUN_BY_NOBODY_KNOWS_WHAT)
def test_where_that_cannot_be_told_nothing_is_claimed_and_people_hear_of_it(
    runner: str, arguments: list[str], tmp_path: Path
) -> None:
    (tmp_path / "s").write_text("it")
    launch = ProcessLaunch(str(program(tmp_path / runner, "runner")), tuple(arguments), PATH, tmp_path)
    assert artifact(launch) is None
    assert not {finding.rule for finding in inspect_launch(StdioLaunch("node", ("server.js",)))}
    declared = StdioLaunch(launch.command, tuple(arguments))
    assert "launch.unhashed" in {finding.rule for finding in inspect_launch(declared)}


def test_a_file_behind_the_systems_own_is_exchanged_and_noticed(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("one")
    before = artifact(ProcessLaunch("awk", ("-f", "s"), PATH, tmp_path))
    (tmp_path / "s").write_text("two")
    after = artifact(ProcessLaunch("awk", ("-f", "s"), PATH, tmp_path))
    assert (before, after) == (f"script:{digest(b'one')}", f"script:{digest(b'two')}")


def test_what_cannot_be_read_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert artifact(ProcessLaunch("no-such-program", (), PATH)) is None
    os.mkfifo(tmp_path / "pipe")
    assert artifact(ProcessLaunch("sh", ("pipe",), PATH, tmp_path)) is None
    large = program(tmp_path / "large", "x" * 100)
    assert artifact(ProcessLaunch(str(large), (), PATH)) is not None
    monkeypatch.setattr(program_files, "MOST_BYTES", 99)
    assert artifact(ProcessLaunch(str(large), (), PATH)) is None


def test_this_python_with_a_script(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text("it")
    found = artifact(ProcessLaunch(sys.executable, ("server.py",), PATH, tmp_path))
    assert found
    assert found.endswith(f"script:{digest(b'it')}")
