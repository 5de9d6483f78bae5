"""`mcpguard audit list | tail | show`: what fits a filter, what comes, and one by one, inert on any terminal."""

import json
import subprocess
import sys
from typing import Any

import anyio
import pytest
from anyio import to_thread

from mcpguard.cli.audit.records import record_row
from mcpguard.domain.calls.bodies import KeptBody
from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.calls.verdicts import Deny
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.reasons import Reason
from mcpguard.store.engine.backend import Connection
from tests.cli.command import HOSTILE, inert, mcpguard, refusal
from tests.patience import PATIENCE
from tests.process import ROOT, environment
from tests.world import World

pytestmark = pytest.mark.anyio


def listed(guard: World, *terms: str) -> list[dict[str, Any]]:
    told = mcpguard("audit", "list", "-o", "json", *terms, "--data-dir", guard.now.settings.data_dir)
    assert told.exit_code == 0, told.stderr
    found: list[dict[str, Any]] = json.loads(told.stdout)
    return found


async def test_what_fits_is_listed(guard: World) -> None:
    await guard.call()
    await guard.call(guard.opening(Deny(Reason.SCOPE_EFFECT), Effect.WRITE))
    calls = [record for record in guard.said() if "entry" in record]
    assert listed(guard, "server:files") == calls
    assert listed(guard, "verdict:deny", "effect:write") == [calls[2]]
    assert listed(guard, "reason:scope:* outcome:refused") == [calls[3]]
    assert listed(guard, f"call:{calls[0]['entry']}") == calls[:2]
    assert listed(guard, "since:2026-09-21") == listed(guard) == guard.said()
    assert listed(guard, "server:files", "until:2026-09-21") == []
    assert calls[1]["caller_label"] == calls[0]["caller_label"]
    assert (calls[1]["server"], calls[1]["name"], calls[1]["effect"]) == ("files", "read_file", "read")


async def test_the_page_before_is_asked_for_by_its_number(guard: World) -> None:
    for _ in range(3):
        await guard.call()
    data_dir = guard.now.settings.data_dir
    told = mcpguard("audit", "list", "server:files", "-n", "2", "--data-dir", data_dir)
    assert told.stderr == "There may be older records: --before 7\n"
    told = mcpguard("audit", "list", "server:files", "-n", "4", "--before", "7", "--data-dir", data_dir)
    assert [line.split()[0] for line in told.stdout.splitlines()[1:]] == ["3", "4", "5", "6"]
    assert mcpguard("audit", "list", "server:nothing", "--data-dir", data_dir).stderr == "No results.\n"


async def test_what_is_no_filter_is_told(guard: World) -> None:
    await guard.call()
    data_dir = guard.now.settings.data_dir
    for command in ("list", "tail"):
        assert "write a time as" in refusal(mcpguard("audit", command, "since:x", "--data-dir", data_dir))
    said = refusal(mcpguard("audit", "export", "sever:x", "--data-dir", data_dir))
    assert "sever: is not a key; did you mean server:?; keys are server, tool," in said


async def test_words_are_searched_for_and_what_was_read_as_a_word_is_told(guard: World) -> None:
    await guard.call()
    opened = next(record for record in guard.said() if record["kind"] == "opened")
    assert listed(guard, "to", "LOOK") == listed(guard, '"to look"') == [opened]
    told = mcpguard("audit", "list", "sever:x", "--data-dir", guard.now.settings.data_dir)
    assert (told.exit_code, told.stderr) == (
        0,
        "sever: is not a key; did you mean server:?; searched as text\nNo results.\n",
    )


async def test_a_call_is_shown_with_what_was_sent_and_answered(guard: World) -> None:
    arguments, reply = KeptBody(f"{HOSTILE} sent".encode()), KeptBody(b"\xff\x00")
    await guard.call(guard.opening(arguments=arguments), Outcome.answer(reply))
    data_dir = guard.now.settings.data_dir
    entry = guard.said()[-1]["entry"]
    told = mcpguard("audit", "show", entry, "--data-dir", data_dir)
    assert told.exit_code == 0
    assert inert(told.stdout)
    assert told.stdout.count("record ") == 2
    assert " sent" in told.stdout
    assert "/wA=" in told.stdout, "what is no text, in base64"
    opened, closed = json.loads(mcpguard("audit", "show", entry, "-o", "json", "--data-dir", data_dir).stdout)
    assert opened["body"] == {"pruned": False, "text": f"{HOSTILE} sent", "base64": None}
    assert closed["body"] == {"pruned": False, "text": None, "base64": "/wA="}
    (one,) = json.loads(mcpguard("audit", "show", "1", "-o", "json", "--data-dir", data_dir).stdout)
    assert (one["kind"], one["body"], len(one["hash"])) == ("started", None, 64)
    for nothing in ("99", "0", "9" * 30, "-1x", "nothing", "\u0661"):
        assert "there is no such record or call" in refusal(
            mcpguard("audit", "show", "--data-dir", data_dir, "--", nothing)
        )


