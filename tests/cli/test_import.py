"""`mcpguard import` in front of a real guard: what programs declare comes into quarantine, their secrets nowhere."""

import json
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from mcpguard.agents.candidates import Candidate, CandidateWay, GuardedServers, candidates
from mcpguard.agents.config_files import read_files
from mcpguard.agents.programs import BY_NAME
from mcpguard.cli.agents import import_servers
from mcpguard.cli.shared.guard_client import GuardClient
from tests.agents import homes
from tests.cli.command import HOSTILE, inert, mcpguard
from tests.cli.desk import Desk
from tests.cli.typing_person import typed
from tests.process import serving

NEW = {
    "github", "files", "shop-db", "builder", "linter", "notes", "linear", "search", "indexer", "tracker", "weather",
    "older", "figma", "docs", "issues", "a-b",
}  # fmt: skip


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with serving(tmp_path / "data") as guard:
        yield Desk(guard, tmp_path / "none")


def imports(data_dir: Path, *words: str, home: Path = homes.LINUX, project: Path = homes.PROJECT) -> Result:
    where = ("--home", home, "--project", project, "--data-dir", data_dir)
    result = mcpguard("import", *where, *words)
    assert inert(result.output)
    return result


def told(data_dir: Path, *words: str, **where: Path) -> Any:  # noqa: ANN401 - JSON
    return json.loads(imports(data_dir, "-o", "json", *words, **where).stdout)


def claude(tmp_path: Path, servers: object) -> Path:
    """The home of somebody with these servers in Claude Code."""
    home = tmp_path / "somebody"
    home.mkdir(exist_ok=True)
    (home / ".claude.json").write_text(json.dumps({"mcpServers": servers}))
    return home


def everything(folder: Path) -> bytes:
    """All bytes below a folder, but for those of secrets."""
    return b"".join(
        path.read_bytes() for path in folder.rglob("*") if path.is_file() and "secrets" not in path.parts
    )  # fmt: skip


def test_without_a_guard_it_is_told_what_there_is(tmp_path: Path) -> None:
    listed = imports(tmp_path / "data")
    assert listed.exit_code == 0
    assert "No guard is running" in listed.stderr
    assert {each["name"] for each in told(tmp_path / "data") if each["becomes"] == "new"} == NEW
    assert not any(secret in listed.output for secret in homes.SECRETS)
    assert not (tmp_path / "data" / "secrets").exists()
    wanted = imports(tmp_path / "data", "--all")
    assert (wanted.exit_code, wanted.stdout) == (1, "")
    assert "no guard answers" in wanted.stderr
    assert not (tmp_path / "data" / "secrets").exists(), "and nothing happened"


def test_a_home_without_programs_is_told_as_such(tmp_path: Path) -> None:
    listed = imports(tmp_path / "data", home=tmp_path, project=tmp_path)
    assert (listed.exit_code, listed.stdout) == (0, "")
    assert "No server is declared" in listed.stderr


def test_looking_changes_nothing(desk: Desk) -> None:
    for words in ((), ("--dry-run", "--all"), ("-o", "json")):
        assert imports(desk.guard.data_dir, *words).exit_code == 0
    assert desk.json("server", "list") == []
    assert not (desk.guard.data_dir / "secrets").exists()
    would = told(desk.guard.data_dir, "--all", "--dry-run")
    assert {each["result"] for each in would} == {"would be added"}


