"""`mcpguard search` and `call`: a shell is an agent like any other."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import inert, mcpguard
from tests.cli.desk import Desk
from tests.process import serving, until


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with serving(tmp_path / "data") as guard:
        desk = Desk(guard, tmp_path / "description")
        desk.approved()
        until(lambda: found(desk) or None, "the index has followed")
        yield desk


def found(desk: Desk) -> list[str]:
    return [each["name"] for each in search(desk, "read a note")["tools"]]


def search(desk: Desk, *words: str) -> dict[str, list[dict[str, str]]]:
    answer: dict[str, list[dict[str, str]]] = desk.json("search", *words)
    return answer


@pytest.fixture(autouse=True)
def _nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MCPGUARD_TOKEN", "MCPGUARD_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)


def test_a_tool_is_found_and_called(desk: Desk) -> None:
    printed = desk.done("search", "read", "a", "note")
    assert "notes:read_note" in printed
    listed = desk("call", "read", "notes:list_notes", "--reason", "to see")
    assert listed.exit_code == 0, listed.output
    assert inert(listed.output)
    assert desk.json("call", "read", "notes:list_notes")["content"]


def test_a_long_reply_is_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = "".join(f"{number:>9}\n" for number in range(300))
    with serving(tmp_path / "data", environ={"MCPGUARD_REPLIES__SHOWN": "1000"}) as guard:
        desk = Desk(guard, tmp_path / "description")
        desk.approved()
        monkeypatch.setenv(
            "MCPGUARD_TOKEN", desk.json("caller", "add", "bot", "--effects", "read,write,destructive")["token"]
        )
        desk.done("call", "write", "notes:write_note", "--args", json.dumps({"name": "long", "text": note}))
        said = desk.json("call", "read", "notes:read_note", "--args", '{"name": "long"}')
        assert json.loads(said["content"][0]["text"]) == {"name": "long", "text": note}
        assert len(said["content"]) == 1
        assert "mcpguard/cut" not in said["_meta"]


ODD = """
import json
from mcpguard.demo import methods
from mcpguard.demo.notes import Notes
from mcpguard.demo.stdio import serve

