"""`mcpguard code run`: a shell runs a program as an agent does."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.sandboxed import works
from tests.cli.command import inert
from tests.cli.desk import Desk
from tests.process import serving


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    works()
    for name in ("MCPGUARD_TOKEN", "MCPGUARD_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    with serving(tmp_path / "data", environ={"MCPGUARD_CODE__ENABLED": "true"}) as guard:
        desk = Desk(guard, tmp_path / "description")
        desk.approved()
        token = desk.json("caller", "add", "bot", "--effects", "read,write,destructive")["token"]
        monkeypatch.setenv("MCPGUARD_TOKEN", token)
        yield desk


def program(folder: Path, source: str) -> str:
    file = folder / "program.py"
    file.write_text(source)
    return str(file)


def test_a_program_writes_and_reads_a_note(desk: Desk, tmp_path: Path) -> None:
    source = (
        'log("writes")\ncall_tool("notes", "write_note", {"name": input, "text": "hello"})\n'
        'call_tool("notes", "read_note", {"name": input})["ok"]'
    )
    done = desk("code", "run", program(tmp_path, source), "--input", '"one"', "--effect", "write", "--reason", "to see")
    assert done.exit_code == 0, done.output
    assert inert(done.output)
    assert "writes" in done.output
    assert "true" in done.output
    said = desk.json("code", "run", program(tmp_path, source), "--input", '"two"', "--effect", "write")
    assert (said["answered"], said["calls"]) == (2, [])
    records = desk.json("audit", "list", f"parent:{said['run_id']}")
    assert [record["name"] for record in records] == ["write_note", "read_note"]


def test_what_goes_wrong_is_told_and_ends_with_one(desk: Desk, tmp_path: Path) -> None:
    wrong = desk("code", "run", program(tmp_path, "1\n1 +"))
    assert wrong.exit_code == 1
    assert "SYNTAX_ERROR, line 2" in wrong.output
    refused = desk("code", "run", program(tmp_path, 'call_tool("notes", "list_notes")'), "--server", "other")
    assert refused.exit_code == 1
    assert "SERVER_NOT_ALLOWED" in refused.output
    assert desk("code", "run", str(tmp_path / "none.py")).exit_code == 2
    secret = desk("code", "run", program(tmp_path, "1"), "--input", "{hush")
    assert secret.exit_code == 2
    assert "hush" not in secret.output


def test_without_the_setting_the_guard_says_that_there_is_no_such_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MCPGUARD_TOKEN", raising=False)
    with serving(tmp_path / "data") as guard:
        desk = Desk(guard, tmp_path / "description")
        done = desk("code", "run", program(tmp_path, "1"))
        assert done.exit_code == 1
        assert "Unknown tool" in done.output


def test_a_check_shows_what_a_program_names_and_what_is_wrong(desk: Desk, tmp_path: Path) -> None:
    done = desk("code", "check", program(tmp_path, 'call_tool("notes", "list_notes")\ncall_tool("notes", "none")'))
    assert done.exit_code == 0, done.output
    assert "read" in done.output
    assert "not approved" in done.output
    wrong = desk("code", "check", program(tmp_path, "1\n1 +"))
    assert (wrong.exit_code, "SYNTAX_ERROR, line 2" in wrong.output) == (1, True)
    assert desk.json("audit", "list", "kind:ran") == []


def test_a_script_is_written_down_approved_called_changed_and_removed(desk: Desk, tmp_path: Path) -> None:
    source = 'call_tool("notes", "write_note", {"name": input["name"], "text": "hi"})["ok"]'
    assert "No scripts." in desk("code", "scripts", "list").output
    added = desk("code", "scripts", "add", "greet", program(tmp_path, source), "--description", "Greets.")
    assert added.exit_code == 0, added.output
    assert inert(added.output)
    assert "notes:write_note" in added.output
    assert "mcpguard tool approve scripts:greet" in added.output
    call = ("call", "write", "scripts:greet", "--args", '{"name": "one"}')
    assert desk(*call).exit_code == 1
    approved = desk("server", "approve", "scripts", "--reason", "short")
    assert approved.exit_code == 0, approved.output
    done = desk(*call)
    assert (done.exit_code, "true" in done.output) == (0, True), done.output
    (listed,) = desk.json("code", "scripts", "list")["scripts"]
    assert (listed["standing"], listed["effect"], listed["tools"]) == ("approved", "write", ["notes:write_note"])
    shown = desk("code", "scripts", "show", "greet")
    assert source in shown.output
    assert desk("code", "scripts", "change", "greet", program(tmp_path, source + "\n2")).exit_code == 0
    assert desk.json("code", "scripts", "show", "greet")["standing"] == "changed"
    assert desk(*call).exit_code == 1
    assert desk("code", "scripts", "remove", "greet").exit_code == 0
    assert desk("code", "scripts", "show", "greet").exit_code == 1
    assert desk("code", "scripts", "show", "../x").exit_code == 2
    assert [each["change"] for each in desk.json("audit", "list", "kind:script")] == ["added", "changed", "removed"]
