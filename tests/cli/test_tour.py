"""The tour: an agent is played, nothing else is. What it may not do without a person, it does not do."""

import json
import os
import pty
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from tests.attacks.sandboxed import works
from tests.cli.command import mcpguard, refusal
from tests.patience import PATIENCE
from tests.process import MCPGUARD, Served, approve, environment, serving, until
from tests.world import said

AT_ONCE = {"MCPGUARD_HOLDS__WAIT_SECONDS": "0"}


@pytest.fixture
def guard(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path / "data", "--demo", environ=AT_ONCE) as served:
        yield served


def records(guard: Served, *kinds: str) -> list[dict[str, Any]]:
    return [record for record in said(guard.data_dir / "mcpguard.db") if record["kind"] in kinds]


def gone(guard: Served) -> None:
    """The agent of the tour has left, and its token is worth nothing."""
    left = records(guard, "granted", "revoked")
    assert [record["kind"] for record in left] == ["granted", "revoked"] * (len(left) // 2)
    assert left


@contextmanager
def watched(guard: Served) -> Iterator[tuple[IO[str], list[str]]]:
    """The tour on a terminal: where a person types, and the lines that they see."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*MCPGUARD, "tour", "--data-dir", str(guard.data_dir)],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment({}),
    ) as tour:
        os.close(theirs)
        try:
            with os.fdopen(ours, "w") as keys:
                assert tour.stdout is not None
                lines: list[str] = []
                yield keys, lines
                lines += tour.stdout.read().splitlines()
                assert tour.wait(PATIENCE) == 0, lines
        finally:
            tour.kill()


def held(guard: Served) -> str | None:
    """The call that needs review."""
    waiting = json.loads(mcpguard("held", "list", "-o", "json", "--data-dir", guard.data_dir).stdout)
    return waiting[0]["id"] if waiting else None


def test_without_the_demonstration_it_says_how_to_start_it_and_lets_nobody_in(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as guard:
        told = refusal(mcpguard("tour", "--data-dir", guard.data_dir))
        assert "there is no demo-notes here; start the guard with mcpguard serve --demo" in told
        assert not records(guard, "granted", "opened")


def test_before_a_person_has_approved_anything_the_agent_gets_nothing(guard: Served) -> None:
    result = mcpguard("tour", "--data-dir", guard.data_dir)
    assert result.exit_code == 0, result.output
    assert "refused (server:quarantined)" in result.stdout
    assert f"In the console: {guard.url}/servers/demo-notes" in result.stdout
    assert "Then take the tour again." in result.stdout
    (opened,) = records(guard, "opened")
    assert (opened["verdict"], opened["reason"]) == ("deny", "server:quarantined")
    with watched(guard) as (keys, lines):
        keys.write("n\n")
        keys.flush()
    assert "   Then take the tour again." in lines[-1], "a person who says no has approved nothing"
    assert not records(guard, "decided", "inspected", "moved")
    gone(guard)


def test_it_shows_what_is_found_what_is_answered_what_is_refused_and_what_is_held(guard: Served) -> None:
    approve(guard.data_dir, "demo-notes")
    result = mcpguard("tour", "--data-dir", guard.data_dir)
    assert result.exit_code == 0, result.output
    assert "demo-notes:read_note (call_tool_read)" in result.stdout
    assert "Water the tomatoes" in result.stdout
    verdicts = [(record["server"], record["name"], record["verdict"]) for record in records(guard, "opened")]
    assert verdicts == [
        ("demo-notes", "read_note", "allow"),
        ("demo-notes", "delete_note", "deny"),
        ("demo-weather", "weather", "deny"),
        ("demo-notes", "delete_note", "hold"),
    ]
    for record in records(guard, "opened")[1:]:
        assert record["reason"] in result.stdout
    assert f"{guard.url}/held" in result.stdout
    gone(guard)


def test_it_approves_the_notes_only_when_it_is_told_to(guard: Served) -> None:
    works()
    result = mcpguard("tour", "--yes", "--data-dir", guard.data_dir)
    assert result.exit_code == 0, result.output
    decided = records(guard, "decided")
    assert {record["server"] for record in decided} == {"demo-notes"}
    assert {record["why"] for record in decided} == {"mcpguard tour"}
    assert [record["verdict"] for record in records(guard, "opened")][-2:] == ["hold", "allow"]
    assert '"left": 2' in result.stdout
    gone(guard)


def test_whoever_watches_is_told_what_to_do_while_the_call_waits(tmp_path: Path) -> None:
    """The agent's call hangs for as long as the guard lets it wait; what to do stands there before it is answered."""
    with serving(tmp_path / "data", "--demo", environ={"MCPGUARD_HOLDS__WAIT_SECONDS": "300"}) as guard:
        approve(guard.data_dir, "demo-notes")
        with watched(guard) as (_, lines):
            ticket = until(lambda: held(guard), "a call waits")
            denied = mcpguard("held", "deny", ticket, "--reason", "it stays", "--data-dir", guard.data_dir)
            assert denied.exit_code == 0, denied.output
        told = next(at for at, line in enumerate(lines) if f"held allow {ticket} --reason TEXT" in line)
        assert any("refused (hold:denied)" in line for line in lines[told:]), lines


def test_a_person_who_watches_answers_the_call_that_waits(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "--demo", environ={"MCPGUARD_HOLDS__WAIT_SECONDS": "300"}) as guard:
        approve(guard.data_dir, "demo-notes")
        with watched(guard) as (_, lines):
            ticket = until(lambda: held(guard), "a call waits")
            allowed = mcpguard("held", "allow", ticket, "--reason", "it was", "--data-dir", guard.data_dir)
            assert allowed.exit_code == 0, allowed.output
        assert any('"left": 2' in line for line in lines), lines
        assert records(guard, "released")[-1]["verdict"] == "allow"
        gone(guard)


def test_where_the_shell_may_let_nobody_in_nothing_begins(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "--demo", environ={"MCPGUARD_AUTHORITY__SHELL": "tighten"}) as guard:
        result = mcpguard("tour", "--yes", "--data-dir", guard.data_dir)
        assert result.exit_code == 1
        assert not records(guard, "granted", "opened", "decided", "inspected")


def test_a_setting_that_names_held_calls_is_not_overruled(tmp_path: Path) -> None:
    environ = {"MCPGUARD_HOLDS__CALLS": "write of demo-notes"}
    with serving(tmp_path / "data", "--demo", environ=environ) as guard:
        approve(guard.data_dir, "demo-notes")
        result = mcpguard("tour", "--data-dir", guard.data_dir)
        assert '"left": 2' in result.stdout, "nothing holds it"
        assert records(guard, "opened")[-1]["verdict"] == "allow"
