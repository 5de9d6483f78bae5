"""Whatever changes something, or lets something through, leaves a record that says who did it: every route, every
command, every method of the protocol, and every way in which the configuration changes.

What is not in a table here fails a test, so that whoever adds a way adds what is recorded of it.
"""

import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
import typer.main

from mcpguard.cli.main import build
from mcpguard.domain.calls.bodies import KeptBody
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.people import Role
from mcpguard.gateway.methods import Methods
from mcpguard.web.api.openapi import routes_with_needs
from tests import people
from tests.attacks.sandboxed import works
from tests.gate import gate, process
from tests.gateway.allowing import AT_ONCE, GIVEN, waiting_ticket
from tests.gateway.granting import granted
from tests.gateway.holding import HELD, Making, held
from tests.gateway.speaking import guarded
from tests.ledger.export.ocsf_validator import problems
from tests.simulators.registry import registry
from tests.simulators.script import Script
from tests.simulators.weather import publish_weather
from tests.upstreams.packages.installations import environ
from tests.web.conforming import conforms
from tests.web.rest import API, bare, browser
from tests.web.reviewing import HONEST, WHY, show
from tests.web.reviewing import seen as seen_of
from tests.world import World, world

pytestmark = pytest.mark.anyio
Json = dict[str, Any]
WHO = "uid:"
"""At the operator's socket people are accounts."""


@dataclass
class Walk:
    """Somebody who uses one route after the other. What a step needs to know of an earlier one is in `known`."""

    guard: World
    known: Json = field(default_factory=dict)
    done: set[tuple[str, str]] = field(default_factory=set)

    async def step(self, route: str, kinds: str, body: Json | None = None, **names: str) -> Json:
        """Use a route, and find exactly records of these kinds afterwards, by whoever used it. `*`: any number."""
        method, _, path = route.partition(" ")
        before = self.guard.said()[-1]["seq"]
        place, _, _ = path.partition("?")
        answer = await self.guard.operator.request(method, API + path.format(**names), json=body)
        assert answer.status_code in (200, 201, 204), answer.text
        await self.guard.settle()
        left = [record for record in self.guard.said() if record["seq"] > before]
        exact = [kind for kind in kinds.split() if not kind.endswith("*")]
        many = {kind.removesuffix("*") for kind in kinds.split()} - {*exact}
        found = [record["kind"] for record in left]
        assert many <= {*found}, route
        assert sorted(kind for kind in found if kind not in many) == sorted(exact), route
        for record in left:
            by_itself = record["kind"] in ("closed", "ended_run", "moved", "retired")
            assert by_itself or record["by"].startswith(WHO), record
            assert by_itself or record["kind"] in ("opened", "ran") or record["via"] == "operator socket", record
        self.done.add((method, API + place))
        said: Json = answer.json() if answer.content else {}
        return said


async def about_servers(walk: Walk) -> None:
    config = {"name": "notes", "config": HONEST}
    await walk.step("POST /servers", "admitted", config)
    looked = {"why": WHY, "consent": True}
    await walk.step("POST /servers/{server}/inspect", "inspected listed", looked, server="notes")
    await walk.step("POST /servers/{server}/reject", "decided*", {"why": WHY}, server="notes")
    server = await show(walk.guard)
    capability = {"why": WHY, "kind": "tool", "name": "read_note"}
    print_ = next(each["fingerprint"] for each in server["capabilities"] if each["name"] == "read_note")
    await walk.step("POST /servers/{server}/approve", "decided*", {"why": WHY, "seen": seen_of(server)}, server="notes")
    for answer, more in (
        ("revoke", {"seen": print_}),
        ("reject", {"seen": print_}),
        ("approve", {"seen": print_}),
        ("block", {}),
        ("unblock", {}),
    ):
        route = f"POST /servers/{{server}}/capability/{answer}"
        await walk.step(route, "decided", capability | more, server="notes")
    why = {"why": WHY}
    await walk.step("POST /search/learned/forget", "search_forgotten", why | {"name": "notes:read_note"})
    await walk.step("POST /search/learned/forget-all", "search_forgotten", why)
    await walk.step("POST /servers/{server}/permit", "decided", why | {"kinds": ["roots"]}, server="notes")
    await walk.step("POST /servers/{server}/screen", "decided", why | {"mode": "mask"}, server="notes")
    for answer in ("restart", "disable", "enable", "quarantine", "block"):
        await walk.step(f"POST /servers/{{server}}/{answer}", "decided", why, server="notes")
    patch = {"revision": (await show(walk.guard))["revision"], "patch": {"args": ["-c", "1"]}}
    await walk.step("PATCH /servers/{server}", "admitted moved*", patch, server="notes")
    revision = str((await show(walk.guard))["revision"])
    await walk.step("DELETE /servers/{server}?revision={revision}", "admitted", server="notes", revision=revision)


