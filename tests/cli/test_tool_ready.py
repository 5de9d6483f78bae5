"""`mcpguard tool ready` for scripts: several names, one exit code, and waiting for what comes."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import mcpguard
from tests.cli.desk import HONEST, Desk
from tests.process import run, serving, until


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with serving(tmp_path / "data") as guard:
        yield Desk(guard, tmp_path / "none")


def code(desk: Desk, *names: str) -> int:
    return desk("tool", "ready", *names).exit_code


def test_of_several_answers_the_worst_counts(desk: Desk) -> None:
    desk.approved()
    desk.done("server", "add", "waits", "--", *HONEST)
    assert code(desk, "notes", "notes:read_note", "notes:write_note") == 0
    assert code(desk, "notes", "waits") == 11
    assert code(desk, "waits:read_note", "notes") == 11
    assert code(desk, "waits", "nowhere", "notes") == 12
    assert code(desk, "notes:nothing") == 12
    said = desk("tool", "ready", "notes", "waits", "nowhere:x").stdout.splitlines()
    assert said[0] == "notes  ready"
    assert said[1] == "waits  blocked"
    assert said[2].startswith("  server:quarantined  ")
    assert said[3] == "nowhere:x  unknown"


def test_a_server_is_blocked_by_whatever_keeps_it_from_being_used(desk: Desk) -> None:
    desk.approved()
    for decision, reason in (("disable", "server:disabled"), ("block", "server:blocked")):
        desk.done("server", decision, "notes", "--reason", "to see")
        result = desk("tool", "ready", "notes")
        assert result.exit_code == 11
        assert reason in result.stdout
    desk.done("server", "remove", "notes")
    assert code(desk, "notes") == 12


def test_programs_get_every_answer(desk: Desk) -> None:
    desk.approved()
    result = desk("tool", "ready", "notes", "notes:read_note", "nowhere", "-o", "json")
    one, two, three = json.loads(result.stdout)
    assert (one, result.exit_code) == ({"asked": "notes", "answer": "ready", "reasons": []}, 12)
    assert (two["asked"], two["answer"], two["effect"]) == ("notes:read_note", "ready", "read")
    assert (three["asked"], three["answer"]) == ("nowhere", "unknown")


def test_what_cannot_be_reached_is_to_be_tried_again(desk: Desk) -> None:
    """It ends as soon as it begins, as long as there is a file."""
    broken = desk.description.with_name("broken")
    program = f"import os, runpy, sys; os.path.exists({str(broken)!r}) and sys.exit(3); "
    program += "sys.argv = ['demo', 'honest']; runpy.run_module('mcpguard.demo', run_name='__main__')"
    desk.approved(HONEST[0], "-c", program)
    broken.touch()
    desk.done("server", "disable", "notes", "--reason", "to see")
    desk.done("server", "enable", "notes", "--reason", "to see")
    until(lambda: code(desk, "notes") == 10, "it does not start")
    result = desk("tool", "ready", "notes", "notes:read_note", "--wait", "0.1")
    assert result.exit_code == 10
    assert "notes  retry" in result.stdout
    ended: list[int] = []
    waiting = threading.Thread(
        target=lambda: ended.append(
            run("tool", "ready", "notes", "--wait", "80", "--data-dir", desk.guard.data_dir).returncode
        )
    )
    waiting.start()
    broken.unlink()
    waiting.join()
    assert ended == [0]


def test_without_a_guard_it_is_to_be_tried_again(tmp_path: Path) -> None:
    result = mcpguard("tool", "ready", "notes", "notes:x", "--data-dir", tmp_path)
    assert result.exit_code == 10
    assert result.stdout.count("No guard is running here. Start it: mcpguard serve") == 2


@pytest.mark.parametrize("names", [(), ("Not a name",), ("notes:",), (":x",), ("notes", "../x")])
def test_a_name_that_can_be_none_is_wrong_use(names: tuple[str, ...], tmp_path: Path) -> None:
    assert mcpguard("tool", "ready", *names, "--data-dir", tmp_path).exit_code == 2
