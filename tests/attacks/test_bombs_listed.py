"""Schemas and patterns that are bombs, in what a server lists: at its inspection, and when it runs and lists them then.

Others are served meanwhile, and a person who reviews it reads that the tool cannot be called."""

import html
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcpguard.domain.people import Role
from mcpguard.domain.servers.standing import CapabilityStanding, UpstreamStanding
from tests import people
from tests.attacks.aftermath import Ended, log_is_whole, nothing_else
from tests.attacks.quarantined import TOOL, pin, standing, until
from tests.gate import Gate, gate
from tests.gateway.speaking import played
from tests.patience import PATIENCE
from tests.policy.arguments.monstrous import doubling, nested
from tests.review import DECISION, approved_as_listed, in_force
from tests.simulators.script import Script
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
CALM = Ended("calm", "echo", "answered", "yes")
REFUSED = "Declares an unusable input schema, so every call is refused"
UNCOMPARED = "Declares an unusable output schema, so results are not validated"
MANY = 100


def pattern(said: str, count: int = 1) -> Json:
    return {"properties": {f"p{at}": {"pattern": said.replace("@", str(at + 1))} for at in range(count)}}


UNUSABLE: dict[str, Any] = {
    "references that double": doubling(40, {"type": "string"}),
    "dynamic references that double": doubling(40, {"type": "string"}, ref="#d{}", **{"$dynamicAnchor": "d{}"}),
    "about itself": {"$ref": "#"},
    "about each other": {
        "$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}},
        "$ref": "#/$defs/a",
    },
    "elsewhere": {"properties": {"a": {"$ref": "http://127.0.0.1:1/schema.json"}}},
    "elsewhere by a file": {"$ref": "file:///etc/passwd"},
    "100,000 choices": {"properties": {"a": {"enum": [f"choice {at}" for at in range(100_000)]}}},
    "101 patterns": pattern("^a{@}$", 101),
    "a pattern that is huge when compiled": pattern("((a{1,100}){1,100}){1,100}"),
    "letters of all scripts, often": pattern(r"^\p{L}{0,40}$"),
    "no schema": ["text"],
}
USABLE: dict[str, Any] = {
    "patterns that run away": pattern("(a+)+$@", 100),
    "patterns that look around and run away": pattern("(?=(a+)+$)b@", 100),
    "letters of all scripts": pattern(r"^[\p{L}\p{N}]{0,@}$", 4),
    "as deep as a message may be": nested(50, {"type": "string"}, "properties"),
    "numbers beyond all": {"properties": {"a": {"maximum": 10**400, "multipleOf": 1e-300, "minLength": 10**30}}},
    "a dynamic reference": {"$dynamicAnchor": "n", "properties": {"a": {"$dynamicRef": "#n"}}},
}


@asynccontextmanager
async def beside(folder: Path, script: Script, *, approved: bool) -> AsyncIterator[tuple[Gate, Script]]:
    """A guard in front of this server, `web`, and of an honest one, `calm`."""
    calm = Script()
    async with (
        played(folder, script, "web") as server,
        played(folder, calm, "calm") as other,
        gate(folder, other, *([server] if approved else [])) as guard,
    ):
        await guard.declare(server, other)
        yield guard, calm


async def inspected(guard: Gate) -> None:
    done = await guard.now.guard.inspecting.inspect("web", DECISION, consent=True, give=frozenset())
    assert not done.error, done


async def reviewed(guard: Gate) -> str:
    """The review page of the server, as somebody reads it who has signed in."""
    if guard.now.guard.people.user("ada") is None:
        await people.user(guard, "ada", Role.ADMIN)
    headers = {**people.OURS, **people.shows(await people.cookie(guard, "ada"))}
    page = await guard.http.get(guard.where.url + "/servers/web/review", headers=headers)
    assert page.status_code == 200
    return html.unescape(page.text)


def rules(guard: Gate, tool: str = "bomb") -> list[str]:
    known = guard.now.guard.servers.find("web")
    assert known is not None
    return [each.rule for each in known.findings_in((TOOL, tool)).findings if each.rule.startswith("schema.")]


@pytest.mark.parametrize("bomb", UNUSABLE)
async def test_at_an_inspection_it_is_found_and_once_approved_its_calls_are_refused(bomb: str, tmp_path: Path) -> None:
    script = Script()
    script.tool("bomb", "done", inputSchema=UNUSABLE[bomb], outputSchema=UNUSABLE[bomb])
    async with beside(tmp_path, script, approved=False) as (guard, _):
        agent = guard.client()
        with nothing_else(guard, CALM):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(inspected, guard)
                assert (await guard.http.get(guard.where.url + "/healthz")).status_code == 200
                assert (await agent.call("calm::echo", {"n": 1})).result["structuredContent"] == {"n": 1}
        assert rules(guard) == ["schema.arguments", "schema.result"]
        page = await reviewed(guard)
        assert REFUSED in page
        assert UNCOMPARED in page
        await approved_as_listed(guard.now, "web")
        await guard.ready("web")
        with nothing_else(guard, Ended("web", "bomb", "refused", "no", "arguments:unverifiable")):
            said = (await agent.call("web::bomb", {"a": "x"})).result["_meta"]["mcpguard/refusal"]
            assert (said["reason"], said["executed"]) == ("arguments:unverifiable", "no")
        assert script.called("tools/call") == []


