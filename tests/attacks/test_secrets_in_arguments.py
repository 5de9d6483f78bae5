"""A secret in the command line of a server: written out it is refused at every way in, as a reference it stays one."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from mcpguard.app.places import server_logs
from mcpguard.domain.decisions import Actor, NeedsConsent, NotDeclared
from mcpguard.domain.servers.launches import Profile, RemoteLaunch, StdioLaunch
from mcpguard.domain.servers.upstreams import Origin, Transport
from mcpguard.guard.review.admission import DeclarationSource, from_file
from mcpguard.policy.secrets.masking import HIDDEN as MASKED
from tests.attacks.quarantined import records
from tests.gate import Gate, gate, process
from tests.gateway.servers_tool import CALLERS, asked
from tests.patience import PATIENCE
from tests.review import DECISION, approved, approved_as_listed, taken_in

pytestmark = pytest.mark.anyio
CANARY = "hunter2-canary"
URL = f"postgresql://app:{CANARY}@db/orders"
PERSON = DeclarationSource(Origin.API, Actor.with_full_rights("uid:1", "operator socket"))
SPEAKS = """
import json, sys
print("connecting to", sys.argv[1].partition("=")[2], file=sys.stderr, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    answers = {
        "initialize": {"serverInfo": {"name": "x", "version": "1"}, "capabilities": {"tools": {}},
                       "protocolVersion": "2025-06-18"},
        "tools/list": {"tools": [{"name": "argument", "inputSchema": {"type": "object"},
                                  "annotations": {"readOnlyHint": True}}]},
        "tools/call": {"content": [{"type": "text", "text": str(len(sys.argv[1])) + " " + sys.argv[1]}]},
    }
    answer = answers.get(message["method"])
    said = {"result": answer} if answer else {"error": {"code": -32601, "message": "unknown"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}), flush=True)