def test_all_that_is_new_comes_into_quarantine_and_its_secrets_into_files(desk: Desk) -> None:
    data = desk.guard.data_dir
    done = imports(data, "--all")
    assert done.exit_code == 0, done.output
    servers = {each["name"]: each for each in desk.json("server", "list")}
    assert servers.keys() == NEW
    assert {each["standing"] for each in servers.values()} == {"quarantined"}
    assert {each["origin"] for each in servers.values()} == {"import"}
    assert not servers["issues"]["enabled"], "as it was there"
    kept = {path: path.read_text() for path in (data / "secrets").rglob("*") if path.is_file()}
    assert sorted(kept.values()) == sorted(homes.SECRETS)
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}
    assert {stat.S_IMODE(path.parent.stat().st_mode) for path in kept} == {0o700}
    shown = desk.json("server", "show", "shop-db")["launch"]
    assert shown["environment"][0]["value"] == f"${{file:{data}/secrets/shop-db/DB_PASSWORD}}"
    assert shown["folder"] == "/work/shop"
    for secret in homes.SECRETS:
        assert secret not in done.output
        assert secret.encode() not in everything(data)
        assert secret not in "\n".join(desk.guard.lines)
    for what in (
        "tracker: the program would ask for a value",
        "X-Api-Key",
        "FIGMA_TOKEN in its environment",
        " connect\n",
    ):
        assert what in done.stderr

    again = told(data)
    assert {each["becomes"] for each in again} == {"here already", "mcpguard itself", "cannot be taken"}
    assert {each["name"] for each in again if each["becomes"] == "here already"} == NEW
    assert "Nothing new to import" in imports(data, "--all").stderr


def test_what_comes_without_network_is_said_with_the_choice(desk: Desk, tmp_path: Path) -> None:
    there = {
        "here": {"command": "python3", "args": ["-V"]},
        "elsewhere": {"type": "http", "url": "https://a.example/mcp"},
    }
    home = claude(tmp_path, there)
    for words in ((), ("--all", "--dry-run"), ("--all",)):
        said = imports(desk.guard.data_dir, *words, home=home, project=tmp_path).stderr
        (line,) = [each for each in said.splitlines() if "WITHOUT NETWORK" in each]
        assert line.endswith(": here"), words
        assert "server approve NAME --sandbox contained" in said
    assert desk.json("server", "show", "here")["confinement"]["profile"] == "strict"


def test_with_network_is_a_choice_for_all_that_are_started(desk: Desk, tmp_path: Path) -> None:
    there = {
        "here": {"command": "python3", "args": ["-V"]},
        "elsewhere": {"type": "http", "url": "https://a.example/mcp"},
    }
    home = claude(tmp_path, there)
    results = told(desk.guard.data_dir, "--all", "--sandbox", "contained", home=home, project=tmp_path)
    assert {each["name"]: each["sandbox"] for each in results} == {"here": "contained", "elsewhere": None}
    assert desk.json("server", "show", "here")["confinement"]["profile"] == "contained"
    assert desk.json("server", "show", "here")["standing"] == "quarantined"
    again = imports(desk.guard.data_dir, "--all", "--sandbox", "contained", home=home, project=tmp_path)
    assert "WITHOUT NETWORK" not in again.stderr


def test_what_is_chosen_is_imported_and_nothing_else(desk: Desk) -> None:
    data = desk.guard.data_dir
    [one, other] = told(data, "--server", "linter", "--server", "mcpguard")
    assert (one["name"], one["result"], other["result"]) == ("linter", "added", "refused")
    [renamed] = told(data, "codex", "--server", "docs", "--as", "Manuals")
    assert (renamed["name"], renamed["result"]) == ("manuals", "added")
    assert {each["name"] for each in desk.json("server", "list")} == {"linter", "manuals"}
    bad = ("--server", "docs", "--as", "bad name!")
    two = ("--server", "a", "--server", "b", "--as", "c")
    for words in (("--server", "no-such"), ("--as", "x"), ("--all", "--as", "x"), ("emacs",), two, bad):
        assert imports(data, *words).exit_code == 2
    assert len(desk.json("server", "list")) == 2


