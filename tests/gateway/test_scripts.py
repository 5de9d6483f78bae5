"""Approved scripts: nothing of one runs before a person approved its text, and nothing but what was approved."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio.lowlevel
import pytest

from mcpguard.domain.capabilities import CapabilityKind, Effect, Fingerprint
from mcpguard.domain.decisions import Actor, ActorRevoked, Stale, Undecidable, Unknown
from mcpguard.domain.people import Role
from mcpguard.domain.scripts import Script as WrittenScript
from mcpguard.guard.scripts.scripts import ScriptRequest, Scripts
from tests.gate import Gate
from tests.gateway.guard_face import agent, answer, calls_to, found, refused
from tests.gateway.holding import allowed, held
from tests.gateway.program_guard import NUMBER, of_kind, running, scripted
from tests.gateway.speaking import TOKEN, callers, changed_and_approved, scope, speaking
from tests.patience import PATIENCE
from tests.review import PERSON, approved_as_listed
from tests.simulators.client import RawClient
from tests.simulators.script import Script
from tests.web.pages.reading import somebody

READING = 'call_tool("web", "look")["result"] + "!" * input["n"]'
CHANGING = 'call_tool("web", "look")\ncall_tool("web", "change")["result"]'
HOLDS: dict[str, Any] = {"holds__calls": ["any of web:change"], "holds__wait_seconds": 0}


def wanted(source: str = READING, name: str = "reading", **more: Any) -> ScriptRequest:  # noqa: ANN401 - fields
    return ScriptRequest(name, source, "Reads and shouts.", more.pop("schema", NUMBER), **more)


def scripts_of(guard: Gate) -> Scripts:
    scripts = guard.now.guard.scripts
    assert scripts is not None
    return scripts


def in_force(guard: Gate, name: str) -> bool:
    """Whether what is listed of the script is what its connection lists."""
    servers = guard.now.guard.servers
    known = servers.find("scripts")
    return known is not None and servers.is_in_force(known) and (CapabilityKind.TOOL, name) in known.pins


async def settled(guard: Gate, name: str) -> None:
    with anyio.fail_after(PATIENCE):
        while not in_force(guard, name):
            if guard.clock.due_within(1):
                await guard.clock.advance(1)
            await anyio.lowlevel.checkpoint()


async def approve(guard: Gate, name: str) -> None:
    """A person approves the server with its scripts."""
    await approved_as_listed(guard.now, "scripts")
    await settled(guard, name)


@asynccontextmanager
async def with_script(folder: Path, script: Script, request: ScriptRequest, **settings: Any) -> AsyncIterator[Gate]:  # noqa: ANN401 - settings
    async with running(folder, script, **settings) as guard:
        await scripts_of(guard).put(request, 0, PERSON)
        await approve(guard, request.name)
        yield guard


async def test_a_script_waits_for_approval_and_is_then_a_tool_like_any_other(tmp_path: Path) -> None:
    script = scripted()
    async with running(tmp_path, script) as guard, agent(guard, token=TOKEN) as client:
        stored = await scripts_of(guard).put(wanted(), 0, PERSON)
        assert (stored.revision, [*stored.script.tools]) == (1, [("web", "look")])
        known = guard.now.guard.servers.find("scripts")
        assert known is not None
        assert [*known.findings()] == [], "a script may well name the tools of others"
        said = await refused(client, "call_tool_read", name="scripts:reading", args={"n": 2})
        assert said["reason"] == "server:quarantined"
        assert (calls_to(script), of_kind(guard, "ran")) == ([], [])
        await approve(guard, "reading")
        assert [hit["name"] for hit in (await found(client, "read and shout"))["tools"]][:1] == ["scripts:reading"]
        assert await answer_text(client, "scripts:reading", n=2) == "seen!!"
        (added,), (ran,) = of_kind(guard, "script"), of_kind(guard, "ran")
        assert (added["change"], added["script"], added["tools"], added["by"]) == (
            "added",
            "reading",
            "web:look",
            PERSON.id,
        )
        _, outer, inner = guard.entries()
        assert (ran["script"], ran["parent"], ran["source"]) == ("reading", outer["entry"], added["source"])
        assert (inner["parent"], inner["name"]) == (ran["entry"], "look")
        by = await somebody(guard, Role.AUDITOR)
        way = (outer["entry"], ran["entry"], inner["entry"])
        for entry, link in (way[:2], way[1:], way[1::-1]):
            page = await guard.http.get(f"{guard.where.url}/calls/{entry}", headers=by)
            assert f'href="/calls/{link}"' in page.text, "a tree from the call to what the script called, and back"


async def answer_text(client: RawClient, name: str, **arguments: Any) -> str:  # noqa: ANN401 - JSON
    reply = await client.request(
        "tools/call", {"name": "call_tool_destructive", "arguments": {"name": name, "args": arguments}}
    )
    assert reply.result is not None, reply
    assert not reply.result.get("isError"), reply.result
    return str(reply.result["content"][0]["text"])


async def test_agents_are_told_what_a_script_takes_and_not_its_program(tmp_path: Path) -> None:
    async with with_script(tmp_path, scripted(), wanted()) as guard, agent(guard, token=TOKEN) as client:
        hits = await found(client, "read and shout", detail="full")
        described = await answer(client, "describe_tool", names=["scripts:reading"])
        assert described["tools"][0]["inputSchema"] == NUMBER
        async with speaking(guard, "http modern", token=TOKEN) as direct:
            listed = (await direct.request("tools/list")).result
        for told in (hits, described, listed):
            assert "reading" in str(told)
            assert "call_tool(" not in str(told)


async def test_its_arguments_are_compared_with_the_approved_schema(tmp_path: Path) -> None:
    script = scripted()
    async with with_script(tmp_path, script, wanted()) as guard, agent(guard, token=TOKEN) as client:
        said = await refused(client, "call_tool_read", name="scripts:reading", args={"n": "two"})
        assert said["reason"] == "arguments:invalid"
        assert (calls_to(script), of_kind(guard, "ran")) == ([], [])


async def test_a_changed_text_is_refused_until_it_is_approved_and_then_runs(tmp_path: Path) -> None:
    script = scripted()
    async with with_script(tmp_path, script, wanted()) as guard, agent(guard, token=TOKEN) as client:
        await scripts_of(guard).put(wanted(READING + ' + "?"'), 1, PERSON)
        assert not callable_now(guard, "reading"), "at once, and not when its connection has listed again"
        said = await refused(client, "call_tool_read", name="scripts:reading", args={"n": 1})
        assert said["reason"] == "capability:changed"
        assert (calls_to(script), of_kind(guard, "ran")) == ([], [])
        await approve(guard, "reading")
        assert await answer_text(client, "scripts:reading", n=1) == "seen!?"
        assert [record["change"] for record in of_kind(guard, "script")] == ["added", "changed"]


def callable_now(guard: Gate, name: str) -> bool:
    known = guard.now.guard.servers.find("scripts")
    assert known is not None
    pin = known.pins.get((CapabilityKind.TOOL, name))
    return pin is not None and pin.callable


async def test_a_removed_script_is_refused(tmp_path: Path) -> None:
    script = scripted()
    async with with_script(tmp_path, script, wanted()) as guard, agent(guard, token=TOKEN) as client:
        await scripts_of(guard).remove("reading", 1, PERSON)
        assert not callable_now(guard, "reading")
        assert (await refused(client, "call_tool_read", name="scripts:reading", args={"n": 1}))["reason"] in (
            "capability:gone",
            "capability:unknown",
        )
        assert calls_to(script) == []
        with pytest.raises(Unknown):
            scripts_of(guard).find("reading")


async def test_its_approval_answers_the_holds_of_the_tools_that_it_names(tmp_path: Path) -> None:
    script = scripted()
    request = wanted(CHANGING, "changing", schema={"type": "object"})
    async with with_script(tmp_path, script, request, **HOLDS) as guard, agent(guard, token=TOKEN) as client:
        assert await answer_text(client, "scripts:changing") == "changed"
        assert calls_to(script) == ["look", "change"]
        assert guard.now.guard.held.waiting == 0


async def test_another_tool_than_the_named_ones_is_held_whatever_the_settings_say(tmp_path: Path) -> None:
    script = scripted()
    request = wanted('call_tool("web", "lo" + "ok")["result"]', "sly", schema={"type": "object"})
    async with with_script(tmp_path, script, request, holds__wait_seconds=0) as guard:
        assert [*scripts_of(guard).find("sly").script.tools] == []
        async with agent(guard, token=TOKEN) as client:
            said = await failed(client, "scripts:sly")
            assert said.startswith("HOLD_WAITING"), said
            assert calls_to(script) == []
            waits = await held(guard)
            assert (waits["because"], waits["name"], waits["run"]) == (
                "script",
                "look",
                of_kind(guard, "ran")[0]["entry"],
            )
            await allowed(guard)
            assert await answer_text(client, "scripts:sly") == "seen"
            assert calls_to(script) == ["look"]


async def failed(client: RawClient, name: str, **arguments: Any) -> str:  # noqa: ANN401 - JSON
    reply = await client.request(
        "tools/call", {"name": "call_tool_destructive", "arguments": {"name": name, "args": arguments}}
    )
    assert reply.result["isError"], reply.result
    return str(reply.result["content"][0]["text"])


async def test_a_tool_that_was_approved_anew_since_is_held(tmp_path: Path) -> None:
    script = scripted()
    request = wanted(CHANGING, "changing", schema={"type": "object"})
    async with with_script(tmp_path, script, request, **HOLDS) as guard, agent(guard, token=TOKEN) as client:
        script.tool("change", {"content": [{"type": "text", "text": "changed"}]}, description="It does more now.")
        await changed_and_approved(guard, script)
        assert (await failed(client, "scripts:changing")).startswith("HOLD_WAITING")
        assert calls_to(script) == ["look"]


async def test_its_calls_have_no_worse_effect_than_it_was_approved_with(tmp_path: Path) -> None:
    script = scripted()
    sly = 'call_tool("web", "look")\ncall_tool("web", "chan" + "ge")["error"]["code"]'
    request = wanted(sly, "sly", schema={"type": "object"})
    async with with_script(tmp_path, script, request) as guard, agent(guard, token=TOKEN) as client:
        assert await answer_text(client, "scripts:sly") == "intent:understated"
        assert calls_to(script) == ["look"]


async def test_scope_binds_a_script_as_it_binds_its_caller(tmp_path: Path) -> None:
    script = scripted()
    known = callers(**{TOKEN: scope("scripts")})
    async with running(tmp_path, script, known) as guard, agent(guard, token=TOKEN) as client:
        request = wanted('call_tool("web", "look")["error"]["code"]', schema={"type": "object"})
        await scripts_of(guard).put(request, 0, PERSON)
        await approve(guard, "reading")
        assert await answer_text(client, "scripts:reading") == "capability:unknown"
        assert calls_to(script) == []


async def test_no_program_runs_a_script(tmp_path: Path) -> None:
    script = scripted()
    async with with_script(tmp_path, script, wanted()) as guard, agent(guard, token=TOKEN) as client:
        said = await answer(client, "code_execution", code='call_tool("scripts", "read" + "ing", {"n": 1})')
        assert said["error"]["code"] == "SERVER_NOT_ALLOWED"
        with pytest.raises(Undecidable, match="another script"):
            await scripts_of(guard).put(wanted('call_tool("scripts", "reading", {"n": 1})', "outer"), 0, PERSON)
        assert calls_to(script) == []


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (wanted("1 +"), "line 1"),
        (wanted("   "), "empty"),
        (wanted("1", "Bad Name"), "name"),
        (wanted("x" * 65_537), "65536 bytes"),
        (wanted("1", schema={"type": "string"}), "schema"),
        (wanted('call_tool("web", "count", {"n": "x"})'), "line 1"),
        (wanted('call_tool("web", "nothing")'), "web:nothing is not approved"),
        (wanted('key = "ghp_' + "16C7e42F292c6912E7710c838347Ae178B4a" + '"'), "secret"),
        (wanted("1", tools=tuple(("web", f"t{n}") for n in range(101))), "100 tools"),
    ],
)
async def test_what_cannot_be_a_script_is_refused_and_nothing_is_stored(
    request_: ScriptRequest, said: str, tmp_path: Path
) -> None:
    async with running(tmp_path, scripted()) as guard:
        with pytest.raises(Undecidable, match=said):
            await scripts_of(guard).put(request_, 0, PERSON)
        assert [*scripts_of(guard)] == []
        assert of_kind(guard, "script") == []
        assert guard.now.guard.servers.find("scripts") is None


async def test_a_stale_revision_and_a_revoked_person_change_nothing(tmp_path: Path) -> None:
    async with with_script(tmp_path, scripted(), wanted()) as guard:
        with pytest.raises(Stale):
            await scripts_of(guard).put(wanted("2"), 0, PERSON)
        gone = Actor("uid:7", "operator socket", may_widen=True, holds=lambda: False)
        with pytest.raises(ActorRevoked):
            await scripts_of(guard).put(wanted("2"), 1, gone)
        with pytest.raises(ActorRevoked):
            await scripts_of(guard).remove("reading", 1, gone)
        assert scripts_of(guard).find("reading").script.source == READING
        assert callable_now(guard, "reading")
        assert len(of_kind(guard, "script")) == 1


async def test_scripts_survive_a_restart_and_are_refused_where_programs_are_off(tmp_path: Path) -> None:
    script = scripted()
    async with with_script(tmp_path, script, wanted()):
        pass
    async with running(tmp_path, script) as guard, agent(guard, token=TOKEN) as client:
        await settled(guard, "reading")
        assert await answer_text(client, "scripts:reading", n=0) == "seen"
    async with running(tmp_path, script, code__enabled=False) as guard, agent(guard, token=TOKEN) as client:
        assert guard.now.guard.scripts is None
        said = await refused(client, "call_tool_read", name="scripts:reading", args={"n": 1})
        assert said["reason"] in ("server:unreachable", "server:starting")
        assert calls_to(script) == ["look"]


async def test_a_person_who_checks_a_program_runs_nothing(tmp_path: Path) -> None:
    script = scripted()
    async with running(tmp_path, script) as guard:
        checked = await scripts_of(guard).check('call_tool("web", "look")\ncall_tool("web", "x")\nlog("ran")')
        assert checked.failure is None
        assert [(each.tool, each.effect) for each in checked.tools] == [("look", "read"), ("x", None)]
        wrong = await scripts_of(guard).check("a = 1\nb = = 2")
        assert wrong.failure is not None
        assert (wrong.failure.code, wrong.failure.line) == ("SYNTAX_ERROR", 2)
        assert (calls_to(script), of_kind(guard, "ran")) == ([], [])


def test_a_definition_reads_back_as_the_script() -> None:
    written = WrittenScript("a", "1", {("web", "look"): Fingerprint(f"v1:{'0' * 64}")}, Effect.WRITE, "Says.", NUMBER)
    assert WrittenScript.from_definition(written.as_definition()) == written