"""


def nothing_happened(guard: Gate, before: int) -> None:
    assert [*guard.now.guard.status().servers] == []
    assert len(guard.said()) == before
    assert CANARY not in json.dumps(guard.said())


@pytest.mark.parametrize(
    "members",
    [
        {"command": "server", "args": [URL]},
        {"command": "server", "args": ["--password", CANARY]},
        {"command": "server", "args": [f"--token={CANARY}"]},
        {"command": ["server", URL]},
        {"command": f"server --password {CANARY}"},
        {"command": "server", "args": ["--config", json.dumps({"apiKey": CANARY})]},
        {"url": f"https://example.org/mcp?api_key={CANARY}"},
    ],
)
async def test_a_secret_that_is_written_out_is_refused_whoever_declares_it(
    members: dict[str, Any], tmp_path: Path
) -> None:
    async with gate(tmp_path, callers=CALLERS) as guard:
        before, admission = len(guard.said()), guard.now.guard.admission
        with pytest.raises(NotDeclared) as refused:
            await admission.add("db", members, PERSON)
        assert "${file:/path}" in str(refused.value)
        assert CANARY not in str(refused.value)
        nothing_happened(guard, before)


async def test_it_is_refused_from_the_file_and_from_agents(tmp_path: Path) -> None:
    async with gate(tmp_path, callers=CALLERS) as guard:
        before = len(guard.said())
        (sentence,) = await guard.now.guard.admission.declare([process("db", ["server", URL])], from_file())
        assert "args[0] contains what looks like a secret" in sentence
        nothing_happened(guard, before)
        told = await asked(guard, operation="add", name="db", config={"command": "server", "args": [URL]})
        assert "contains what looks like a secret" in json.dumps(told)
        assert CANARY not in json.dumps(told)
        assert [*guard.now.guard.status().servers] == []


async def test_it_does_not_come_in_by_a_change(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        admission = guard.now.guard.admission
        await admission.add("db", {"command": "server", "args": ["--read-only"]}, PERSON)
        known = guard.now.guard.servers.find("db")
        assert known is not None
        before = known.declared
        with pytest.raises(NotDeclared):
            await admission.patch("db", {"args": [URL]}, known.upstream.revision, PERSON.by)
        assert known.declared == before
        assert [record["change"] for record in records(guard, "admitted")] == ["added"]


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        (sys.executable, ["-c", "${file:/code}"]),
        (sys.executable, ["${file:/code}", "--port", "1"]),
        ("node", ["--import", "x", "-e", "${file:/code}"]),
        ("npx", ["-y", "${file:/package}"]),
        ("npx", ["--package", "${file:/package}", "run"]),
        ("uv", ["tool", "${file:/package}"]),
        ("sh", ["-c", "${file:/code}"]),
        ("env", ["X=1", "${file:/program}"]),
        ("docker", ["run", "${file:/image}"]),
        ("my-server", ["--eval", "${file:/code}"]),
    ],
)
async def test_no_reference_decides_what_code_runs(command: str, arguments: list[str], tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        before = len(guard.said())
        with pytest.raises(NotDeclared, match="decides what code runs"):
            await guard.now.guard.admission.add("db", {"command": command, "args": arguments}, PERSON)
        nothing_happened(guard, before)


async def test_a_reference_is_resolved_for_the_approved_server_alone_and_shown_to_nobody(tmp_path: Path) -> None:
    folder, file = tmp_path / "secrets", tmp_path / "server.py"
    folder.mkdir()
    (folder / "dsn").write_text(URL + "\n")
    file.write_text(SPEAKS)
    launch = StdioLaunch(sys.executable, (str(file), f"${{file:{folder}/dsn}}"), profile=Profile.NONE)
    async with gate(tmp_path, upstreams__secret_folders=[str(folder)], screening__mode="off") as guard:
        await guard.declare(replace(process("db", ["x"]), launch=launch))
        done = await guard.now.guard.inspecting.inspect("db", DECISION, consent=True, give=frozenset())
        assert not done.error, "it needs no secret to be inspected"
        await approved_as_listed(guard.now, "db")
        await taken_in(guard.now, ["db"])
        told = (await (await guard.legacy()).call("db::argument", {})).result
        assert told["content"][0]["text"].startswith(f"{len(URL)} "), "it was given all of it"
        shown = await guard.now.guard.queries.server("db")
        assert shown["launch"]["arguments"] == [str(file), f"${{file:{folder}/dsn}}"]
        assert CANARY not in json.dumps([shown, guard.said()])
        for stored in (tmp_path / "data").rglob("*"):
            assert not stored.is_file() or CANARY.encode() not in stored.read_bytes(), stored


async def test_neither_its_log_nor_an_older_one_tells_what_a_part_of_an_argument_leads_to(tmp_path: Path) -> None:
    folder, file = tmp_path / "secrets", tmp_path / "server.py"
    folder.mkdir()
    (folder / "dsn").write_text(URL + "\n")
    file.write_text(SPEAKS)
    launch = StdioLaunch(sys.executable, (str(file), f"--dsn=${{file:{folder}/dsn}}"), profile=Profile.NONE)
    async with gate(tmp_path, upstreams__secret_folders=[str(folder)], callers=CALLERS) as guard:
        await guard.declare(replace(process("db", ["x"]), launch=launch))
        assert not await approved(guard.now, "db")
        await taken_in(guard.now, ["db"])
        written = server_logs(guard.now.settings) / "db.log"
        with anyio.fail_after(PATIENCE):
            while f"connecting to {MASKED}" not in written.read_text():
                await checkpoint()
        assert CANARY not in written.read_text()
        with written.open("a") as log:
            log.write(f"an older guard wrote {URL}\n")
        told = await asked(guard, operation="tail_log", name="db", lines=1)
        assert told["lines"] == [f"an older guard wrote {MASKED}"]


async def test_it_is_not_resolved_while_nobody_trusts_the_server(tmp_path: Path) -> None:
    folder, written = tmp_path / "secrets", tmp_path / "arguments.json"
    folder.mkdir()
    (folder / "dsn").write_text(URL)
    file = tmp_path / "server.py"
    file.write_text("import json, sys; json.dump(sys.argv, open(sys.argv[1], 'w'))")
    arguments = (str(file), str(written), f"--dsn=${{file:{folder}/dsn}}")
    launch = StdioLaunch(sys.executable, arguments, profile=Profile.NONE)
    async with gate(tmp_path, upstreams__secret_folders=[str(folder)], upstreams__connect_seconds=5) as guard:
        await guard.declare(replace(process("db", ["x"]), launch=launch))
        inspect = guard.now.guard.inspecting.inspect
        assert (await inspect("db", DECISION, consent=True, give=frozenset())).error
        assert json.loads(written.read_text())[2] == "--dsn=not-given-during-inspection"
        assert (await inspect("db", DECISION, consent=True, give=frozenset({"args[2]"}))).error
        assert json.loads(written.read_text())[2] == f"--dsn={URL}"
        assert [record.get("given") for record in records(guard, "inspected")] == [None, "args[2]"]


async def test_a_file_of_another_server_cannot_be_named(tmp_path: Path) -> None:
    kept = tmp_path / "data" / "secrets" / "other"
    async with gate(tmp_path, upstreams__connect_seconds=5) as guard:
        kept.mkdir(parents=True, exist_ok=True)
        (kept / "dsn").write_text(URL)
        launch = StdioLaunch(sys.executable, ("-m", "server", f"${{file:{kept}/dsn}}"), profile=Profile.NONE)
        await guard.declare(replace(process("db", ["x"]), launch=launch))
        inspect = guard.now.guard.inspecting.inspect
        done = await inspect("db", DECISION, consent=True, give=frozenset({"args[2]"}))
        assert "args[2] cannot be resolved" in done.error
        assert not done.started
        assert CANARY not in done.error


async def test_what_an_older_guard_has_taken_is_hidden_and_found(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        await guard.now.guard.admission.add("db", {"command": "server", "args": ["x"]}, PERSON)
        await guard.now.guard.admission.add("line", {"command": "server"}, PERSON)
        await guard.now.guard.admission.add("far", {"url": "https://example.org/mcp"}, PERSON)
        for name, launch in (
            ("db", StdioLaunch("server", ("--dsn", URL), profile=Profile.NONE)),
            ("line", StdioLaunch(f"server --password {CANARY}", profile=Profile.NONE)),
            ("far", RemoteLaunch(Transport.HTTP, f"https://example.org/mcp?api_key={CANARY}")),
        ):
            known = guard.now.guard.servers.find(name)
            assert known is not None
            known.declared = replace(known.declared, launch=launch)
            shown = await guard.now.guard.queries.server(name)
            assert CANARY not in json.dumps(shown)
            assert "launch.secret" in {each["rule"] for each in shown["findings"]}
        for name in ("db", "line"):
            with pytest.raises(NeedsConsent) as asked_for:
                await guard.now.guard.inspecting.inspect(name, DECISION, consent=False, give=frozenset())
            assert CANARY not in str(asked_for.value)


async def test_a_reference_behind_a_scheme_is_shown_and_a_secret_behind_one_is_not(tmp_path: Path) -> None:
    headers = {"authorization": "Bearer ${file:/run/wiki}", "x-second": f"Bearer {CANARY}", "x-third": "a ${file:/b}"}
    async with gate(tmp_path) as guard:
        await guard.now.guard.admission.add("far", {"url": "https://example.org/mcp", "headers": headers}, PERSON)
        shown = (await guard.now.guard.queries.server("far"))["launch"]["headers"]
        assert {each["name"]: each["value"] for each in shown} == {
            "authorization": "Bearer ${file:/run/wiki}",
            "x-second": None,
            "x-third": None,
        }
