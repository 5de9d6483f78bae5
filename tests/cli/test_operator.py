"""What a command says to whatever is answered on the operator's socket."""

from pathlib import Path

import pytest

from mcpguard.cli.shared import guard_client
from tests.cli.command import HOSTILE, inert, mcpguard
from tests.cli.played_socket import answering, http, problem
from tests.process import serving


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (problem(404), "mcpguard: The detail.\n"),
        (problem(409, moved=["a moved", "b moved"]), "mcpguard: A title\n  a moved\n  b moved\n"),
        (problem(422, problems=["x is empty"]), "mcpguard: A title\n  x is empty\n"),
        (http(500, b"Internal Server Error"), "mcpguard: the guard failed to do this (500); its log says why\n"),
        (http(500, b"[]"), "mcpguard: the guard failed to do this (500); its log says why\n"),
    ],
)
def test_a_problem_becomes_sentences(answer: bytes, told: str) -> None:
    with answering(answer) as data_dir:
        for command in (["show", "x"], ["block", "x", "--reason", "y"]):
            result = mcpguard("server", *command, "--data-dir", data_dir)
            assert (result.exit_code, result.stdout, result.stderr) == (1, "", told)


@pytest.mark.parametrize("more", [{}, {"moved": [HOSTILE]}, {"problems": [HOSTILE, HOSTILE]}], ids=repr)
def test_a_problem_does_nothing_to_the_terminal(more: dict[str, object]) -> None:
    with answering(problem(409, title=HOSTILE, detail=HOSTILE, **more)) as data_dir:
        result = mcpguard("server", "remove", "x", "--data-dir", data_dir)
    assert (result.exit_code, result.stdout) == (1, "")
    assert inert(result.stderr)


@pytest.mark.parametrize("answer", [b"", b"\xff\xfe nonsense\r\n\r\n", http(200, b"not JSON")], ids=repr)
def test_what_is_no_answer_is_told(answer: bytes) -> None:
    with answering(answer) as data_dir:
        result = mcpguard("server", "list", "--data-dir", data_dir)
    assert (result.exit_code, result.stdout) == (1, "")
    assert str(data_dir) in result.stderr
    assert inert(result.stderr)
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "command",
    [
        ["server", "list"],
        ["server", "add", "x", "--url", "https://x.example/"],
        ["server", "remove", "x"],
        ["server", "inspect", "x"],
        ["server", "approve", "x", "--reason", "y"],
        ["tool", "list"],
        ["tool", "block", "x:y", "--reason", "z"],
    ],
    ids=" ".join,
)
def test_without_a_guard_there_is_nobody_to_ask(command: list[str], tmp_path: Path) -> None:
    result = mcpguard(*command, "--data-dir", tmp_path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "mcpguard: no guard answers at " in result.stderr


@pytest.mark.parametrize(
    ("status", "code", "told", "said"),
    [(404, 12, "unknown\n  The detail.\n", ""), (503, 1, "", "mcpguard: The detail.\n")],
)
def test_readiness_of_what_is_not_there_is_told_from_failure(status: int, code: int, told: str, said: str) -> None:
    with answering(problem(status)) as data_dir:
        result = mcpguard("tool", "ready", "x:y", "--data-dir", data_dir)
    assert (result.exit_code, result.stdout, result.stderr) == (code, told, said)


def test_a_list_is_asked_for_until_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard_client, "MOST", 1)
    with serving(tmp_path, "--demo"):
        found = guard_client.GuardClient(tmp_path).get_all(guard_client.SERVERS, "servers")["servers"]
    assert [each["name"] for each in found] == ["demo-notes", "demo-weather"]