def test_names_that_are_taken_are_told_and_another_helps(desk: Desk, tmp_path: Path) -> None:
    data = desk.guard.data_dir
    home = claude(tmp_path, {"notes": {"command": "one"}, "same": {"command": "x"}})
    (home / ".cursor").mkdir()
    theirs = {"Notes": {"command": "other", "env": {"A_TOKEN": "s3cret-value"}}, "same": {"command": "x"}}
    (home / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": theirs}))
    found = {(each["program"], each["name"]): each["becomes"] for each in told(data, home=home, project=tmp_path)}
    assert found == {
        ("claude-code", "notes"): "new",
        ("claude-code", "same"): "new",
        ("cursor", "notes"): "name is taken",
        ("cursor", "same"): "as another",
    }
    unclear = imports(data, "--server", "notes", home=home, project=tmp_path)
    assert unclear.exit_code == 2
    assert "declared differently for claude-code, cursor" in " ".join(unclear.stderr.replace("│", " ").split())
    assert imports(data, "--all", home=home, project=tmp_path).exit_code == 0
    [refused] = told(data, "cursor", "--server", "notes", home=home, project=tmp_path)
    assert refused["result"] == "refused"
    assert "--as NAME" in refused["why"]
    assert not (data / "secrets").exists(), "and nothing happened"
    [added] = told(data, "cursor", "--server", "notes", "--as", "other", home=home, project=tmp_path)
    assert (added["name"], added["result"]) == ("other", "added")
    assert [path.name for path in (data / "secrets" / "other").iterdir()] == ["A_TOKEN"]


def test_a_secret_that_is_there_is_never_written_over(desk: Desk, tmp_path: Path) -> None:
    data = desk.guard.data_dir
    home = claude(tmp_path, {"a": {"command": "x", "env": {"A_TOKEN": "new-value", "B_TOKEN": "other"}}})
    folder = data / "secrets" / "a"
    folder.mkdir(parents=True, mode=0o700)
    (data / "secrets").chmod(0o700)
    (folder / "B_TOKEN").write_text("what somebody else needs")
    (folder / "B_TOKEN").chmod(0o600)
    done = imports(data, "--all", home=home, project=tmp_path)
    assert done.exit_code == 1
    assert "already holds another value" in done.stdout
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"B_TOKEN": "what somebody else needs"}
    assert desk.json("server", "list") == [], "and nothing happened"
    (folder / "B_TOKEN").write_text("other")
    assert imports(data, "--all", home=home, project=tmp_path).exit_code == 0


@pytest.mark.parametrize("laid", ["secrets", "secrets/a"])
def test_a_link_that_somebody_laid_is_not_followed(desk: Desk, tmp_path: Path, laid: str) -> None:
    data, elsewhere = desk.guard.data_dir, tmp_path / "elsewhere"
    elsewhere.mkdir()
    home = claude(tmp_path, {"a": {"command": "x", "env": {"A_TOKEN": "new-value"}}})
    (data / laid).parent.mkdir(exist_ok=True, mode=0o700)
    (data / laid).symlink_to(elsewhere)
    assert imports(data, "--all", home=home, project=tmp_path).exit_code == 1
    assert [*elsewhere.iterdir()] == []
    assert desk.json("server", "list") == [], "and nothing happened"


def test_what_the_guard_refuses_leaves_no_secret_behind(desk: Desk, tmp_path: Path) -> None:
    """As when somebody else adds one of the name in between."""
    data = desk.guard.data_dir
    home = claude(tmp_path, {"a": {"command": "x", "env": {"A_TOKEN": "new-value"}}})
    [one] = _found(home, data)
    desk.done("server", "add", "a", "--", "another")
    result = import_servers._imported(GuardClient(data), one)
    assert result["result"] == "refused"
    assert "a" in result["why"]
    assert not (data / "secrets" / "a").exists()
    assert desk.json("server", "show", "a")["launch"]["command"] == "another"


def _found(home: Path, data: Path) -> list[Candidate]:
    items = [item for each in read_files(BY_NAME["claude-code"], homes.home(home), home) for item in each.items]
    found = candidates(items, GuardedServers({}, {}, (), data / "secrets"))
    assert [each.way for each in found] == [CandidateWay.NEW]
    return found


