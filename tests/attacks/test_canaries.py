"""Secrets are planted wherever one may come from, and looked for wherever anything is kept, in every usual form."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from mcpguard.app import places
from mcpguard.domain.asks import AskKind
from mcpguard.domain.decisions import Decision
from mcpguard.domain.servers.launches import DeclaredServer, Launch, RemoteLaunch, StdioLaunch, Templates
from mcpguard.store.engine.offline import open_offline
from mcpguard.store.rows.tables import TABLES
from tests import postgres
from tests.attacks.asking import Questioned, once_each
from tests.attacks.canaries import WORD, Canaries, forms
from tests.cli.command import mcpguard
from tests.gate import Gate, gate
from tests.gateway.speaking import played
from tests.patience import PATIENCE
from tests.review import PERSON
from tests.simulators.asked import Asked
from tests.simulators.script import Script
from tests.simulators.words import Json, RpcError
from tests.world import verified

pytestmark = pytest.mark.anyio
END = "the last line"
SERVERS = ("near", "far")
"""One that is started, and one at a URL."""


class Planted:
    """What each server was given in confidence, and says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.canaries = Canaries()
        self.given: dict[str, tuple[str, ...]] = {}
        for server in SERVERS:
            referenced, literal = (
                self.canaries.value(f"{server}'s reference"),
                self.canaries.value(f"{server}'s literal"),
            )
            monkeypatch.setenv(f"CANARY_{server.upper()}", referenced)
            self.given[server] = (referenced, literal)

    def text(self, server: str, place: str) -> str:
        return self.canaries.text(f"{place} ({server})", *self.given[server])

    def templates(self, server: str) -> Templates:
        return Templates({"KEY": f"Bearer ${{env:CANARY_{server.upper()}}}", "OTHER": self.given[server][1]})

    def script(self, server: str) -> Script:
        """A server that says secrets wherever it can say something."""
        script = Script(*(["legacy"] if server == "near" else ["modern"]))

        async def ask(asked: Asked) -> Json:
            question = {
                "message": self.text(server, "question"),
                "requestedSchema": {"type": "object", "properties": {}},
            }
            said = await asked.need({"who": {"method": "elicitation/create", "params": question}}, None)
            await asked.log("error", {"text": self.text(server, "log message")})
            return {"content": [{"type": "text", "text": json.dumps(said)}]}

        def fails(_: Asked) -> Json:
            raise RpcError(-32000, self.text(server, "error"), {"more": self.text(server, "error's data")})

        structured = {"deep": [{"er": self.text(server, "structured")}], self.canaries.one("a name"): 1}
        script.tool("ask", ask)
        script.tool("fails", fails)
        script.tool("held", "done")
        script.tool("unhappy", {"content": [{"type": "text", "text": self.text(server, "unhappy")}], "isError": True})
        script.tool("structured", {"content": [], "structuredContent": structured})
        script.tool("large", {"content": [{"type": "text", "text": "x " * 12_000 + self.text(server, "large")}]})
        script.tool("too_large", {"content": [{"type": "text", "text": "x " * 60_000 + self.text(server, "huge")}]})
        script.answers["prompts/get"] = {
            "messages": [{"role": "user", "content": {"type": "text", "text": self.text(server, "prompt")}}]
        }
        script.answers["resources/read"] = {"contents": [{"uri": "note://x", "text": self.text(server, "resource")}]}
        return script


@asynccontextmanager
async def standing(
    folder: Path,
    planted: Planted,
    scripts: dict[str, Script],
    **given: Any,  # noqa: ANN401 - settings
) -> AsyncIterator[tuple[Gate, Path]]:
    """A guard in front of both; where what the one wrote to its standard error lies."""
    lines = folder / "lines"
    lines.write_text(planted.text("near", "stderr") + f"\n{END}\n")
    async with (
        played(folder, scripts["near"], "near", over="stdio") as near,
        played(folder, scripts["far"], "far") as far,
        gate(
            folder,
            replace(near, launch=_writing(near, lines, planted.templates("near"))),
            replace(far, launch=_reached(far, planted.templates("far"))),
            may_ask={name: [AskKind.ELICITATION] for name in SERVERS},
            arguments__secrets="note",
            holds__calls=["destructive of *:held"],
            holds__wait_seconds=0,
            **given,
        ) as guard,
    ):
        await guard.ready(*SERVERS)
        written = places.server_logs(guard.now.settings) / "near.log"
        with anyio.fail_after(PATIENCE):
            while END not in written.read_text():
                await checkpoint()
        yield guard, lines


def _writing(near: DeclaredServer, lines: Path, environment: Templates) -> Launch:
    launch = near.launch
    assert isinstance(launch, StdioLaunch)
    arguments = (
        "-c",
        f'case "$KEY" in Bearer*) cat {lines} >&2;; esac; exec "$@"',
        "sh",
        launch.command,
        *launch.arguments,
    )
    return replace(launch, command="/bin/sh", arguments=arguments, environment=environment)


def _reached(far: DeclaredServer, headers: Templates) -> Launch:
    assert isinstance(far.launch, RemoteLaunch)
    return replace(far.launch, headers=headers)