async def test_what_was_pruned_is_shown_as_that(guard: World) -> None:
    await guard.call(guard.opening(arguments=KeptBody(b"sent")))

    def prune(connection: Connection) -> None:
        connection.exec_driver_sql("UPDATE bodies SET salt = NULL, content = NULL")
        connection.exec_driver_sql("UPDATE records SET content = NULL, kind = NULL, at = NULL WHERE seq = 1")

    await guard.now.store.writer.submit(prune)
    data_dir = guard.now.settings.data_dir
    assert "pruned; its hash is kept" in mcpguard("audit", "show", "1", "--data-dir", data_dir).stdout
    assert "body             pruned" in mcpguard("audit", "show", "3", "--data-dir", data_dir).stdout
    assert mcpguard("audit", "list", "--data-dir", data_dir).stdout.splitlines()[1].split() == ["1", "pruned"]


async def test_what_comes_is_printed_as_it_comes(guard: World) -> None:
    data_dir = guard.now.settings.data_dir
    await guard.call()
    command = [sys.executable, "-m", "mcpguard", "audit", "tail", "server:files", "-o", "json", "-n", "1"]
    with subprocess.Popen(  # noqa: ASYNC220 - it is to be read line by line
        [*command, "--data-dir", str(data_dir)], cwd=ROOT, env=environment({}), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            with anyio.fail_after(PATIENCE):
                first = json.loads(await to_thread.run_sync(process.stdout.readline))
                assert first == guard.said()[-1]
                await guard.now.ledger.note(RecordKind.STOPPED, {"why": "it has no server"})
                await guard.call()
                found = [json.loads(await to_thread.run_sync(process.stdout.readline)) for _ in range(2)]
            assert found == guard.said()[-2:]
        finally:
            process.terminate()


async def test_only_what_there_is(guard: World) -> None:
    for _ in range(3):
        await guard.call()
    told = mcpguard("audit", "tail", "--once", "-n", "4", "--data-dir", guard.now.settings.data_dir)
    assert (told.exit_code, told.stderr) == (0, "")
    assert [line.split()[0] for line in told.stdout.splitlines()] == ["5", "6", "7", "8"]


ROWS: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"kind": "disclosed", "caller": "anonymous", "method": "tools/list", "names": 3, "count": 1},
     ("anonymous", "tools/list", "", "3 names", "")),
    ({"kind": "disclosed", "caller": "id", "method": "tools/list", "names": 3, "count": 5},
     ("id", "tools/list", "", "5 times", "")),
    ({"kind": "turned_away", "door": "network", "why": "host", "count": 2}, ("", "network", "", "2 times", "host")),
    ({"kind": "decided", "answer": "screen", "screening": "mask", "server": "mail", "before": "approved",
      "after": "approved", "by": "uid:1", "why": "secrets"}, ("uid:1", "mail", "", "screen: mask", "secrets")),
    ({"kind": "person", "change": "role", "user_name": "ada", "before": "viewer", "role": "admin", "by": "uid:1"},
     ("uid:1", "ada", "", "role: viewer → admin", "")),
    ({"kind": "granted", "caller_label": "desk", "by": "uid:1", "why": "new"}, ("uid:1", "desk", "", "", "new")),
    ({"kind": "signed_in", "user_name": "ada", "method": "password", "by": "user:1 (ada)"},
     ("user:1 (ada)", "password", "", "", "")),
    ({"kind": "sign_in_refused", "peer": "10.0.0.1", "why": "password", "count": 3},
     ("10.0.0.1", "", "", "3 times", "password")),
    ({"kind": "pruned", "what": "records", "first": 2, "last": 9}, ("", "records 2 to 9", "", "records", "")),
    ({"kind": "asked", "entry": "e", "server": "mail", "method": "roots/list"},
     ("", "mail asks roots/list", "", "", "")),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "said"), ROWS)
async def test_every_kind_says_who_did_what(guard: World, fields: dict[str, Any], said: tuple[str, ...]) -> None:
    await guard.now.ledger.note(RecordKind(fields["kind"]), {name: fields[name] for name in fields if name != "kind"})
    told = mcpguard("audit", "tail", "--once", "-n", "1", "--data-dir", guard.now.settings.data_dir).stdout
    assert record_row(1, {**fields, "at": 0})[3:] == said
    assert all(word in told for word in said)