methods._called = lambda offer, name, arguments: {"content": json.loads(arguments["text"])}
notes = Notes()
notes.tools = [{key: said for key, said in tool.items() if key != "outputSchema"} for tool in notes.tools]
serve(notes)
"""
"""Answers with whatever it is given as a text, and promises nothing else."""


def test_whatever_a_server_answers_is_shown_or_said_to_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "x" * 1500
    with serving(tmp_path / "data", environ={"MCPGUARD_REPLIES__SHOWN": "1000"}) as guard:
        desk = Desk(guard, tmp_path / "description")
        desk.approved(sys.executable, "-c", ODD)
        monkeypatch.setenv("MCPGUARD_TOKEN", desk.json("caller", "add", "bot", "--effects", "read")["token"])

        def shown(content: object) -> str:
            return desk.done("call", "read", "notes:word_count", "--args", json.dumps({"text": json.dumps(content)}))

        some_text: list[object] = [{"type": "text"}, {"type": "text", "text": 7}, {}, 7, None, "a"]
        for odd in (*some_text, some_text, *([each] for each in some_text)):
            assert shown(odd).startswith("("), odd
        assert shown([{"type": "a\x1b[2J"}]) == "(a⟨U+001B⟩[2J)\n"
        seven = {"type": "text", "text": 7, "more": "y" * (1000 - 34)}
        assert len(json.dumps(seven, separators=(",", ":"))) == 1000
        assert long in shown([seven, {"type": "text", "text": long}]), "where the cut is right behind what is no text"


def test_who_shows_no_token_is_anonymous_and_only_reads(desk: Desk) -> None:
    refused = desk("call", "destructive", "notes:delete_note", "--args", '{"id": "welcome"}')
    assert refused.exit_code == 1
    assert "scope" in refused.stdout or "may not" in refused.stdout or "effect" in refused.stdout
    understated = desk("call", "read", "notes:delete_note", "--args", '{"id": "welcome"}')
    assert understated.exit_code == 1


def test_a_search_that_is_refused_says_why(desk: Desk) -> None:
    refused = desk("search", "x" * 2001)
    assert refused.exit_code == 1
    assert json.loads(refused.stdout)["reason"] == "arguments:invalid"


def test_a_token_is_whose_scope_counts(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    made = desk.json("caller", "add", "bot", "--servers", "other")
    monkeypatch.setenv("MCPGUARD_TOKEN", made["token"])
    assert search(desk, "read a note")["tools"] == []
    unknown = desk("call", "read", "notes:list_notes")
    assert unknown.exit_code == 1
    monkeypatch.setenv("MCPGUARD_TOKEN", "mcpg_wrong")
    wrong = desk("search", "note")
    assert (wrong.exit_code, wrong.stdout) == (1, "")
    assert "the guard refuses" in wrong.stderr


def test_why_a_tool_is_found_is_told_on_a_line_beneath_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    explained = desk("search", "raed", "a", "zorb", "note", "--why")
    assert explained.exit_code == 0, explained.output
    assert inert(explained.output)
    first, why, *_ = explained.stdout.splitlines()
    assert first.startswith("notes:read_note  read  ")
    assert why.startswith("    ")
    assert "`read` (corrected from `raed`) in its name" in why
    assert explained.stderr == "No tool has: `zorb`.\n"
    desk.done("caller", "add", "narrow", "--tools", "list_*")
    narrow = desk.json("search", "note", "--caller", "narrow")["tools"]
    assert [each["name"] for each in narrow] == ["notes:list_notes"]
    assert desk.json("search", "note", "--caller", "narrow", "--why")["tools"][0]["why"]["words"]
    monkeypatch.setenv("MCPGUARD_TOKEN", "mcpg_of_somebody")
    assert desk.json("search", "note", "--caller", "narrow")["tools"] == narrow, "the token is not shown"
    whose = desk("search", "note", "--why")
    assert (whose.exit_code, whose.stdout) == (2, "")
    assert "--caller" in whose.stderr


def test_a_search_as_a_caller_that_does_not_exist_says_what_to_do(desk: Desk, tmp_path: Path) -> None:
    unknown = desk("search", "note", "--caller", "nobody")
    assert (unknown.exit_code, unknown.stdout) == (1, "")
    assert unknown.stderr == "mcpguard: there is no caller nobody; mcpguard caller list shows them\n"
    long = desk("search", "x" * 2001, "--why")
    assert (long.exit_code, long.stdout) == (1, "")
    nowhere = mcpguard("search", "--data-dir", str(tmp_path / "nowhere"), "x", "--why")
    assert (nowhere.exit_code, nowhere.stdout) == (1, "")
    assert "no guard answers at" in nowhere.stderr


def test_where_every_agent_needs_a_token_an_explained_search_names_one(tmp_path: Path) -> None:
    with serving(tmp_path / "data", environ={"MCPGUARD_ANONYMOUS__ENABLED": "false"}) as guard:
        refused = Desk(guard, tmp_path / "description")("search", "note", "--why")
        assert (refused.exit_code, refused.stdout) == (1, "")
        assert "name one with --caller" in refused.stderr


def test_what_is_wrong_is_told_and_repeats_nothing(desk: Desk, tmp_path: Path) -> None:
    for args in ("[1]", '{"a": "canary-7"', '{"a": 1, "a": 2}'):
        result = desk("call", "read", "notes:list_notes", "--args", args)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "canary" not in result.stderr
    nowhere = mcpguard("search", "--data-dir", str(tmp_path / "nowhere"), "x")
    assert (nowhere.exit_code, nowhere.stdout) == (1, "")
    assert "no guard is running here" in nowhere.stderr
