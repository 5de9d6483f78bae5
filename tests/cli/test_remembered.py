"""What the commands tell of inspections that failed, and of approvals whose findings nobody has read."""

import shlex
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.desk import Desk
from tests.process import serving

BROKEN = (sys.executable, "-c", "import sys; sys.exit('no \\x1b[31mred\\x1b[0m database')")
POISONED = (sys.executable, "-m", "mcpguard.demo", "poisoned")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with serving(tmp_path / "data") as guard:
        yield Desk(guard, tmp_path / "description")


def test_a_failed_inspection_is_told_by_show_and_list(desk: Desk) -> None:
    desk.add(*BROKEN)
    assert desk("server", "inspect", "notes", "--consent").exit_code == 1
    shown = desk("server", "show", "notes")
    assert "no red database" in shown.stdout
    assert "The last inspection failed" in shown.stderr
    (row,) = (line for line in shown.stdout.splitlines() if line.startswith("last inspection"))
    assert "failed" in row
    assert "the server process exited (exit code 1)" in row
    assert "last inspection failed: the server process exited" in desk("server", "list").stdout
    (listed,) = desk.json("server", "list")
    whole = desk.json("server", "show", "notes")["failed_inspection"]
    assert {**listed["failed_inspection"], "wrote": whole["wrote"]} == whole
    assert whole["wrote"][-1] == "no red database"


def test_the_table_counts_findings_as_the_answer_does(desk: Desk) -> None:
    desk.add(*POISONED)
    desk.done("server", "inspect", "notes", "--consent")
    (listed,) = desk.json("server", "list")
    assert desk.json("server", "show", "notes")["found"] == listed["found"] > listed["grave"] > 0
    assert f"{listed['found']}, {listed['grave']} grave" in desk("server", "list").stdout


def test_what_is_approved_unread_is_told_with_the_command_that_answers_it(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as guard:
        desk = Desk(guard, tmp_path)
        desk.add(*POISONED)
        desk.done("server", "inspect", "notes", "--consent")
        desk.done("server", "approve", "notes", "--reason", "read it", "--findings-read", "all")
        assert "confirmed reading" not in desk("server", "list").stderr
    with closing(sqlite3.connect(tmp_path / "data" / "mcpguard.db")) as store, store:
        store.execute("UPDATE capabilities SET findings_read = ''")
    with serving(tmp_path / "data") as guard:
        desk = Desk(guard, tmp_path)
        assert "approved with grave findings that nobody confirmed reading: notes" in desk("server", "list").stderr
        told = desk("server", "show", "notes").stderr
        assert "tool:forecast is approved with grave findings" in told
        (command,) = (line for line in told.splitlines() if line.startswith("If you have read them: mcpguard "))
        words = shlex.split(command.removeprefix("If you have read them: mcpguard ").partition(". Otherwise")[0])
        desk.done(*("read it now" if word == "TEXT" else word for word in words))
        assert desk.json("server", "show", "notes")["unread"] == 0
        assert "confirmed reading" not in desk("server", "list").stderr


def test_nothing_but_the_server_is_approved_where_it_alone_is_named(desk: Desk) -> None:
    desk.add(*POISONED)
    desk.done("server", "inspect", "notes", "--consent")
    desk.done("server", "approve", "notes", "--only", "server", "--reason", "it may run")
    server = desk.json("server", "show", "notes")
    assert server["standing"] == "approved"
    assert not [each for each in server["capabilities"] if each["callable"]]
