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
    assert [call["status"] for call in said["calls"]] == ["answered"] * 2
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
