"""The sandbox at the command line: chosen, changed, and never left in silence."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcpguard import __file__ as package
from tests.attacks.sandboxed import works
from tests.cli.desk import HONEST, Desk
from tests.process import serving

SOURCES = str(Path(package).parent)
LOUD = "WITHOUT A SANDBOX"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    works()
    with serving(tmp_path / "data") as guard:
        yield Desk(guard, tmp_path / "description")


def confinement(desk: Desk) -> dict[str, object]:
    found: dict[str, object] = desk.json("server", "show", "notes")["confinement"]
    return found


def test_a_server_runs_confined_unless_somebody_says_otherwise(desk: Desk) -> None:
    added = desk("server", "add", "notes", "--mount", SOURCES, "--", *HONEST)
    assert LOUD not in added.stderr
    strange = desk("server", "inspect", "notes", "--give", "NOTHING")
    assert (strange.exit_code, "--consent" in strange.stderr) == (1, False), "no consent would help"
    assert desk.json("server", "show", "notes")["observed"] is None, "and nothing happened"
    looked = desk("server", "inspect", "notes")
    assert looked.stdout.startswith("notes was started and listed 10 capabilities")
    assert LOUD not in looked.stderr
    shown = desk("server", "show", "notes").stdout
    assert "strict: no network" in shown
    assert SOURCES in shown
    desk.done("server", "approve", "notes", "--reason", "read it all")
    desk.ready("read_note")
    assert desk.json("server", "list")[0]["sandbox"] == "strict"
    assert LOUD not in desk("server", "list").stderr


def test_what_runs_unconfined_is_said_wherever_it_matters(desk: Desk) -> None:
    added = desk("server", "add", "notes", "--sandbox", "none", "--", *HONEST)
    unasked = desk("server", "inspect", "notes")
    assert unasked.exit_code == 1
    assert " ".join(HONEST) in unasked.stderr
    looked = desk("server", "inspect", "notes", "--consent")
    approved = desk("server", "approve", "notes", "--reason", "read it all")
    shown, listed = desk("server", "show", "notes"), desk("server", "list")
    for result in (added, looked, approved, shown, listed):
        assert result.exit_code == 0, result.output
        assert LOUD in result.stderr
    assert "NOT SANDBOXED" in shown.stdout
    assert "notes" in next(line for line in desk("status").stdout.splitlines() if line.startswith("without sandbox"))


def test_the_sandbox_is_changed_and_named_in_the_answer(desk: Desk, tmp_path: Path) -> None:
    desk("server", "add", "notes", "--", *HONEST)
    desk.done("server", "patch", "notes", "--sandbox", "contained", "--mount", f"{tmp_path}:rw", "--mount", SOURCES)
    assert confinement(desk) == {
        "profile": "contained",
        "means": "network access; sees only its own files and its mounts",
        "declared": "contained",
        "chosen": False,
        "mounts": sorted([f"{tmp_path}:rw", SOURCES]),
        "unseen": [],
        "needs": [],
        "impossible": None,
    }
    desk.done("server", "patch", "notes", '{"sandbox": null, "mounts": null}')
    assert (confinement(desk)["profile"], confinement(desk)["mounts"]) == ("strict", [])
    nothing = desk("server", "patch", "notes")
    assert (nothing.exit_code, nothing.stdout) == (2, "")


def test_the_sandbox_is_chosen_in_the_approval_and_nothing_is_chosen_for_anybody(desk: Desk, tmp_path: Path) -> None:
    desk("server", "add", "notes", "--mount", SOURCES, "--", *HONEST)
    looked = desk("server", "inspect", "notes")
    assert "probably needs what its sandbox denies (writing)" in looked.stderr
    assert "mcpguard server approve notes --mount PATH:rw --reason TEXT" in looked.stderr
    desk.done("server", "approve", "notes", "--reason", "read it all")
    assert (confinement(desk)["profile"], confinement(desk)["chosen"]) == ("strict", False)
    place = tmp_path / "kept"
    place.mkdir()
    place.chmod(0o777)
    further = ("--sandbox", "contained", "--mount", f"{place}:rw", "--mount", SOURCES)
    approved = desk("server", "approve", "notes", "--reason", "it keeps notes there", "--only", "server", *further)
    assert "sandbox from now on: contained" in approved.stderr
    assert (confinement(desk)["profile"], confinement(desk)["chosen"]) == ("contained", True)
    assert confinement(desk)["mounts"] == sorted([f"{place}:rw", SOURCES])
    assert "set by a reviewer; declared: strict" in desk("server", "show", "notes").stdout
    desk.ready("read_note")
    unconfined = desk("server", "approve", "notes", "--reason", "no", "--sandbox", "none")
    assert (unconfined.exit_code, unconfined.stdout) == (2, "")
    assert confinement(desk)["profile"] == "contained"


def test_what_it_would_not_see_is_named_at_once_and_when_it_fails(desk: Desk, tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text("raise SystemExit('never read')")
    added = desk("server", "add", "notes", "--mount", SOURCES, "--", sys.executable, str(script))
    assert f"does not see {script}" in added.stderr
    assert f"mcpguard server patch notes --mount {SOURCES} --mount FOLDER" in added.stderr, "it keeps what it sees"
    failed = desk("server", "inspect", "notes")
    assert (failed.exit_code, failed.stdout) == (1, "")
    assert "can't open file" in failed.stderr
    assert "no network, and saw only the folders" in failed.stderr
    assert "--mount FOLDER --sandbox contained" in failed.stderr
    assert "never read" not in failed.stderr


def test_what_cannot_be_mounted_is_refused_with_the_reason(desk: Desk) -> None:
    desk("server", "add", "notes", "--mount", str(desk.guard.data_dir), "--", *HONEST)
    assert "data directory" in desk("server", "inspect", "notes").stderr
    assert desk.json("server", "show", "notes")["observed"] is None
    remote = desk("server", "add", "web", "--sandbox", "strict", "--url", "https://example.com/mcp")
    assert (remote.exit_code, remote.stdout) == (2, "")
