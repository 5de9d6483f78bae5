"""`mcpguard lockdown`: files of the system confine programs to the guard, and are restored as they were."""

import json
import os
import shutil
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from mcpguard.agents.file_changes import NotChanged
from mcpguard.agents.lockdown.deployment import TargetSystem
from mcpguard.agents.lockdown.lockable import BY_NAME, LOCKABLE
from mcpguard.agents.lockdown.system_files import plan_files, write_files
from tests.agents import homes
from tests.agents.lockdown.deployed import ADDRESS, WISHES
from tests.cli.command import inert, mcpguard
from tests.process import serving

SECRET = "mcpg_this-is-the-token-of-a-person"  # noqa: S105 - invented
WISH = replace(WISHES["url"], registry="")
WITH_FILES = [each.name for each in LOCKABLE if each.files(WISH, TargetSystem.LINUX)]
EVERY_FILE = pytest.mark.parametrize("program", WITH_FILES)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root folder with folders of programs in it, as an administrator has made them, and what else they need."""
    for name in ("claude-code", "github-copilot", "vscode", "codex"):
        folder = tmp_path / "root" / "etc" / name
        folder.mkdir(parents=True)
        folder.chmod(0o755)
    return tmp_path / "root"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return Path(shutil.copytree(homes.LINUX, tmp_path / "somebody"))


def locks(root: Path, data: Path, *words: str | Path) -> Result:
    result = mcpguard("lockdown", "--root", root, "--data-dir", data, "--system", "linux", *words)
    assert inert(result.output)
    assert not any(secret in result.output for secret in (*homes.SECRETS, SECRET))
    return result


def paths(program: str, root: Path) -> list[Path]:
    return [each.place_below(root).path for each in BY_NAME[program].files(WISH, TargetSystem.LINUX)]


def everything(folder: Path) -> dict[Path, tuple[bytes, int]]:
    return {path: (path.read_bytes(), path.lstat().st_mode) for path in folder.rglob("*") if path.is_file()}


def refused(root: Path, data: Path, *words: str | Path, code: int = 1) -> str:
    """What is said by a command that writes nothing."""
    before, kept = everything(root), everything(data)
    result = locks(root, data, *words)
    assert result.exit_code == code, result.output
    assert everything(root) == before, "and nothing was written"
    assert {path for path in everything(data) if path.name != "lock"} == {path for path in kept if path.name != "lock"}
    return result.stderr


def checked(root: Path, data: Path, *words: str | Path, code: int) -> dict[str, dict[str, Any]]:
    before = everything(root)
    result = locks(root, data, "--check", "-o", "json", *words)
    assert result.exit_code == code, result.output
    assert everything(root) == before, "looking changes nothing"
    said = json.loads(result.stdout)
    assert said["well"] is (code == 0)
    return {each["program"]: each for each in said["programs"]}


@EVERY_FILE
def test_files_are_written_for_everybody_and_go_again(
    program: str, tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCPGUARD_TOKEN", SECRET)
    root = tmp_path / "bare"
    before = os.umask(0o077)
    try:
        shown = locks(root, data, program, "--url", ADDRESS)
        assert (shown.exit_code, root.exists()) == (0, False), "looking changes nothing"
        done = locks(root, data, program, "--url", ADDRESS, "--write")
    finally:
        os.umask(before)
    assert done.exit_code == 0, done.output
    assert BY_NAME[program].after in done.stderr
    for file in BY_NAME[program].files(WISH, TargetSystem.LINUX):
        path = file.place_below(root).path
        assert f"{path} (new)" in done.stdout
        assert f"{file.path}:\n" in shown.stdout
        assert file.text() in shown.stdout
        assert stat.S_IMODE(path.stat().st_mode) == 0o644
        assert {stat.S_IMODE(each.stat().st_mode) for each in (path.parent, path.parent.parent, root)} == {0o755}
    assert not any(SECRET.encode() in held for held, _ in (everything(root) | everything(data)).values())

    again = locks(root, data, program, "--url", ADDRESS, "--write")
    assert "as it should be already" in again.stdout
    undone = locks(root, data, program, "--undo")
    assert (undone.exit_code, "is removed" in undone.stdout) == (0, True)
    assert everything(root) == {}
    assert "there is no change to undo" in refused(root, data, program, "--undo")


HELD = {
    "claude-code": {
        "managed-mcp.json": b'{"mcpServers": {"files": {"command": "files"}}, "other": 1}',
        "managed-settings.json": b'{\r\n\t"permissions": {"deny": ["Read(.env)"]},\r\n\t'
        b'"managedMcpServers": {"search": {"type": "http", "url": "https://search.example/mcp"}},\r\n\t'
        b'"allowedMcpServers": [{"serverUrl": "https://*.example/*"}]\r\n}',
    },
    "copilot": {"managed-settings.json": b'{"model": "auto", "allowedMcpServers": []}\n'},
    "vscode": {"policy.json": b'{\n    "UpdateMode": "none" // ours\n}'},
    "codex": {
        "requirements.toml": b'# ours\nallowed_sandbox_modes = ["read-only"]\n\n'
        b'[mcp_servers.docs.identity]\ncommand = "docs"\n\n[rules]\nx = 1\n'
    },
}


@EVERY_FILE
def test_what_else_stands_in_a_file_stays_and_is_restored_byte_for_byte(program: str, root: Path, data: Path) -> None:
    for path in paths(program, root):
        path.write_bytes(HELD[program][path.name])
        path.chmod(0o604)
    before = everything(root)
    assert locks(root, data, program, "--url", "https://old.example/mcp", "--write").exit_code == 0
    between = everything(root)
    done = locks(root, data, program, "--url", ADDRESS, "--write")
    assert done.exit_code == 0, done.output
    whole = b"".join(held for held, _ in everything(root).values())
    for word in (b"Read(.env)", b'"other": 1', b'"model": "auto"', b"// ours", b"# ours", b"x = 1"):
        assert (word in whole) == any(word in held for held, _ in before.values())
    for word in (b"search.example", b'"command": "files"', b"*.example", b"docs", b"old.example"):
        assert word not in whole
    assert {mode for _, mode in everything(root).values()} == {stat.S_IFREG | 0o604}
    assert locks(root, data, program, "--undo").exit_code == 0
    assert everything(root) == between
    assert locks(root, data, program, "--undo").exit_code == 0
    assert everything(root) == before


def test_what_is_removed_and_replaced_is_told_by_name_only(root: Path, data: Path) -> None:
    for path in paths("claude-code", root):
        path.write_bytes(HELD["claude-code"][path.name])
    said = locks(root, data, "claude-code", "--url", ADDRESS, "--write").stdout
    assert "- files  (removed)" in said
    assert "- managedMcpServers  (removed)" in said
    assert "- allowedMcpServers  (replaced)" in said
    assert "search.example" not in said


@EVERY_FILE
def test_a_file_that_was_changed_since_is_not_restored(program: str, root: Path, data: Path) -> None:
    path = paths(program, root)[-1]
    path.write_bytes(HELD[program][path.name])
    assert locks(root, data, program, "--url", ADDRESS, "--write").exit_code == 0
    path.write_bytes(path.read_bytes() + b"\n")
    said = refused(root, data, program, "--undo")
    assert f"{path} was changed since" in said
    kept = Path(said.partition("compare it with ")[2].partition(" and restore")[0])
    assert kept.read_bytes() == HELD[program][path.name]


@EVERY_FILE
def test_what_others_could_change_is_refused(program: str, root: Path, data: Path, tmp_path: Path) -> None:
    write = (program, "--url", ADDRESS, "--write")
    path, elsewhere = paths(program, root)[-1], tmp_path / "elsewhere"
    elsewhere.write_bytes(b"{}" if path.suffix == ".json" else b"")
    path.symlink_to(elsewhere)
    assert f"{path} is a link; put a file or folder in its place" in refused(root, data, *write)
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")
    assert "is a link" in refused(root, data, *write)
    path.unlink()
    path.write_bytes(elsewhere.read_bytes())
    path.chmod(0o664)
    assert f"others can change {path}; chmod go-w {path}" in refused(root, data, *write)
    path.chmod(0o640)
    assert f"not everybody's programs can read {path}; chmod a+rX {path}" in refused(root, data, *write)
    path.unlink()
    path.parent.chmod(0o777)
    assert f"others can change {path.parent}" in refused(root, data, *write)
    path.parent.chmod(0o755)
    path.mkdir()
    assert "not a regular file" in refused(root, data, *write)
    path.rmdir()
    path.parent.rmdir()
    path.parent.symlink_to(tmp_path)
    assert f"{path.parent} is a link" in refused(root, data, *write)
    assert not [*tmp_path.glob("*.toml"), *tmp_path.glob("*.json")]


@EVERY_FILE
@pytest.mark.parametrize("held", [b"{", b"\xff", b"[1", b'{"a": 1, "a": 2}', b"a = 1\na = 2\n", b"[[mcp_servers]]"])
def test_a_file_that_is_not_understood_stays_and_so_do_the_others(
    program: str, held: bytes, root: Path, data: Path
) -> None:
    paths(program, root)[-1].write_bytes(held)
    said = refused(root, data, program, "--url", ADDRESS, "--write")
    assert str(paths(program, root)[-1]) in said
    assert "mend it or move it away" in said


def test_a_file_of_another_account_is_refused(root: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, ours = paths("codex", root)[0], os.geteuid()
    path.write_bytes(b"")
    monkeypatch.setattr(os, "geteuid", lambda: ours + 1)
    said = refused(root, data, "codex", "--url", ADDRESS, "--write")
    assert f"{path.parent} belongs to user {ours}; give it to an administrator" in said


def test_a_folder_that_this_account_may_not_write_into_is_refused(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "root" / "etc").mkdir(parents=True)
    monkeypatch.setattr(os, "access", lambda _, mode: not mode & os.W_OK)
    said = refused(tmp_path / "root", data, "codex", "--url", ADDRESS, "--write")
    assert f"this account cannot write into {tmp_path / 'root' / 'etc'}; run this as its owner" in said
    assert not (tmp_path / "root" / "etc" / "codex").exists()


def test_if_the_second_file_cannot_be_written_the_first_is_taken_back(root: Path, data: Path) -> None:
    (first, second), kept = paths("claude-code", root), data / "connected"
    planned = plan_files(BY_NAME["claude-code"].files(WISH, TargetSystem.LINUX), root)
    second.write_bytes(b"{}")
    with pytest.raises(NotChanged, match="modified in the meantime"):
        write_files(planned, kept)
    assert (first.exists(), second.read_bytes()) == (False, b"{}"), "and nothing was written"
    assert not [*kept.glob("*/*")]


def test_an_address_that_could_mean_more_is_refused(root: Path, data: Path) -> None:
    for url in ("https://guard.example*/mcp", "https://guard.example", "http://guard.example/mcp"):
        assert "--url" in refused(root, data, "copilot", "--url", url, "--write", code=2)
    assert "--registry" in refused(
        root, data, "vscode", "--url", ADDRESS, "--registry", "https://*/v0", "--write", code=2
    )


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("nonsense", "--url", ADDRESS),
        ("codex",),
        ("codex", "--url", ADDRESS, "--stdio"),
        ("codex", "--url", ADDRESS, "--write", "--undo"),
        ("codex", "--url", ADDRESS, "--token-variable", "not a name", "--write"),
        ("cursor", "--url", ADDRESS, "--write"),
        ("cursor", "--undo"),
    ],
)
def test_what_cannot_be_meant_is_refused(words: tuple[str, ...], root: Path, data: Path) -> None:
    refused(root, data, *words, code=2)


def test_the_real_root_is_for_this_system_only(data: Path) -> None:
    result = mcpguard("lockdown", "codex", "--url", ADDRESS, "--system", "windows", "--write", "--data-dir", data)
    assert (result.exit_code, "--root" in result.stderr) == (2, True)


def test_files_of_another_system_are_made_below_a_folder(tmp_path: Path, data: Path) -> None:
    words = ("--system", "windows", "--url", ADDRESS)
    assert locks(tmp_path / "image", data, "claude-code", "--write", *words).exit_code == 0
    assert {each.relative_to(tmp_path / "image").as_posix() for each in everything(tmp_path / "image")} == {
        "Program Files/ClaudeCode/managed-mcp.json",
        "Program Files/ClaudeCode/managed-settings.json",
    }


@pytest.mark.parametrize("program", [each.name for each in LOCKABLE if each.name not in WITH_FILES])
def test_what_has_no_file_is_printed_and_said_to_have_none(program: str, root: Path, data: Path) -> None:
    shown = locks(root, data, program, "--url", ADDRESS)
    assert shown.exit_code == 0
    assert "No file of the system; enter this in" in shown.stdout
    assert "guard" in shown.stdout
    assert everything(root) == {}


def test_a_check_says_who_reaches_what_directly(root: Path, data: Path, home: Path) -> None:
    here = ("--home", home, "--project", home, "--url", ADDRESS)
    found = checked(root, data, *here, code=1)
    assert {name for name, each in found.items() if each["only_way"]} == set()
    assert any(name.startswith("github ") for name in found["claude-code"]["direct"])
    assert checked(root, data, "claude-code", *here, code=1)["claude-code"]["installed"]
    for program in WITH_FILES:
        assert locks(root, data, program, "--url", ADDRESS, "--write").exit_code == 0
    found = checked(root, data, *here, code=1)
    assert {name for name, each in found.items() if each["only_way"]} == {"claude-code", "vscode", "codex"}
    assert found["claude-code"]["direct"] == []
    assert any(name.startswith("github ") for name in found["claude-code"]["blocked"])
    assert found["cursor"]["direct"], "no file confines it"
    assert checked(root, data, "claude-code", *here, code=0)["claude-code"]["only_way"]
    told = locks(root, data, "--check", *here)
    assert "kept out by lockdown: Claude Code: " in told.stderr.replace("\n", " ")
    assert "cannot be told from here" in told.stdout


def weaken(program: str, root: Path) -> list[tuple[Path, bytes]]:
    """Ways in which somebody may weaken what is deployed, as files with their content."""
    first, *_ = last = paths(program, root)
    text, end = first.read_bytes(), last[-1].read_bytes()
    if program == "codex":
        return [
            (first, text + b'\n[mcp_servers.files.identity]\ncommand = "files"\n'),
            (first, text.replace(b"mcpguard", b"guard")),
        ]
    found = [(last[-1], end.replace(b":8443/mcp", b"*")), (last[-1], end.replace(b"https://", b"*://")), (first, b"{}")]
    if program == "claude-code":
        found += [
            (first, text.replace(b'"mcpguard"', b'"files": {"command": "files"}, "mcpguard"')),
            (last[-1], end.replace(b"true", b"false")),
            (last[-1], end.replace(b"{", b'{"managedMcpServers": {},', 1)),
        ]
    return found


@EVERY_FILE
def test_a_check_finds_what_was_weakened(program: str, root: Path, data: Path, tmp_path: Path) -> None:
    here = (program, "--home", tmp_path / "nobody", "--url", ADDRESS)
    assert locks(root, data, program, "--url", ADDRESS, "--write").exit_code == 0
    checked(root, data, *here, code=0)
    [known] = checked(
        root, data, program, "--home", tmp_path / "nobody", "--url", "https://x.example/mcp", code=1
    ).values()
    assert any("another" in each for each in known["problems"])
    whole = {path: path.read_bytes() for path in paths(program, root)}
    for path, held in weaken(program, root):
        assert held != whole[path]
        path.write_bytes(held)
        [found] = checked(root, data, *here, code=1).values()
        assert (found["only_way"], bool(found["problems"])) == (False, True), held
        path.write_bytes(whole[path])
    path = paths(program, root)[-1]
    path.chmod(0o666)
    [found] = checked(root, data, *here, code=1).values()
    assert f"others can change {path}" in found["problems"][0]
    path.unlink()
    [found] = checked(root, data, *here, code=1).values()
    assert found["problems"] == ([f"{path} is missing"] if len(whole) > 1 else [])


def test_the_address_is_that_of_the_guard_that_runs(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as guard:
        shown = mcpguard("lockdown", "claude-code", "--data-dir", guard.data_dir, "--system", "linux", "-o", "json")
        files = json.loads(shown.stdout)["files"]
        entry = json.loads(files["/etc/claude-code/managed-mcp.json"])["mcpServers"]["mcpguard"]
        assert entry == {"type": "http", "url": f"{guard.url}/mcp"}, "without a token, as on this host nobody needs one"
        words = ("claude-code", "--stdio", "--data-dir", str(guard.data_dir))
        [allowed] = json.loads(
            json.loads(mcpguard("lockdown", *words, "-o", "json").stdout)["files"][
                "/etc/claude-code/managed-settings.json"
            ]
        )["allowedMcpServers"]
        assert allowed["serverCommand"][-3:] == ["stdio", "--data-dir", str(guard.data_dir)]
