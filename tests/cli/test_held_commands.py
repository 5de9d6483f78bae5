"""`mcpguard held`: a call that waits is seen, allowed or denied at the command line, and made once."""

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from tests.cli.command import inert
from tests.cli.desk import Desk
from tests.gate import DIRECT, NO_TLS
from tests.patience import PATIENCE
from tests.process import Result, run, serving, until
from tests.simulators.http_client import HttpClient
from tests.world import said

HELD = {"MCPGUARD_HOLDS__CALLS": "destructive of notes"}
NOTE = json.dumps({"name": "plan", "text": "buy milk"})
PLAN = json.dumps({"name": "plan"})


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    with serving(tmp_path / "data", environ=HELD) as guard:
        desk = Desk(guard, tmp_path / "description")
        desk.approved()
        token = desk.json("caller", "add", "bot", "--effects", "read,write,destructive")["token"]
        monkeypatch.setenv("MCPGUARD_TOKEN", token)
        assert desk("call", "write", "notes:write_note", "--args", NOTE).exit_code == 0
        yield desk


class Deleting(threading.Thread):
    """An agent, in a process of its own, that wants to delete the note, and says why."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._result: Result | None = None
        self.start()

    def run(self) -> None:
        words = ("call", "destructive", "notes:delete_note", "--args", PLAN, "--reason", "the plan is done")
        token = {"MCPGUARD_TOKEN": os.environ["MCPGUARD_TOKEN"]}
        self._result = run(*words, "--data-dir", self._desk.guard.data_dir, environ=token)

    def ended(self) -> Result:
        self.join(PATIENCE)
        assert self._result is not None
        return self._result


def waiting(desk: Desk) -> dict[str, Any]:
    def one() -> dict[str, Any] | None:
        found = [call for call in desk.json("held", "list") if call["state"] == "waiting"]
        return found[0] if found else None

    return until(one, "a call waits")


def test_a_call_is_held_allowed_made_once_and_held_again(desk: Desk) -> None:
    assert "No call is held" in desk("held", "list").stderr
    deleting = Deleting(desk)
    call = waiting(desk)
    assert (call["caller"]["name"], call["server"], call["name"], call["effect"]) == (
        "bot",
        "notes",
        "delete_note",
        "destructive",
    )
    assert (call["agent_says"], call["because"]) == ("the plan is done", "destructive of notes")
    assert call["arguments"] == {"name": "plan"}
    shown = desk.done("held", "show", call["id"])
    assert "the plan is done" in shown
    assert "high: destructive; not allowed in the last 90 days" in shown
    assert "notes:write_note" in shown, "what its caller did before"
    assert inert(shown)
    assert call["id"] in desk.done("held", "list")
    assert "may be called once" in desk.done("held", "allow", call["id"], "--reason", "it is done indeed")
    assert deleting.ended().returncode == 0
    refused = desk("held", "allow", call["id"], "--reason", "once more")
    assert refused.exit_code == 1
    assert "no held call has this ticket" in refused.stderr

    again = Deleting(desk)
    other = waiting(desk)
    assert other["id"] != call["id"], "what was allowed once is asked anew"
    shown = desk.done("held", "show", other["id"])
    assert "1 in 90 days, 1 allowed in this version" in shown
    assert "allowed for bot by uid:" in shown
    assert "the same arguments" in shown
    assert "is denied" in desk.done("held", "deny", other["id"], "--usual", "other", "--reason", "once is enough")
    ended = again.ended()
    assert ended.returncode == 1
    assert "Other: once is enough" in ended.stdout
    refused = desk("call", "destructive", "notes:delete_note", "--args", PLAN)
    assert refused.exit_code == 1
    assert 'A reviewer denied this call. Reviewer: "Other: once is enough".' in refused.stdout

    records = said(desk.guard.data_dir / "mcpguard.db")
    answers = [record for record in records if record["kind"] == "decided" and "ticket" in record]
    assert [(record["answer"], record["ticket"], record["why"]) for record in answers] == [
        ("allow", call["id"], "it is done indeed"),
        ("deny", other["id"], "Other: once is enough"),
    ]
    assert all(record["by"].startswith("uid:") for record in answers)
    opened = [record for record in records if record["kind"] == "opened" and record["name"] == "delete_note"]
    assert [record["verdict"] for record in opened] == ["hold", "hold", "deny"]
    assert [record["verdict"] for record in records if record["kind"] == "released"] == ["allow"]


def test_what_would_be_sent_beside_the_arguments_is_shown(tmp_path: Path) -> None:
    async def deleting(url: str, token: str) -> None:
        async with httpx2.AsyncClient(verify=NO_TLS, trust_env=False, timeout=PATIENCE) as http:
            client = HttpClient(http, url + DIRECT)
            client.headers["authorization"] = f"Bearer {token}"
            params = {"name": "notes::delete_note", "arguments": {"name": "plan"}, "_meta": {"mode": "every copy"}}
            await client.request("tools/call", params)

    with serving(tmp_path / "data", environ=HELD | {"MCPGUARD_HOLDS__WAIT_SECONDS": "0"}) as guard:
        desk = Desk(guard, tmp_path / "description")
        desk.approved()
        token = desk.json("caller", "add", "bot", "--effects", "destructive")["token"]
        anyio.run(deleting, guard.url, token)
        call = waiting(desk)
        assert (call["arguments"], call["meta"]) == ({"name": "plan"}, {"mode": "every copy"})
        assert "every copy" in desk.done("held", "show", call["id"])


def test_whoever_answers_must_say_why(desk: Desk) -> None:
    deleting = Deleting(desk)
    call = waiting(desk)
    assert desk("held", "allow", call["id"]).exit_code == 2
    blank = desk("held", "allow", call["id"], "--reason", "  ")
    assert (blank.exit_code, "must not be blank" in blank.stderr) == (1, True)
    assert waiting(desk)["id"] == call["id"]
    wrong = desk("held", "allow", call["id"], "--usual", "injected")
    assert (wrong.exit_code, "no reason to allow" in wrong.stderr) == (1, True)
    assert waiting(desk)["id"] == call["id"]
    desk.done("held", "deny", call["id"], "--usual", "injected")
    assert deleting.ended().returncode == 1


def test_its_like_is_allowed_for_some_minutes_listed_and_revoked(tmp_path: Path) -> None:
    with serving(
        tmp_path / "data", environ={"MCPGUARD_HOLDS__CALLS": "any", "MCPGUARD_HOLDS__WAIT_SECONDS": "0"}
    ) as guard:
        desk = Desk(guard, tmp_path / "description")
        desk.approved()
        token = desk.json("caller", "add", "bot", "--effects", "read,write,destructive")["token"]

        def writes(name: str) -> Result:
            words = ("call", "write", "notes:write_note", "--args", json.dumps({"name": name, "text": "milk"}))
            return run(*words, "--data-dir", desk.guard.data_dir, environ={"MCPGUARD_TOKEN": token})

        assert "No call is allowed for a time" in desk("held", "allowances").stderr
        assert writes("one").returncode == 1
        call = waiting(desk)
        assert desk("held", "allow", call["id"], "--usual", "expected", "--for", "long").exit_code == 2
        assert desk("held", "allow", call["id"], "--usual", "expected", "--same", "text").exit_code == 2
        too_long = desk("held", "allow", call["id"], "--usual", "expected", "--for", "11m")
        assert (too_long.exit_code, waiting(desk)["id"]) == (1, call["id"])
        given = desk.done("held", "allow", call["id"], "--usual", "expected", "--for", "10m", "--same", "text")
        assert "notes:write_note may be called 20 times until" in given
        assert "by bot, with the same text" in given
        assert [writes(name).returncode for name in ("one", "two", "three")] == [0, 0, 0]
        (allowance,) = desk.json("held", "allowances")
        assert (allowance["left"], allowance["same"], allowance["open"]) == (17, ["text"], ["name"])
        assert allowance["id"] in desk.done("held", "allowances")
        assert "held again" in desk.done("held", "revoke", allowance["id"], "--reason", "enough")
        assert writes("four").returncode == 1
        refused = desk("held", "revoke", allowance["id"], "--reason", "again")
        assert (refused.exit_code, "may have ended" in refused.stderr) == (1, True)
        records = [each for each in said(desk.guard.data_dir / "mcpguard.db") if each["kind"] == "allowance"]
        assert [(each["change"], each["why"], each.get("cause")) for each in records] == [
            ("added", "Expected", None),
            ("ended", "enough", "revoked"),
        ]