@pytest.mark.parametrize("bomb", USABLE)
async def test_what_is_harmless_once_it_is_bounded_is_no_finding_and_can_be_called(bomb: str, tmp_path: Path) -> None:
    script = Script()
    script.tool("bomb", "done", inputSchema=USABLE[bomb])
    async with beside(tmp_path, script, approved=False) as (guard, _):
        await inspected(guard)
        assert rules(guard) == []
        await approved_as_listed(guard.now, "web")
        await guard.ready("web")
        with nothing_else(guard, Ended("web", "bomb", "answered", "yes")):
            assert (await guard.client().call("web::bomb", {})).text == "done"


@pytest.mark.parametrize("bomb", UNUSABLE)
async def test_while_it_runs_the_tool_is_changed_and_nothing_else_is(bomb: str, tmp_path: Path) -> None:
    script = Script()
    script.tool("bomb", "done")
    async with beside(tmp_path, script, approved=True) as (guard, _):
        agent, before = guard.client(), pin(guard, "bomb").listed
        script.tool("bomb", "done", inputSchema=UNUSABLE[bomb], outputSchema=UNUSABLE[bomb])
        await until(guard, lambda: script.listens)  # so that it is heard
        await script.changed_list()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(until, guard, lambda: pin(guard, "bomb").listed != before and rules(guard))
            assert (await guard.http.get(guard.where.url + "/healthz")).status_code == 200
            assert (await agent.call("calm::echo", {"n": 1})).result["structuredContent"] == {"n": 1}
        assert pin(guard, "bomb").standing is CapabilityStanding.CHANGED
        assert standing(guard) is UpstreamStanding.APPROVED
        assert rules(guard) == ["schema.arguments", "schema.result"]
        assert REFUSED in await reviewed(guard)
        await until(guard, lambda: in_force(guard.now, "web"))  # time has passed, and it may be listed once more
        wanted = [Ended("web", "bomb", "refused", "no", "capability:changed"), Ended("web", "echo", "answered", "yes")]
        with nothing_else(guard, *wanted):
            said = (await agent.call("web::bomb", {})).result["_meta"]["mcpguard/refusal"]
            assert said["reason"] == "capability:changed"
            assert REFUSED in [each["title"] for each in said["findings"]]
            assert (await agent.call("web::echo", {"n": 2})).result["structuredContent"] == {"n": 2}
        assert len(script.called("tools/call")) == 1


HEAVY: dict[str, Callable[[], list[Json]]] = {
    "many that double": lambda: tools(doubling(40, {"type": "string"})),
    "many with patterns that are huge when compiled": lambda: tools(pattern(r"^\p{L}{0,40}$")),
    "many with much in each": lambda: tools({"properties": {f"p{at}": {"type": "string"} for at in range(90)}}),
    "one that is wide": lambda: tools({"properties": {f"p{at}": {"properties": {}} for at in range(60_000)}}, 1),
}


def tools(schema: Json, count: int = MANY) -> list[Json]:
    return [{"name": f"bomb {at}", "description": "A tool.", "inputSchema": schema} for at in range(count)]


@pytest.mark.parametrize("heavy", HEAVY)
async def test_while_much_is_taken_in_others_are_served(heavy: str, tmp_path: Path) -> None:
    """At its inspection and when it runs: calls of another server come to their end before the listing is taken in."""
    script, bombs = Script(), HEAVY[heavy]()
    honest, last = list(script.tools), (TOOL, bombs[-1]["name"])
    async with beside(tmp_path, script, approved=False) as (guard, calm):
        agent, served = guard.client(), 0

        async def others() -> None:
            nonlocal served
            assert (await agent.call("calm::echo", {"n": served})).result["structuredContent"] == {"n": served}
            assert (await guard.http.get(guard.where.url + "/healthz")).status_code == 200
            served += 1

        script.tools[:] = honest + bombs
        looked = anyio.Event()

        async def look() -> None:
            await inspected(guard)
            looked.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(look)
            while not looked.is_set():
                await others()
        assert served > 1, "before it was inspected"
        script.tools[:] = honest
        await inspected(guard)
        await approved_as_listed(guard.now, "web")
        await guard.ready("web")
        known = guard.now.guard.servers.find("web")
        assert known is not None
        script.tools[:] = honest + bombs
        await until(guard, lambda: script.listens)  # so that it is heard
        await script.changed_list()
        before = served
        with anyio.fail_after(3 * PATIENCE):
            while not (
                known.pins[last].present and known.listing is not None and len(known.listing.tools) > len(honest)
            ):
                if guard.clock.due_within(1):
                    await guard.clock.advance(1)
                await others()
        assert served > before + 1, "before it was taken in"
        assert known.pins[last].standing is CapabilityStanding.PENDING
        entries = guard.entries()
        assert {(each["server"], each["outcome"]) for each in entries} == {("calm", "answered")}
        assert len(entries) == len(calm.called("tools/call")) == served
        log_is_whole(guard)