async def use(guard: Gate, planted: Planted, server: str) -> None:
    """Make every kind of call, with secrets in all that is said."""
    client = guard.client()
    client.info = {"name": planted.canaries.one("client's name"), "version": "1"}
    client.meta = {"traceparent": planted.canaries.one("trace")}
    for tool in ("fails", "unhappy", "structured", "large", "too_large"):
        reply = await client.call(f"{server}::{tool}", {"a": [planted.text(server, f"arguments of {tool}")]})
        assert reply.message is not None
    await client.call(f"{server}::{planted.canaries.one('name of a tool')}", {})
    for method, params in (
        ("prompts/get", {"name": f"{server}::greet", "arguments": {"name": planted.text(server, "prompt's argument")}}),
        ("resources/read", {"uri": f"note://numbered/{planted.canaries.one('uri')}"}),
        ("resources/subscribe", {"uri": f"note://numbered/{planted.canaries.one('subscription')}"}),
        (planted.canaries.one("method"), {"name": planted.canaries.one("parameter")}),
    ):
        await client.request(method, params)
    answer = {"action": "accept", "content": {"name": planted.text(server, "answer")}}
    for asking in (guard.client(), await guard.legacy()):
        async with anyio.create_task_group() as tasks:
            call = await Questioned(asking, tasks, f"{server}::ask").begin()
            assert WORD in (await call.answer(answer)).text


async def use_face(guard: Gate, planted: Planted, server: str) -> None:
    """What is only on the face with tools of ours."""
    face = guard.client("/mcp")
    canaries = planted.canaries
    query = f"{canaries.one('query')} structured"
    assert (await face.call("retrieve_tools", {"query": query})).message is not None
    reason = canaries.text("reason", *planted.given[server])[:990]
    said = {"name": f"{server}:structured", "arguments": {"q": canaries.one("argument")}, "intent": {"reason": reason}}
    assert (await face.call("call_tool_destructive", said)).result["content"] is not None
    odd = {"name": f"{server}:{canaries.one('odd name')}", "arguments": {}, "intent": {"reason": reason}}
    assert (await face.call("call_tool_read", odd)).result["isError"]
    assert (await face.call("upstream_servers", {"operation": canaries.one("operation")})).message is not None
    assert (await face.call("describe_tool", {"name": canaries.one("described")})).message is not None


async def decide(guard: Gate, planted: Planted) -> None:
    """A person says why, also to whoever waits for them."""

    def because(place: str) -> Decision:
        return Decision(PERSON, f"{WORD} as {planted.canaries.one(place)} says")

    face, held = guard.client("/mcp"), guard.now.guard.held
    for server in SERVERS:
        reason = f"{WORD} {planted.given[server][0]} and {planted.canaries.one('what an agent says')}"
        arguments = {"q": planted.text(server, "arguments of a held call")}
        said = {"name": f"{server}:held", "arguments": arguments, "intent": {"reason": reason}}
        reply = await face.call("call_tool_destructive", said)
        assert reply.result["_meta"]["mcpguard/refusal"]["reason"] == "hold:waiting"
    shown = await held.every()
    assert [WORD in each["agent_says"] and WORD in each["arguments"]["q"] for each in shown] == [True] * 2
    assert planted.canaries.found_in(json.dumps(shown).encode()) == []
    await held.deny(shown[0]["id"], because("why not"))
    await held.allow(shown[1]["id"], because("why"))
    await guard.now.guard.decisions.disable("far", because("why it is disabled"))


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
async def test_no_secret_is_kept_anywhere(
    database: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    given: dict[str, object] = {}
    if database == "postgres":
        given["store__url"] = postgres.fresh_database(request.getfixturevalue("postgres_server"))
    planted = Planted(monkeypatch)
    canaries = planted.canaries
    async with standing(tmp_path, planted, {name: planted.script(name) for name in SERVERS}, **given) as (guard, lines):
        for server in SERVERS:
            await use(guard, planted, server)
            await use_face(guard, planted, server)
        await decide(guard, planted)
        await guard.now.guard.tallies.flush()
        place, data = places.database(guard.now.settings), guard.now.settings.data_dir
        records = guard.said()
        for file in data.rglob("*"):  # with what is in the WAL, and was not moved from there
            assert not file.is_file() or not (found := canaries.found_in(file.read_bytes())), (file, found)
        copy = tmp_path / "copy.db"
        if database == "sqlite":
            told = mcpguard("db", "backup", copy, "--data-dir", data)
            assert canaries.found_in(told.output.encode()) == []
            assert canaries.found_in(copy.read_bytes()) == []

    assert len(canaries.planted) > 400
    assert canaries.found_in(lines.read_bytes()), "they can be found where they are"
    kept = [each for each in records if each.get("body_kept")]
    assert {each["kind"] for each in kept} == {"opened", "closed", "asked", "heard"}
    assert any(each.get("body_too_large") for each in records)
    assert once_each(records)
    cells = list(every_cell(place))
    assert sum(WORD.encode() in each for each in cells) >= len(kept) / 3, "what is beside them is kept"
    assert canaries.found_in(b"\0".join(cells)) == []
    assert verified(place).whole
    for file in data.rglob("*"):
        assert not file.is_file() or not (found := canaries.found_in(file.read_bytes())), (file, found)
    if database == "sqlite":
        for command in (["audit", "verify"], ["audit", "list", "-n", "1000", "-o", "json"], ["audit", "checkpoint"]):
            told = mcpguard(*command, "--data-dir", data)
            assert told.exit_code == 0
            assert canaries.found_in(told.output.encode()) == [], command
    logged = "".join(capfd.readouterr())
    assert "upstream" in logged
    assert canaries.found_in(logged.encode()) == []


def every_cell(place: object) -> list[bytes]:
    """Whatever is in any column of any table."""
    with open_offline(place) as connect, connect() as connection:  # type: ignore[arg-type]
        return [
            value if isinstance(value, bytes) else str(value).encode()
            for table in TABLES.sorted_tables
            for row in connection.execute(table.select())
            for value in row
            if value is not None
        ]


def test_they_would_be_found_in_every_form() -> None:
    canaries = Canaries()
    secret = canaries.one("here")
    assert len({*forms(secret)}) > 15
    for form in forms(secret):
        assert canaries.found_in(b"before " + form + b" after") == [*canaries.planted]
    assert canaries.found_in(b"nothing") == []