async def about_people(walk: Walk) -> None:
    await walk.step("POST /setup-link", "person", {"why": WHY})
    user = {"name": "ada", "role": "viewer", "password": people.PASSWORD, "why": WHY}
    await walk.step("POST /users", "person", user)
    for what, body in (
        ("role", {"role": "auditor"}),
        ("password", {"password": people.PASSWORD + "!"}),
        ("sign-out", {}),
        ("disable", {}),
        ("enable", {}),
    ):
        await walk.step(f"POST /users/{{user}}/{what}", "person", body | {"why": WHY}, user="ada")
    await people.cookie(walk.guard, "ada", people.PASSWORD + "!")
    (session,) = walk.guard.now.guard.people.sessions()
    await walk.step("POST /sessions/{session}/end", "person", {"why": WHY}, session=session.id)
    made = await walk.step("POST /operators", "operator", {"name": "ci", "role": "auditor", "why": WHY})
    await walk.step("POST /operators/{token}/revoke", "operator", {"why": WHY}, token=made["id"])


async def about_callers(walk: Walk) -> None:
    caller = await walk.step("POST /callers", "granted", {"name": "desk", "why": WHY})
    call = {"caller": "desk", "name": "notes:nothing"}
    await walk.step("POST /call", "opened closed", call)
    await walk.step("POST /explain", "", call)
    await walk.step("POST /callers/{caller}/revoke", "revoked", {"why": WHY}, caller=caller["id"])


async def about_programs(walk: Walk) -> None:
    await walk.step("POST /callers", "granted", {"name": "runner", "why": WHY})
    await walk.step("POST /programs/check", "", {"code": "1"})
    await walk.step("POST /programs/run", "ran ended_run", {"caller": "runner", "code": "1"})
    await walk.step("POST /scripts", "admitted script listed", {"name": "one", "code": "1"})
    changed = {"revision": 1, "code": "2"}
    await walk.step("PUT /scripts/{script}", "script listed", changed, script="one")
    await walk.step("DELETE /scripts/{script}?revision=2", "script listed", script="one")


async def about_settings(walk: Walk) -> None:
    await walk.step("POST /settings/confirm", "configured", {"values": {"hosts": ["guard.example"]}})


async def about_the_log(walk: Walk) -> None:
    for route in ("POST /calls/{call}/redact", "POST /records/{seq}/redact"):
        opening = walk.guard.opening(arguments=KeptBody(b"{}"))
        await walk.guard.call(opening)
        seq = str(walk.guard.said()[-1]["seq"])
        await walk.step("POST /exports", "exported", {"forms": ["jsonl"]})
        await walk.step(route, "pruned", {"why": WHY}, call=opening.entry, seq=seq)
    await walk.step("POST /records/prune", "pruned", {"why": WHY, "keep": 1, "bodies": True})
    await walk.step("POST /checkpoints", "", {})
    await walk.step("POST /signing-key/rotate", "rotated retired", {"why": WHY})


WALKS: tuple[Callable[[Walk], Awaitable[None]], ...] = (
    about_servers,
    about_people,
    about_callers,
    about_programs,
    about_settings,
    about_the_log,
)


async def invalid_events(guard: World) -> list[str]:
    """What is wrong with these records as events of the open schema; that each has a class of its own."""
    answer = await guard.operator.get(EXPORTS, params={"format": "ocsf"})
    events = [json.loads(line) for line in answer.content.splitlines()]
    assert [event["unmapped"]["record"] for event in events] == guard.said()
    assert all(event["class_uid"] for event in events)
    return [found for event in events for found in problems(event)]


