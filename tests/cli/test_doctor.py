"""`mcpguard doctor`: what it says of a guard that is well, of none, and how it ends."""

import re
from pathlib import Path

import pytest

from mcpguard.cli.doctor import checks
from tests.cli.command import inert, mcpguard
from tests.cli.doctoring import doctor, files, only
from tests.documents import DOCS
from tests.process import recorded, serving


@pytest.mark.usefixtures("free")
def test_where_no_guard_ever_was_there_is_no_problem_and_nothing_is_made(tmp_path: Path) -> None:
    findings = doctor(tmp_path / "none")
    assert only(findings, "guard.runs")["level"] == "notice"
    assert "mcpguard serve" in only(findings, "guard.runs")["next"]
    assert not (tmp_path / "none").exists()


def test_where_a_guard_was_stopped_there_is_no_problem_and_nothing_is_changed(stopped: Path) -> None:
    before = files(stopped)
    findings = doctor(stopped)
    assert only(findings, "guard.runs")["level"] == "notice"
    assert only(findings, "clock.behind")["level"] == "ok"
    assert files(stopped) == before


def test_a_guard_that_runs_is_well_and_hears_of_it_without_a_record(tmp_path: Path) -> None:
    with serving(tmp_path) as guard:
        before = recorded(guard.data_dir)
        findings = doctor(guard.data_dir)
        assert {only(findings, check)["level"] for check in ("guard.ready", "listener.answers", "agents.socket")} == {
            "ok"
        }
        assert guard.url in only(findings, "listener.answers")["sentence"]
        assert recorded(guard.data_dir) == before


def test_what_is_printed_for_people_has_the_same_findings_and_what_to_do(tmp_path: Path) -> None:
    with serving(tmp_path) as guard:
        guard.data_dir.joinpath("agents.sock").unlink()
        findings = doctor(guard.data_dir, code=1)
        printed = mcpguard("doctor", "--data-dir", guard.data_dir)
    assert (printed.exit_code, printed.stderr) == (1, "")
    assert inert(printed.stdout)
    lines = printed.stdout.splitlines()
    steady = [each for each in findings if each["subject"] not in {"clock", "disk", "proofs"}]
    assert {each["sentence"] for each in steady} <= {line[11:] for line in lines}
    assert {f"           → {each['next']}" for each in steady if each["next"]} <= {*lines}
    assert [line for line in lines if line.startswith("  PROBLEM  ")] == [
        f"  PROBLEM  {each['sentence']}" for each in findings if each["level"] == "problem"
    ]
    assert lines[-1].startswith("1 problem, ")


def test_the_document_names_every_check() -> None:
    text = (DOCS / "doctor.md").read_text()
    sources = "".join(path.read_text() for path in Path(checks.__file__).parent.glob("*.py"))
    named = {*re.findall(r'"((?:[a-z]+)\.[a-z_]+)"', sources)} - {"operator.sock"}
    assert "disk.space" in named
    assert {each for each in named if f"`{each}`" not in text} == set()
    assert {each.name for each in checks.CHECKS} <= {*re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)}
