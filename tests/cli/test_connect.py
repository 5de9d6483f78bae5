"""`mcpguard connect`: a program's file gets one entry and loses nothing, and what was done is taken back."""

import json
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from mcp import StdioServerParameters
from mcp.client.session import ClientSession
from mcp.client.stdio import stdio_client
from typer.testing import Result

from mcpguard.agents.config_files import contents
from mcpguard.agents.program import ConfigFile
from mcpguard.agents.programs import BY_NAME
from mcpguard.cli.agents import client_entry
from tests.agents import homes
from tests.cli.command import inert, mcpguard
from tests.cli.desk import Desk
from tests.cli.typing_person import typed
from tests.process import ROOT, run, serving

EVERYBODY = pytest.mark.parametrize("program", BY_NAME)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return Path(shutil.copytree(homes.LINUX, tmp_path / "somebody"))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def connects(data: Path, home: Path, *words: str) -> Result:
    result = mcpguard("connect", "--home", home, "--project", home, "--data-dir", data, *words)
    assert inert(result.output)
    assert not any(secret in result.output for secret in homes.SECRETS)
    return result


def place(program: str, home: Path) -> ConfigFile:
    return BY_NAME[program].places(homes.home(home), home)[0]


def entries(program: str, home: Path) -> dict[str, Any]:
    found = contents(BY_NAME[program], place(program, home), homes.home(home))
    assert found.problem == ""
    return {item.label: item.entry for item in found.items}