EXPORTS = f"{API}/records/export"
OWN_PASSWORD = {("POST", f"{API}/me/password")}
HELD_CALLS = {("POST", f"{API}/held/{{ticket}}/{answer}") for answer in ("allow", "allow-for", "deny")}
PINNED = {("POST", f"{API}/servers/{{server}}/pin")}
HELD_CALLS |= {("POST", f"{API}/allowances/{{allowance}}/revoke")}


async def test_every_route_that_changes_something_leaves_who_did_it(tmp_path: Path) -> None:
    works()
    async with world(tmp_path, code__enabled=True):
        pass
    async with world(tmp_path, code__enabled=True, hosts=["guard.example"]) as guard:
        walk = Walk(guard)
        for part in WALKS:
            await part(walk)
        assert guard.verified().whole
        assert {*await invalid_events(guard)} == set()
    changing = {(method, path) for method, path, _ in routes_with_needs(bare()) if method != "GET"}
    assert walk.done | HELD_CALLS | OWN_PASSWORD | PINNED == changing


async def test_pinning_a_package_leaves_who_did_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    works()
    monkeypatch.setenv("PATH", environ()["PATH"])
    async with registry() as there, world(tmp_path, upstreams__networks=["127.0.0.0/8"]) as guard:
        publish_weather(there)
        config = {"command": "npx", "args": ["weather"], "env": {"NPM_CONFIG_REGISTRY": there.url}}
        walk = Walk(guard)
        await walk.step("POST /servers", "admitted", {"name": "web", "config": config})
        await walk.step("POST /servers/{server}/inspect", "inspected listed", {"why": WHY}, server="web")
        server = await show(guard, "web")
        assert server["pinned_arguments"] == ["weather@1.0.0"]
        revision = {"revision": server["revision"]}
        await walk.step("POST /servers/{server}/pin", "admitted", revision, server="web")
        assert (await show(guard, "web"))["launch"]["arguments"] == ["weather@1.0.0"]
        assert walk.done >= PINNED


@pytest.mark.parametrize("answer", ["allow", "deny"])
async def test_an_answer_to_a_held_call_leaves_who_gave_it(answer: str, tmp_path: Path) -> None:
    async with guarded(tmp_path, Script(), **HELD) as guard, anyio.create_task_group() as tasks:
        making = Making(guard.client())
        tasks.start_soon(making)
        ticket = (await held(guard))["id"]
        token = (await guard.now.guard.operators.add("ci", Role.APPROVER, None, people.BY))[1]
        url, by = f"{guard.where.url}{API}/held/{ticket}", people.bears(token)
        by["if-match"] = (await guard.http.get(url, headers=by)).headers["etag"]
        told = await guard.http.post(f"{url}/{answer}", json={"why": WHY}, headers=by)
        assert told.status_code == 200, told.text
        await making.done()
        (record,) = (
            record for record in guard.said() if record["kind"] == "decided" and record.get("ticket") == ticket
        )
        assert (record["answer"], record["why"], record["via"]) == (answer, WHY, "api")
        assert record["by"].endswith(" (ci)")


async def test_what_is_allowed_for_a_time_leaves_who_gave_and_who_revoked_it(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script(), **AT_ONCE) as guard:
        client = guard.client(token=(await granted(guard, "desk")).token)
        url = f"{guard.where.url}{API}/held/{await waiting_ticket(client, GIVEN)}"
        by = people.bears((await guard.now.guard.operators.add("ci", Role.APPROVER, None, people.BY))[1])
        seen = (await guard.http.get(url, headers=by)).headers["etag"]
        told = await guard.http.post(f"{url}/allow-for", json={"why": WHY}, headers=by | {"if-match": seen})
        conforms(told)
        url = f"{guard.where.url}{API}/allowances/{told.json()['id']}"
        seen = (await guard.http.get(url, headers=by)).headers["etag"]
        ended = await guard.http.post(f"{url}/revoke", json={"why": WHY}, headers=by | {"if-match": seen})
        conforms(ended)
        assert (told.status_code, ended.status_code) == (200, 200), (told.text, ended.text)
        records = [record for record in guard.said() if record["kind"] == "allowance"]
        assert [(record["change"], record["allowance"]) for record in records] == [
            ("added", told.json()["id"]),
            ("ended", told.json()["id"]),
        ]
        assert {(record["by"].rpartition(" ")[2], record["why"], record["via"]) for record in records} == {
            ("(ci)", WHY, "api")
        }


