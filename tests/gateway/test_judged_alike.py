"""One judgement: the same call gets the same verdict whatever way it comes in, and what is refused reaches nobody."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.guard.calls.explanation import explain
from mcpguard.guard.servers.argument_checks import Arguments
from mcpguard.policy.intents import read_intent
from tests.gateway.declaring import call
from tests.gateway.guard_face import agent
from tests.gateway.judging import (
    ARGUMENTS,
    CAREFUL,
    CASES,
    NARROW,
    SECRET,
    VERDICT,
    Case,
    answer,
    every_way,
    judged,
    told,
)
from tests.gateway.speaking import TOKEN, guarded, refused_once
from tests.simulators.script import Script
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.tool}-{case.reason}")
async def test_the_same_call_gets_the_same_verdict_by_every_way(case: Case, tmp_path: Path) -> None:
    async with judged(tmp_path) as (guard, script), every_way(guard, case.token) as ways:
        before = len(guard.entries())
        answers = {way: await answer(client, way, case.tool, case.arguments) for way, client in ways.items()}
        said = [told(each) for each in answers.values()]
        assert said == said[:1] * len(ways)
        entries = guard.entries()[before:]
        assert len(entries) == len(ways)
        verdicts = [{name: entry.get(name) for name in VERDICT} for entry in entries]
        assert verdicts == verdicts[:1] * len(ways)
        if case.reason:
            assert said[0]["reason"] == entries[0]["reason"] == case.reason
            assert said[0]["executed"] == "no"
            if case.detail:
                assert said[0]["detail"] == case.detail
            assert script.called("tools/call") == [], "nothing happened"
        else:
            assert len(script.called("tools/call", case.tool)) == len(ways)
        everything = str((answers, entries)) if case.reason else ""
        assert SECRET not in everything
        assert "planted" not in everything


async def test_any_arguments_get_one_verdict(tmp_path: Path) -> None:
    """As above, for whatever there may be, through one guard."""
    async with judged(tmp_path) as (guard, script), every_way(guard, TOKEN) as ways:
        calls: list[tuple[str, Json]] = []
        examples = given(st.sampled_from(["add", "echo", "fail", "odd", "nothing"]), ARGUMENTS)

        @settings(max_examples=25, database=None, suppress_health_check=[*HealthCheck])
        @examples
        def collect(tool: str, arguments: Json) -> None:
            calls.append((tool, arguments))

        collect()
        for tool, arguments in calls:
            sent = len(script.called("tools/call"))
            answers = [told(await answer(client, way, tool, arguments)) for way, client in ways.items()]
            assert answers == answers[:1] * len(ways), (tool, arguments)
            assert len(script.called("tools/call")) - sent == (0 if answers[0] else len(ways))


async def test_arguments_that_are_null_are_judged_and_sent_as_none(tmp_path: Path) -> None:
    """A server gets what was judged, by every way, and the record is of that."""
    async with judged(tmp_path) as (guard, script), every_way(guard, TOKEN) as ways:
        for way, client in ways.items():
            name = "fail" if way.endswith("transparent") else "web::fail"
            await client.request("tools/call", {"name": name, "arguments": None})
            prompt = "greet" if way.endswith("transparent") else "web::greet"
            await client.request("prompts/get", {"name": prompt, "arguments": None})
        async with agent(guard, token=TOKEN) as client:
            for given_ in ({"arguments": None}, {"args": None}, {"args_json": None}, {}):
                await client.call("call_tool_destructive", {"name": "web:fail", **given_})
            await client.call("call_tool", {"server": "web", "tool": "fail", "arguments": None})
        sent = [each["params"] for each in script.called("tools/call") + script.called("prompts/get")]
        assert len(sent) == 2 * len(ways) + 5
        assert all(each.get("arguments", {}) == {} for each in sent)
        bodies = {entry["body_size"] for entry in guard.entries() if entry["face"] != "guard"}
        assert bodies == {len(b'{"name":"fail"}'), len(b'{"name":"greet"}')}


async def test_the_model_reads_what_is_wrong_and_where(tmp_path: Path) -> None:
    async with judged(tmp_path) as (guard, script):
        client = guard.client(token=TOKEN)
        with refused_once(guard, "arguments:invalid", script):
            result = (await client.call("web::add", {"a": 1})).result
        assert "At $.b: expected a value; it is required." in result["content"][0]["text"]


async def test_a_prompt_needs_what_it_requires_and_a_secret_is_none_of_its_business(tmp_path: Path) -> None:
    async with judged(tmp_path) as (guard, script):
        client = guard.client(token=TOKEN)
        script.prompts.append({"name": "strict", "arguments": [{"name": "who", "required": True}]})
        asked: Json = {"name": "web::greet", "arguments": {"name": SECRET}}
        with refused_once(guard, "arguments:secret", script):
            error = (await client.request("prompts/get", asked)).error
        assert error["data"]["detail"] == {"secret": "github-pat"}
        assert SECRET not in str(error)


async def test_a_secret_is_let_go_and_noted_where_that_is_the_setting(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, arguments__secrets="note") as guard:
        assert (await guard.client().call("web::echo", {"x": SECRET})).result["structuredContent"] == {"x": SECRET}
        (entry,) = guard.entries()
        assert (entry["verdict"], entry["secrets"]) == ("allow", "github-pat")
        assert SECRET not in str(guard.said())


async def test_what_is_declared_is_judged_and_recorded(tmp_path: Path) -> None:
    async with judged(tmp_path) as (guard, script):
        with refused_once(guard, "intent:understated", script) as entry:
            form = {"intent_reason": "to look", "intent_data_sensitivity": "private"}
            told_ = await call(guard, NARROW, "fail", read_intent(Effect.READ, form))
        assert told_.detail.fields == {"effect": "destructive", "call_with": "call_tool_destructive"}
        assert (entry["operation"], entry["declared"]) == ("read", True)
        assert (entry["sensitivity"], entry["intent_reason"]) == ("private", "to look")
        with refused_once(guard, "intent:mismatch", script):
            await call(guard, NARROW, "fail", read_intent(Effect.DESTRUCTIVE, {"intent": {"operation_type": "read"}}))
        with refused_once(guard, "intent:invalid", script):
            await call(guard, NARROW, "fail", read_intent(Effect.DESTRUCTIVE, {"intent": "because"}))
        overstated = await call(guard, NARROW, "add", read_intent(Effect.DESTRUCTIVE, {}), a=1, b=2)
        assert overstated.result is not None
        assert overstated.result["structuredContent"] == {"sum": 3}
        assert (guard.entries()[-1]["operation"], guard.entries()[-1]["effect"]) == ("destructive", "read")


async def test_readiness_is_the_same_judgement(tmp_path: Path) -> None:
    """What `explained` says of a call is what the call is told."""
    async with judged(tmp_path) as (guard, _):
        judging = guard.now.guard.judging
        known = guard.now.guard.servers.find("web")
        assert known is not None
        for case in CASES:
            caller = NARROW if case.token == TOKEN else CAREFUL
            carried = Arguments("tools/call", {"name": case.tool, "arguments": case.arguments})
            said = await explain(known, (CapabilityKind.TOOL, case.tool), judging, caller, given=carried)
            reasons = [each["reason"] for each in said["reasons"]]
            assert reasons == ([case.reason] if case.reason else [])
            assert said["callable"] is not bool(case.reason)