def everything(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(data: Path, home: Path, *words: str) -> str:
    """What is said by a command that does nothing."""
    before = everything(home)
    result = connects(data, home, *words)
    assert result.exit_code in (1, 2), result.output
    assert everything(home) == before, "and nothing happened"
    assert not [*(data / "connected").glob("*/*")], "and nothing is left behind"
    return result.stderr


@EVERYBODY
def test_a_program_is_connected_and_it_is_taken_back_byte_for_byte(program: str, home: Path, data: Path) -> None:
    path = place(program, home).path
    path.chmod(0o640)
    before, servers = everything(home), entries(program, home)
    shown = connects(data, home, program, "--dry-run")
    assert (shown.exit_code, everything(home)) == (0, before), "looking changes nothing"
    assert str(path) in shown.stdout

    done = connects(data, home, program, "--yes")
    assert done.exit_code == 0, done.output
    assert BY_NAME[program].after in done.stderr
    after = entries(program, home)
    made = after.pop("mcpguard")
    servers.pop("mcpguard", None)
    assert after == servers
    assert made["args"][-2:] == ["--data-dir", str(data)]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    [kept] = (data / "connected" / program).glob("*.before")
    assert kept.read_bytes() == before[path]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert {stat.S_IMODE(each.stat().st_mode) for each in (kept.parent, kept.parent.parent, data)} == {0o700}

    again = connects(data, home, program, "--yes")
    assert "already connected" in again.stdout
    undone = connects(data, home, program, "--undo", "--yes")
    assert undone.exit_code == 0
    assert "restart it" in undone.stderr
    assert "Next:" not in undone.stderr, "that leads to a connected program"
    assert everything(home) == before
    assert "there is no change to undo" in refused(data, home, program, "--undo", "--yes")


@EVERYBODY
def test_a_program_without_a_file_gets_one_that_goes_again(program: str, tmp_path: Path, data: Path) -> None:
    home = tmp_path / "bare"
    path = place(program, home).path
    path.parent.mkdir(parents=True)
    assert connects(data, home, program, "--yes").exit_code == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [*entries(program, home)] == ["mcpguard"]
    assert connects(data, home, program, "--undo", "--yes").exit_code == 0
    assert not path.exists()


def test_a_program_that_is_not_there_is_told_as_such(tmp_path: Path, data: Path) -> None:
    assert "start the program once" in refused(data, tmp_path / "nobody", "cursor", "--yes")
    listed = json.loads(connects(data, tmp_path / "nobody", "-o", "json").stdout)
    assert {(each["program"], each["installed"], each["connected"]) for each in listed} == {
        (name, False, False) for name in BY_NAME
    }


def test_without_a_program_it_is_told_how_each_stands(home: Path, data: Path) -> None:
    connects(data, home, "cursor", "--yes")
    (home / ".codex" / "config.toml").write_text("[[[")
    listed = {each["program"]: each for each in json.loads(connects(data, home, "-o", "json").stdout)}
    assert [name for name, each in listed.items() if each["connected"]] == ["claude-code", "cursor"]
    assert listed["codex"]["problem"]
    assert {each["name"] for each in listed["cursor"]["direct"]} == {"linear", "search"}
    table = connects(data, home).stdout
    assert "import cursor" in table
    assert "not understood" in table


def test_what_was_written_since_by_the_program_stays(home: Path, data: Path) -> None:
    path = place("claude-code", home).path
    before = json.loads(path.read_bytes())
    connects(data, home, "claude-code", "--yes")
    said = json.loads(path.read_bytes())
    said["numStartups"] = 43
    said["mcpServers"]["later"] = {"command": "x"}
    path.write_text(json.dumps(said))
    taken = connects(data, home, "claude-code", "--undo", "--yes")
    assert "was changed since" in taken.stdout
    left = json.loads(path.read_bytes())
    assert left == before | {"numStartups": 43, "mcpServers": before["mcpServers"] | {"later": {"command": "x"}}}
    [kept] = (data / "connected" / "claude-code").glob("*.before")
    assert json.loads(kept.read_bytes()) == before, "kept, as the file is not what it was"


def test_what_somebody_made_of_our_entry_is_left_alone(home: Path, data: Path) -> None:
    path = place("cursor", home).path
    connects(data, home, "cursor", "--yes")
    path.write_bytes(path.read_bytes().replace(b'"stdio",\n      "command"', b'"stdio", "mine": 1,\n      "command"'))
    changed = path.read_bytes()
    assert b"mine" in changed
    assert connects(data, home, "cursor", "--undo", "--yes").exit_code == 0
    assert path.read_bytes() == changed


def test_each_step_is_taken_back_by_itself(home: Path, data: Path) -> None:
    path = place("vscode", home).path
    versions = [path.read_bytes()]
    for words in (("--face", "guard"), ("--face", "direct"), ("--face", "guard")):
        connects(data, home, "vscode", "--yes", *words)
        versions.append(path.read_bytes())
    assert b"--separator" in versions[2]
    assert versions[1] == versions[3]
    for version in reversed(versions[:3]):
        connects(data, home, "vscode", "--undo", "--yes")
        assert path.read_bytes() == version


@pytest.mark.parametrize(
    "held",
    [
        b'{"mcpServers": {"a": {}, "a": {}}}',
        b'{"mcpServers": {}, "mcpServers": {}}',
        b'{"mcpServers": []}',
        b"{",
        b"\xff",
        b"null",
        b'{"mcpServers": ' + b"[" * 50_000,
        b'{"mcpServers": {"mcpguard": {"command": "something-else"}}}',
    ],
    ids=range(8),
)
def test_a_file_that_is_not_understood_stays_and_what_it_needs_is_printed(held: bytes, home: Path, data: Path) -> None:
    place("cursor", home).path.write_bytes(held)
    said = refused(data, home, "cursor", "--yes")
    assert "nothing was changed" in said
    if b"something-else" in held:
        assert "--name" in said
        assert connects(data, home, "cursor", "--yes", "--name", "guard").exit_code == 0
    else:
        assert '"mcpguard"' in connects(data, home, "cursor", "--yes").stdout


def test_what_is_no_file_of_this_account_is_refused(home: Path, data: Path, tmp_path: Path) -> None:
    path = place("cursor", home).path
    path.unlink()
    path.mkdir()
    assert "not a regular file" in refused(data, home, "cursor", "--yes")
    path.rmdir()
    os.mkfifo(path)
    assert "not a regular file" in refused(data, home, "cursor", "--yes")
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")
    assert "is a broken link" in refused(data, home, "cursor", "--yes")
    path.unlink()
    path.symlink_to(path)
    assert "is a broken link" in refused(data, home, "cursor", "--yes")


def test_what_a_link_leads_to_is_changed_and_the_link_stays(home: Path, data: Path, tmp_path: Path) -> None:
    path, kept = place("cursor", home).path, tmp_path / "dotfiles.json"
    shutil.move(path, kept)
    path.symlink_to(kept)
    before = kept.read_bytes()
    assert str(kept) in connects(data, home, "cursor", "--yes").stdout
    assert path.is_symlink()
    assert "mcpguard" in entries("cursor", home)
    connects(data, home, "cursor", "--undo", "--yes")
    assert path.is_symlink()
    assert kept.read_bytes() == before


def test_nobody_there_to_be_asked_is_no_yes(home: Path, data: Path) -> None:
    assert "--yes" in refused(data, home, "cursor")


def test_a_person_is_asked(home: Path, data: Path) -> None:
    before = everything(home)
    asked = ("connect", "cursor", "--home", home, "--project", home, "--data-dir", data)
    code, seen = typed(b"n\n", *asked)
    assert (code, "Make this change?" in seen) == (1, True)
    assert everything(home) == before
    assert typed(b"y\n", *asked)[0] == 0
    assert "mcpguard" in entries("cursor", home)


def test_two_at_once_lose_nothing(home: Path, data: Path) -> None:
    """Each is done whole, or says that it was not done."""
    path = place("claude-code", home).path
    path.write_text('{"mcpServers": {}}')

    def connect(name: str) -> bool:
        where = ("--home", home, "--project", home, "--data-dir", data)
        result = run("connect", "claude-code", *where, "--yes", "--name", name)
        assert result.returncode == 0 or "modified in the meantime" in result.stderr, result.stderr
        return "Done." in result.stderr

    with ThreadPoolExecutor() as threads:
        done = sum(threads.map(connect, ("a", "b", "c")))
    kept = [*(data / "connected" / "claude-code").glob("*.before")]
    assert len(kept) == done >= 1
    assert len(entries("claude-code", home)) == 1, "whoever comes later finds the guard there"


def test_a_guard_that_came_while_the_change_was_thought_out_is_kept(
    home: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = place("claude-code", home).path
    path.write_text('{"mcpServers": {}}')
    where = ("--home", home, "--project", home, "--data-dir", data)
    assert mcpguard("connect", "claude-code", *where, "--yes", "--name", "a").exit_code == 0
    with_guard, thought_out = path.read_bytes(), client_entry.reach
    path.write_text('{"mcpServers": {}}')

    def reach(*given: Any) -> Any:  # noqa: ANN401 - as the function that it calls
        path.write_bytes(with_guard)
        return thought_out(*given)

    monkeypatch.setattr("mcpguard.cli.agents.connect.reach", reach)
    late = mcpguard("connect", "claude-code", *where, "--yes", "--name", "b")
    assert (late.exit_code, "modified in the meantime" in late.stderr) == (1, True), late.output
    assert path.read_bytes() == with_guard


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with serving(tmp_path / "data") as guard:
        yield Desk(guard, tmp_path / "none")


def test_what_the_guard_has_is_taken_out_of_the_file_and_put_back(desk: Desk, home: Path) -> None:
    data, path = desk.guard.data_dir, place("claude-code", home).path
    before = path.read_bytes()
    where = ("--home", home, "--project", home, "--data-dir", data)
    assert mcpguard("import", "claude-code", "--server", "github", "--server", "files", *where).exit_code == 0
    kept = connects(data, home, "claude-code", "--dry-run")
    assert "github" in kept.stderr
    assert "--replace" in kept.stderr
    assert "shop-db (local /work/shop)" in kept.stderr
    done = connects(data, home, "claude-code", "--replace", "--yes")
    assert "- github  (the guard has it: quarantined)" in done.stdout
    assert "approve it first" in done.stderr
    assert {*entries("claude-code", home)} == {"mcpguard"}
    assert "shop-db" in done.stderr, "and what is left is told"
    assert connects(data, home, "claude-code", "--undo", "--yes").exit_code == 0
    assert path.read_bytes() == before


def test_a_person_is_asked_about_what_walks_around_the_guard(desk: Desk, home: Path) -> None:
    data = desk.guard.data_dir
    where = ("--home", home, "--project", home, "--data-dir", data)
    assert mcpguard("import", "cursor", "--all", *where).exit_code == 0
    code, seen = typed(b"y\ny\n", "connect", "cursor", *where)
    assert (code, "Remove them there?" in seen) == (0, True)
    assert [*entries("cursor", home)] == ["mcpguard"]


def test_what_belongs_to_a_project_is_named_and_no_command_is_said_to_take_it_out(tmp_path: Path, data: Path) -> None:
    home = tmp_path / "of-one-project"
    home.mkdir()
    server = {"command": "npx", "args": ["-y", "notes-server"]}
    path = home / ".claude.json"
    path.write_text(json.dumps({"projects": {"/src/app": {"mcpServers": {"notes": server}}}}))
    said = connects(data, home, "claude-code", "--yes").stderr
    assert f"Remove by hand, as no command does: notes (local /src/app) from {path}." in said
    assert "--replace" not in said
    path.write_text(json.dumps({"mcpServers": {"notes": server}}))
    said = connects(data, home, "claude-code", "--yes").stderr
    assert "by hand" not in said
    assert "--replace" in said


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("program", "words", "tool"),
    [
        ("claude-code", (), "retrieve_tools"),
        ("codex", ("--face", "direct"), "notes__read_note"),
        ("claude-desktop", ("--token-file", "TOKEN"), "retrieve_tools"),
    ],
)
async def test_what_is_written_starts_a_way_to_the_guard(
    program: str, words: tuple[str, ...], tool: str, desk: Desk, home: Path, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text(desk.done("caller", "add", "somebody"))
    desk.approved()
    words = tuple(str(token) if word == "TOKEN" else word for word in words)
    assert connects(desk.guard.data_dir, home, program, "--yes", *words).exit_code == 0
    entry = entries(program, home)["mcpguard"]
    parameters = StdioServerParameters(
        command=entry["command"], args=entry["args"], env={"PYTHONPATH": str(ROOT)} | entry.get("env", {})
    )
    assert entry["command"] == sys.executable
    async with stdio_client(parameters) as (reads, writes), ClientSession(reads, writes) as session:
        await session.initialize()
        assert tool in {each.name for each in (await session.list_tools()).tools}


def test_by_its_address_where_a_program_can_and_with_no_token_in_its_file(desk: Desk, home: Path) -> None:
    data = desk.guard.data_dir
    assert connects(data, home, "windsurf", "--over", "http", "--face", "direct", "--yes").exit_code == 0
    assert entries("windsurf", home)["mcpguard"] == {"serverUrl": f"{desk.guard.url}/mcp/all?separator=__"}
    assert connects(data, home, "windsurf", "--undo", "--yes").exit_code == 0
    assert "commands only" in refused(data, home, "claude-desktop", "--over", "http", "--yes")
    assert "would stand in" in refused(data, home, "cursor", "--over", "http", "--token-file", "x", "--yes")


@pytest.mark.anyio
@pytest.mark.parametrize("program", ["claude-code", "codex"])
async def test_each_approved_server_gets_an_entry_of_its_own(program: str, desk: Desk, home: Path) -> None:
    data, path = desk.guard.data_dir, place(program, home).path
    desk.approved()
    assert connects(data, home, program, "--yes").exit_code == 0
    before = path.read_bytes()
    shown = connects(data, home, program, "--each", "--yes")
    assert shown.exit_code == 0, shown.output
    found = entries(program, home)
    assert "mcpguard" not in found, "else each tool would be there twice"
    entry = found["notes"]
    assert entry["args"][-4:] == ["--face", "transparent", "--only", "notes"]
    parameters = StdioServerParameters(
        command=entry["command"], args=entry["args"], env={"PYTHONPATH": str(ROOT)} | entry.get("env", {})
    )
    async with stdio_client(parameters) as (reads, writes), ClientSession(reads, writes) as session:
        await session.initialize()
        assert "read_note" in {each.name for each in (await session.list_tools()).tools}
    assert connects(data, home, program, "--undo", "--yes").exit_code == 0
    assert path.read_bytes() == before


def test_entries_by_the_guards_address_lead_to_one_server_each(desk: Desk, home: Path) -> None:
    desk.approved()
    assert connects(desk.guard.data_dir, home, "cursor", "--each", "--over", "http", "--yes").exit_code == 0
    assert entries("cursor", home)["notes"]["url"] == f"{desk.guard.url}/mcp/only/notes"


def test_a_server_of_the_same_name_that_the_guard_has_not_is_kept(desk: Desk, home: Path) -> None:
    desk.approved()
    path = place("cursor", home).path
    path.write_text(json.dumps({"mcpServers": {"notes": {"command": "other-notes"}}}))
    said = refused(desk.guard.data_dir, home, "cursor", "--each", "--yes")
    assert "another server named notes" in said


def test_without_an_approved_server_there_is_no_entry_to_write(desk: Desk, home: Path) -> None:
    assert "no server is approved" in refused(desk.guard.data_dir, home, "cursor", "--each", "--yes")


def test_without_a_guard_nobody_knows_what_is_approved(home: Path, data: Path) -> None:
    assert "no guard answers" in refused(data, home, "cursor", "--each", "--yes")


def test_where_the_guard_speaks_tls_it_is_said_that_its_certificate_must_be_trusted(tmp_path: Path, home: Path) -> None:
    with serving(tmp_path / "data", environ={"MCPGUARD_PUBLIC_URL": "https://guard.example"}):
        done = connects(tmp_path / "data", home, "cursor", "--over", "http", "--yes")
    assert entries("cursor", home)["mcpguard"]["url"] == "https://guard.example/mcp"
    assert "must trust the guard's certificate" in done.stderr
    assert "NODE_EXTRA_CA_CERTS" in done.stderr
