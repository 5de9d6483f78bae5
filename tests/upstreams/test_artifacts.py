"""What a server that is no package is made of."""

import hashlib
import os
import sys
from pathlib import Path

import pytest

from mcpguard.upstreams import artifacts, program_files
from mcpguard.upstreams.artifacts import executed
from mcpguard.upstreams.transports.stdio import Launch

PATH = {"PATH": "/usr/bin:/bin"}


def artifact(launch: Launch) -> str | None:
    return artifacts.artifact(executed(launch))


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
        Launch(str(tmp_path / "link"), ("--any", "thing"), PATH),
        Launch("link", (), {"PATH": str(tmp_path)}),
        Launch("./link", (), PATH, tmp_path),
    ):
        assert artifact(launch) == f"file:{digest(b'one')}"
    real.write_text("two")
    assert artifact(Launch(str(real), (), PATH)) == f"file:{digest(b'two')}"


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
    assert artifact(Launch(command, tuple(arguments), PATH, tmp_path)) == f"script:{digest(b'it')}"


@pytest.mark.parametrize(("path", "told"), [("{0}:.", True), (".:{0}", False), (":{0}", False), ("there:{0}", False)])
def test_which_of_two_is_started_is_not_guessed(path: str, told: bool, tmp_path: Path) -> None:
    """A folder of the PATH that is not written whole is another one in another working directory."""
    program(tmp_path / "bin" / "server", "one")
    launch = Launch("server", (), {"PATH": path.format(tmp_path / "bin")}, tmp_path)
    assert artifact(launch) == (f"file:{digest(b'one')}" if told else None)


@pytest.mark.parametrize("arguments", [["s.js"], ["--no-warnings", "s.js"], ["--title", "x", "s.js"]])
def test_an_interpreter_from_elsewhere_counts_too(arguments: list[str], tmp_path: Path) -> None:
    node = program(tmp_path / "node", "node")
    (tmp_path / "s.js").write_text("it")
    launch = Launch(str(node), tuple(arguments), PATH, tmp_path)
    assert artifact(launch) == f"file:{digest(b'node')} script:{digest(b'it')}"
    run = Launch(str(program(tmp_path / "deno", "deno")), ("run", "-A", "s.js"), PATH, tmp_path)
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
        assert artifact(Launch(str(program(tmp_path / name)), tuple(arguments), PATH, tmp_path)) is None


def test_what_cannot_be_read_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert artifact(Launch("no-such-program", (), PATH)) is None
    os.mkfifo(tmp_path / "pipe")
    assert artifact(Launch("sh", ("pipe",), PATH, tmp_path)) is None
    large = program(tmp_path / "large", "x" * 100)
    assert artifact(Launch(str(large), (), PATH)) is not None
    monkeypatch.setattr(program_files, "MOST_BYTES", 99)
    assert artifact(Launch(str(large), (), PATH)) is None


def test_this_python_with_a_script(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text("it")
    found = artifact(Launch(sys.executable, ("server.py",), PATH, tmp_path))
    assert found
    assert found.endswith(f"script:{digest(b'it')}")