def test_one_that_is_wrong_stops_no_other_and_a_hostile_one_nobody(desk: Desk, tmp_path: Path) -> None:
    data = desk.guard.data_dir
    home = claude(
        tmp_path,
        {
            HOSTILE: {"command": HOSTILE.replace("\0", ""), "args": ["x"]},
            "reads": {"command": "x", "env": {"K": "${file:/etc/passwd}"}},
            "both": {"command": "x", "url": "https://x.example"},
            "list": ["command"],
            "🙂": {"command": "x"},
            "argued": {"command": "x", "args": ["--token", "hunter2-hunter2"]},
            "trusted": {"command": "x", "autoApprove": ["*"], "alwaysAllow": ["a"]},
            "good": {"command": "y"},
        },
    )
    project = tmp_path / "project"
    project.mkdir()
    (project / ".mcp.json").write_bytes(b'{"mcpServers": {' + b"[" * 100_000)
    done = imports(data, "--all", home=home, project=project)
    assert ".mcp.json" in done.stderr
    assert "nothing in a file approves" in done.stderr
    listed = {each["name"]: each["standing"] for each in desk.json("server", "list")}
    assert {"trusted": "quarantined", "good": "quarantined"}.items() <= listed.items()
    assert not {"reads", "both", "list", "argued"} & listed.keys()
    becomes = {each["label"]: each for each in told(data, home=home, project=project)}
    for label in ("reads", "both", "list", "🙂", "argued"):
        assert becomes[label]["becomes"] == "cannot be taken"
        assert becomes[label]["why"]
    assert "hunter2" not in json.dumps(becomes)
    assert "passwd" not in json.dumps(becomes)


def test_the_guard_itself_is_never_imported(desk: Desk, tmp_path: Path) -> None:
    entries = {
        "a": {"command": "/opt/bin/mcpguard", "args": ["stdio"]},
        "b": {"command": "uvx", "args": ["mcpguard", "stdio", "--face", "direct"]},
        "c": {"command": "/usr/bin/python3.11", "args": ["-m", "mcpguard", "stdio"]},
        "d": {"command": "C:\\Tools\\mcpguard.exe", "args": ["stdio"]},
        "f": {"command": "mcpguardian", "args": ["stdio"]},
    }
    home = claude(tmp_path, entries)
    found = {each["name"]: each["becomes"] for each in told(desk.guard.data_dir, home=home, project=tmp_path)}
    assert found == dict.fromkeys("abcd", "mcpguard itself") | {"f": "new"}


def test_a_folder_that_is_named_is_what_it_gets_to_see(desk: Desk, tmp_path: Path) -> None:
    data, folder, file = desk.guard.data_dir, tmp_path / "documents", tmp_path / "file"
    folder.mkdir()
    file.touch()
    home = tmp_path / "somebody"
    named = [str(folder), str(file), str(home), str(tmp_path), "/", str(tmp_path / "none"), "documents", str(folder)]
    said = {"mounts": [f"{folder}:rw"]}
    entries = {"files": {"command": "npx", "args": named}, "own": {"command": "npx", "args": [str(folder)], **said}}
    done = imports(data, "--all", home=claude(tmp_path, entries), project=tmp_path)
    assert f"files: it sees these folders of the host: {folder} (" in done.stderr
    assert desk.json("server", "show", "files")["confinement"]["mounts"] == [str(folder)]
    assert desk.json("server", "show", "own")["confinement"]["mounts"] == [f"{folder}:rw"], "what was said counts"


def test_a_person_at_a_terminal_is_asked(desk: Desk, tmp_path: Path) -> None:
    home = claude(tmp_path, {"a": {"command": "x"}, "b": {"command": "y"}})
    asked = ("import", "--home", home, "--project", tmp_path, "--data-dir", desk.guard.data_dir)
    code, seen = typed(b"\n", *asked)
    assert (code, "Which to import?" in seen) == (0, True)
    code, seen = typed(b"c\n", *asked)
    assert (code, "c is not among the new ones" in seen) == (2, True)
    assert desk.json("server", "list") == []
    assert typed(b"b\n", *asked)[0] == 0
    assert [each["name"] for each in desk.json("server", "list")] == ["b"]
    assert typed(b"all\n", *asked)[0] == 0
    assert [each["name"] for each in desk.json("server", "list")] == ["a", "b"]


def test_a_home_that_may_not_be_read_is_told(tmp_path: Path) -> None:
    home = Path(shutil.copytree(homes.LINUX, tmp_path / "home", dirs_exist_ok=True))
    (home / ".cursor" / "mcp.json").unlink()
    os.mkfifo(home / ".cursor" / "mcp.json")
    listed = imports(tmp_path / "data", "cursor", home=home)
    assert "is not a regular file" in listed.stderr