async def test_whoever_changes_their_own_password_is_in_the_record(guard: World) -> None:
    sends = await browser(guard, Role.VIEWER)
    before = len(guard.said())
    body = {"present": people.PASSWORD, "password": people.PASSWORD + "!"}
    assert (await guard.network.post(f"{API}/me/password", json=body, headers=sends)).status_code == 200
    (record,) = guard.said()[before:]
    assert (record["kind"], record["change"], record["via"]) == ("person", "own_password", "api")
    assert record["by"] == f"user:{record['user']} (ada)"


async def test_what_is_let_out_as_a_file_leaves_who_has_it(guard: World) -> None:
    before = len(guard.said())
    assert (await guard.operator.get(EXPORTS, params={"format": "csv"})).status_code == 200
    (record,) = guard.said()[before:]
    assert (record["kind"], record["form"], record["via"]) == ("exported", "csv", "operator socket")
    assert record["by"].startswith(WHO)


async def test_what_only_shows_leaves_nothing(guard: World) -> None:
    for method, path, _ in routes_with_needs(bare()):
        if method == "GET" and path != EXPORTS:
            before = len(guard.said())
            names = {"server": "x", "ticket": "x", "seq": "1", "call": "x", "script": "x", "allowance": "x"}
            await guard.operator.get(path.format(**names))
            assert len(guard.said()) == before, path


# Commands.

READS = "reads"
COMMANDS: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "audit key show",
            "audit list",
            "audit show",
            "audit tail",
            "audit verify",
            "caller list",
            "code check",
            "code scripts list",
            "code scripts show",
            "audit recount",  # of what the log says already
            "config check",
            "config schema",
            "config show",
            "db backup",
            "held allowances",
            "held list",
            "held show",
            "operator list",
            "connect",
            "doctor",
            "lockdown",
            "scan",
            "search",
            "server list",
            "server logs",
            "server show",
            "service install",
            "service uninstall",
            "status",
            "tool diff",
            "tool learned",
            "tool list",
            "tool ready",
            "tool show",
            "user list",
            "user sessions",
        ),
        READS,
    ),
    "call": "POST /call",
    "caller add": "POST /callers",
    "caller revoke": "POST /callers/{caller}/revoke",
    "code run": "ran",
    "code scripts add": "POST /scripts",
    "code scripts change": "PUT /scripts/{script}",
    "code scripts remove": "DELETE /scripts/{script}",
    "config confirm": "POST /settings/confirm",
    "audit checkpoint": "POST /checkpoints",
    "audit export": "POST /exports",
    "audit key rotate": "POST /signing-key/rotate",
    "audit prune": "POST /records/prune",
    "audit redact": "POST /calls/{call}/redact",
    "db upgrade": "started",
    "held allow": "POST /held/{ticket}/allow",
    "held deny": "POST /held/{ticket}/deny",
    "held revoke": "POST /allowances/{allowance}/revoke",
    "import": "POST /servers",
    "operator add": "POST /operators",
    "operator revoke": "POST /operators/{token}/revoke",
    "serve": "started",
    "server add": "POST /servers",
    "server approve": "POST /servers/{server}/approve",
    "server block": "POST /servers/{server}/block",
    "server disable": "POST /servers/{server}/disable",
    "server enable": "POST /servers/{server}/enable",
    "server fetch-uv": "inspected",  # it installs nothing but for an inspection, which is recorded
    "server inspect": "POST /servers/{server}/inspect",
    "server patch": "PATCH /servers/{server}",
    "server pin": "POST /servers/{server}/pin",
    "server permit": "POST /servers/{server}/permit",
    "server quarantine": "POST /servers/{server}/quarantine",
    "server remove": "DELETE /servers/{server}",
    "server restart": "POST /servers/{server}/restart",
    "server reject": "POST /servers/{server}/reject",
    "server screen": "POST /servers/{server}/screen",
    "stdio": "opened",
    "tour": "opened",
    "tool approve": "POST /servers/{server}/capability/approve",
    "tool block": "POST /servers/{server}/capability/block",
    "tool forget": "POST /search/learned/forget",
    "tool reject": "POST /servers/{server}/capability/reject",
    "tool revoke": "POST /servers/{server}/capability/revoke",
    "tool unblock": "POST /servers/{server}/capability/unblock",
    "user add": "POST /users",
    "user end-session": "POST /sessions/{session}/end",
    "user disable": "POST /users/{user}/disable",
    "user enable": "POST /users/{user}/enable",
    "user passwd": "POST /users/{user}/password",
    "user role": "POST /users/{user}/role",
    "user setup-link": "POST /setup-link",
    "user sign-out": "POST /users/{user}/sign-out",
}
"""What each does: the route that it uses, or the kind of record that says what came of it."""


