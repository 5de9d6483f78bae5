"""`mcpguard caller` with a guard that runs: the token goes to standard output, once, and all else is told beside it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import inert, refusal
from tests.cli.desk import Desk
from tests.gateway.agent import relaying
from tests.process import run, serving
from tests.world import said


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with serving(tmp_path / "data") as guard:
        yield Desk(guard, tmp_path / "description")


def records(desk: Desk) -> list[dict[str, Any]]:
    kinds = ("granted", "revoked")
    return [record for record in said(desk.guard.data_dir / "mcpguard.db") if record["kind"] in kinds]


def test_where_there_is_nobody_it_is_said_what_to_do_and_what_anonymous_may(desk: Desk) -> None:
    result = desk("caller", "list")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "mcpguard caller add NAME" in result.stderr
    assert "Without a token, agents on this host have the scope: effects read" in result.stderr
    assert desk.json("caller", "list")["callers"] == []


def test_the_token_alone_is_on_standard_output_and_what_was_granted_beside_it(desk: Desk) -> None:
    result = desk("caller", "add", "agent")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("mcpg_")
    assert result.stdout.count("\n") == 1
    assert "agent has the scope: effects read; servers *; tools *; until 20" in result.stderr
    assert "is not shown again" in result.stderr
    assert result.stdout.strip() not in result.stderr + desk.done("caller", "list")


def test_scripts_get_name_and_token(desk: Desk) -> None:
    words = ("--servers", "web,files-*", "--tools", "read_*", "--tools", "tool:x", "--effects", "read,write")
    added = desk.json("caller", "add", "agent", *words, "--expires", "30d", "--must-declare", "--reason", "ticket")
    assert added["name"] == "agent"
    assert added["token"].startswith("mcpg_")
    assert (added["servers"], added["tools"], added["effects"]) == (
        ["web", "files-*"],
        ["read_*", "tool:x"],
        ["read", "write"],
    )
    assert added["expires_at"] - added["created_at"] == 30 * 86_400_000_000
    assert (added["must_declare"], added["manage"]) == (True, False)
    (listed,) = desk.json("caller", "list")["callers"]
    assert listed | {"token": added["token"]} == added
    table = desk.done("caller", "list")
    assert "active, must declare" in table
    assert "web, files-*" in table
    (record,) = records(desk)
    assert (record["caller"], record["why"]) == (added["id"], "ticket")


def test_a_token_ends_after_ninety_days_or_never_if_that_is_said(desk: Desk) -> None:
    usual, endless = (desk.json("caller", "add", *words) for words in (("usual",), ("endless", "--expires", "never")))
    assert usual["expires_at"] - usual["created_at"] == 90 * 86_400_000_000
    assert endless["expires_at"] is None
    assert "until it is revoked" in desk("caller", "add", "other", "--expires", "never").stderr
    tokens = [("usual", ()), ("endless", ("--expires", "never"))]
    usual, endless = (desk.json("operator", "add", name, "--role", "viewer", *words) for name, words in tokens)
    assert usual["expires_at"] - usual["created_at"] == 90 * 86_400_000_000
    assert endless["expires_at"] is None


def test_who_is_revoked_is_gone_and_the_name_is_free(desk: Desk) -> None:
    first = desk.json("caller", "add", "agent")
    assert "a caller named agent exists already" in refusal(desk("caller", "add", "agent"))
    assert desk.done("caller", "revoke", "agent", "--reason", "left") == "agent is revoked\n"
    assert "there is no caller agent" in refusal(desk("caller", "revoke", "agent"))
    second = desk.json("caller", "add", "agent")
    assert second["id"] != first["id"]
    assert [each["kind"] for each in records(desk)] == ["granted", "revoked", "granted"]


def test_what_the_guard_refuses_is_told_in_its_words(desk: Desk) -> None:
    assert "cannot use brackets" in refusal(desk("caller", "add", "agent", "--servers", "[ab]"))
    assert "not be anonymous" in refusal(desk("caller", "add", "anonymous"))
    assert "to ten years" in refusal(desk("caller", "add", "agent", "--expires", "9999w"))
    assert records(desk) == [], "and nothing happened"


def test_without_a_guard_nothing_is_done(tmp_path: Path) -> None:
    for words in (("add", "agent"), ("list",), ("revoke", "agent")):
        done = run("caller", *words, "--data-dir", tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("mcpguard: no guard answers at")
        assert inert(done.stderr)


def test_an_agent_shows_its_token_to_the_relay_from_the_environment_or_a_file(desk: Desk, tmp_path: Path) -> None:
    desk.approved()
    token = desk.json("caller", "add", "agent", "--tools", "read_*")["token"]
    file = tmp_path / "token"
    file.write_text(token + "\n")
    for environ in ({"MCPGUARD_TOKEN": token}, {"MCPGUARD_TOKEN_FILE": str(file)}):
        assert _tools(desk, environ) == {"notes::read_note"}
    assert len(_tools(desk, {})) > 1, "without one it is anonymous"
    desk.done("caller", "revoke", "agent")
    with relaying(desk.guard.data_dir, environ={"MCPGUARD_TOKEN": token}) as agent:
        code, told = agent.ended()
    assert code != 0
    assert "this token is unknown, expired or revoked" in told
    assert token not in told


def test_a_relay_ends_when_its_caller_is_revoked(desk: Desk) -> None:
    token = desk.json("caller", "add", "agent")["token"]
    with relaying(desk.guard.data_dir, environ={"MCPGUARD_TOKEN": token}) as agent:
        agent.say(_initialize())
        assert "result" in json.loads(agent.heard())
        desk.done("caller", "revoke", "agent")
        assert agent.heard() == b""


def _tools(desk: Desk, environ: dict[str, str]) -> set[str]:
    with relaying(desk.guard.data_dir, "--face", "direct", environ=environ) as agent:
        agent.say(_initialize(), b'{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}')
        assert json.loads(agent.heard())["id"] == 1
        return {tool["name"] for tool in json.loads(agent.heard())["result"]["tools"]}


def _initialize() -> bytes:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
