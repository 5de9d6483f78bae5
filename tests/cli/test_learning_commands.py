"""`mcpguard tool learned` and `forget`: what earlier searches have taught, and that it is gone at once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import mcpguard
from tests.cli.desk import Desk
from tests.process import serving, until

TOOL = "notes:list_notes"
NOTHING = f"Nothing has been learned of {TOOL}.\n"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """A guard with an agent that has called a tool after two searches for a kestrel."""
    with serving(tmp_path / "data") as guard:
        desk = Desk(guard, tmp_path / "description")
        desk.approved()
        until(lambda: desk.json("search", "list notes")["tools"] or None, "the index has followed")
        with monkeypatch.context() as agent:
            agent.setenv("MCPGUARD_TOKEN", desk.json("caller", "add", "bot")["token"])
            for query in ("kestrel notes", "notes that a kestrel wrote on Monday"):
                desk.done("search", query)
                desk.done("call", "read", TOOL)
        until(lambda: desk.json("tool", "learned", TOOL)["words"] or None, "both were counted")
        yield desk


def found_by_what_was_learned(desk: Desk) -> bool:
    tools = desk.json("search", "kestrel", "--caller", "bot")["tools"]
    return [each["name"] for each in tools] == [TOOL]


def test_each_word_is_shown_with_how_many_taught_it(desk: Desk) -> None:
    shown = desk("tool", "learned", TOOL)
    assert shown.stdout.splitlines()[0].split() == ["word", "callers"]
    assert ["kestrel", "1"] in [line.split() for line in shown.stdout.splitlines()]
    assert f"mcpguard tool forget {TOOL}" in shown.stderr
    assert found_by_what_was_learned(desk)
    assert desk.json("tool", "learned", TOOL)["callers"] == 1
    other = desk("tool", "learned", "notes:read_note")
    assert (other.exit_code, other.stdout) == (0, "")
    assert other.stderr == "Nothing has been learned of notes:read_note.\n"


@pytest.mark.parametrize(("which", "said"), [(TOOL, TOOL), ("--all", "all tools")])
def test_what_is_forgotten_counts_no_more_and_is_recorded_with_its_reason(desk: Desk, which: str, said: str) -> None:
    assert found_by_what_was_learned(desk)
    assert (
        desk.done("tool", "forget", which, "--reason", "a test taught it")
        == f"Forgot what search had learned of {said}.\n"
    )
    assert desk("tool", "learned", TOOL).stderr == NOTHING
    assert not found_by_what_was_learned(desk)
    (record,) = desk.json("audit", "list", "kind:search_forgotten")
    assert (record["why"], record["via"]) == ("a test taught it", "operator socket")


def test_without_a_reason_or_a_tool_nothing_is_forgotten(desk: Desk) -> None:
    for wrong in (("forget", TOOL), ("forget", "--reason", "x"), ("forget", TOOL, "--all", "--reason", "x")):
        refused = desk("tool", *wrong)
        assert (refused.exit_code, refused.stdout) == (2, ""), wrong
    blank = desk("tool", "forget", TOOL, "--reason", " ")
    assert (blank.exit_code, blank.stdout) == (1, "")
    assert found_by_what_was_learned(desk), "and nothing happened"
    assert desk.json("audit", "list", "kind:search_forgotten") == []


def test_where_nothing_is_learned_that_is_said(tmp_path: Path) -> None:
    with serving(tmp_path / "data", environ={"MCPGUARD_SEARCH__LEARN": "false"}) as guard:
        desk = Desk(guard, tmp_path / "description")
        desk.approved()
        assert desk("tool", "learned", TOOL).stderr == "Nothing is learned while search.learn is false.\n"
    nowhere = mcpguard("tool", "learned", "--data-dir", str(tmp_path / "nowhere"), TOOL)
    assert (nowhere.exit_code, nowhere.stdout) == (1, "")
    assert "no guard answers at" in nowhere.stderr