def leaves(command: Any, name: str = "") -> dict[str, Any]:  # noqa: ANN401 - of typer
    if not hasattr(command, "commands"):
        return {name: command}
    found: dict[str, Any] = {}
    for each, part in command.commands.items():
        found |= leaves(part, f"{name} {each}".strip())
    return found


def test_every_command_reads_or_uses_what_leaves_a_record() -> None:
    found = leaves(typer.main.get_command(build([])))
    assert sorted(found) == sorted(COMMANDS)
    routes = {f"{method} {path.removeprefix(API)}" for method, path, _ in routes_with_needs(bare()) if method != "GET"}
    kinds = {kind.value for kind in RecordKind}
    assert set(COMMANDS.values()) <= {READS} | routes | kinds


# Methods of the protocol.

NOTHING: Mapping[str, str] = {
    "ping": "says nothing",
    "shutdown": "says nothing",
    "logging/setLevel": "is about the client's own log",
    "server/discover": "says what every client is told",
    "resources/unsubscribe": "lets less through",
}
METHODS: Mapping[str, tuple[Json, str]] = {
    "tools/list": ({}, "disclosed"),
    "resources/list": ({}, "disclosed"),
    "resources/templates/list": ({}, "disclosed"),
    "prompts/list": ({}, "disclosed"),
    "tools/call": ({"name": "web::echo", "arguments": {"text": "x"}}, "opened closed"),
    "resources/read": ({"uri": "note://first"}, "opened closed"),
    "prompts/get": ({"name": "web::greet"}, "opened closed"),
    "completion/complete": (
        {"ref": {"type": "ref/prompt", "name": "web::greet"}, "argument": {"name": "name", "value": "A"}},
        "opened closed",
    ),
    "resources/subscribe": ({"uri": "note://first"}, "opened closed"),
}
LISTENS = "subscriptions/listen"


async def test_every_method_that_lets_something_through_leaves_a_record(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        assert sorted([*METHODS, *NOTHING, LISTENS]) == sorted(Methods(guard.now.guard)._table)
        modern, legacy = guard.client(), await guard.legacy()
        for method, (params, kinds) in METHODS.items():
            client = legacy if "subscribe" in method else modern
            before = len(guard.said())
            reply = await client.request(method, params)
            assert reply.message is not None
            assert "result" in reply.message, (method, reply.message)
            await guard.now.guard.tallies.flush()
            left = guard.said()[before:]
            assert [record["kind"] for record in left] == kinds.split(), method
            assert all(record["caller"] == "anonymous" for record in left), method


# The configuration.


async def test_every_change_of_what_is_declared_leaves_where_it_came_from(tmp_path: Path) -> None:
    async with gate(tmp_path) as guard:
        one = process("one", [sys.executable, "-c", "1"])
        for servers, change in (((one,), "added"), ((process("one", ["/bin/true"]),), "changed"), ((), "withdrawn")):
            before = len(guard.said())
            await guard.declare(*servers)
            found = [record for record in guard.said()[before:] if record["kind"] == "admitted"]
            assert [(record["server"], record["change"], record["by"]) for record in found] == [
                ("one", change, "configuration file")
            ]
