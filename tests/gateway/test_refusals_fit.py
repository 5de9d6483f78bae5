"""A client that compares what a tool answers with the schema that it was shown can read each refusal of it: it has its
facts in `_meta`, and structure only where the client can expect any.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.gate import Gate
from tests.gateway.guard_face import FACE
from tests.gateway.speaking import HOWS, changed, guarded, nothing_happens, refused_once, speaking
from tests.review import DECISION
from tests.simulators.client import RawClient
from tests.simulators.script import Script
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
WRONG: dict[str, Json] = {"add": {"a": "x", "b": 1}, "progress": {"steps": -1}}
"""Arguments that no schema allows, of a tool that declares its answer and of one that does not."""
TakenAway = Callable[[Gate, Script], Awaitable[object]]


def facts(result: Json) -> Json:
    """Those of a refusal, which are told to a model as well."""
    found: Json = result["_meta"]["mcpguard/refusal"]
    assert (result["isError"], result["_meta"]["mcpguard/speaker"]) == (True, "guard")
    assert result["content"][0]["text"].startswith(found["message"])
    return found


async def definitions(client: RawClient) -> dict[str, Json]:
    return {tool["name"]: tool for tool in (await client.request("tools/list")).result["tools"]}


@pytest.mark.parametrize("only", [None, "web"])
@pytest.mark.parametrize("how", HOWS)
async def test_a_tool_that_declares_its_answer_is_refused_without_one(
    how: str, only: str | None, tmp_path: Path
) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard, speaking(guard, how, only=only) as client:
        listed = await definitions(client)
        for tool, arguments in WRONG.items():
            name = tool if only else f"web::{tool}"
            with refused_once(guard, "arguments:invalid", script) as entry:
                result = (await client.call(name, arguments)).result
            said = facts(result)
            assert (said["reason"], said["executed"], said["call_id"]) == ("arguments:invalid", "no", entry["entry"])
            assert result.get("structuredContent") == (None if "outputSchema" in listed[name] else said)


async def become_another(guard: Gate, script: Script) -> None:
    for tool in script.tools:
        tool["description"] = "Another."
    await changed(guard, script)


TAKEN_AWAY: dict[str, TakenAway] = {
    "capability:changed": become_another,
    "server:quarantined": lambda guard, _: guard.now.guard.decisions.quarantine("web", DECISION),
    "server:blocked": lambda guard, _: guard.now.guard.decisions.block("web", DECISION),
    "server:disabled": lambda guard, _: guard.now.guard.decisions.disable("web", DECISION),
}


@pytest.mark.parametrize("reason", TAKEN_AWAY)
@pytest.mark.parametrize("modern", [True, False])
async def test_what_was_taken_away_may_have_been_listed_with_a_schema(
    modern: bool, reason: str, tmp_path: Path
) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        client = guard.client() if modern else await guard.legacy()
        assert {"web::add", "web::echo"} <= {*await definitions(client)}
        await TAKEN_AWAY[reason](guard, script)
        for name in ("web::add", "web::echo", "web::nothing"):
            is_there = name != "web::nothing" or reason.startswith("server:")
            wanted = reason if is_there else "capability:unknown"
            with refused_once(guard, wanted, script):
                result = (await client.call(name, {"a": 1, "b": 2})).result
            assert facts(result)["reason"] == wanted
            assert "structuredContent" not in result


@pytest.mark.parametrize("modern", [True, False])
async def test_the_guards_own_tools_keep_to_what_they_declare(modern: bool, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        client = guard.client(FACE) if modern else await guard.legacy(FACE)
        for name, tool in (await definitions(client)).items():
            with nothing_happens(guard, script):
                result = (await client.call(name, {"no such": "argument"})).result
            said = facts(result)
            assert (said["reason"], said["executed"]) == ("arguments:invalid", "no")
            assert result.get("structuredContent") == (None if "outputSchema" in tool else said), name
        with nothing_happens(guard, script):
            result = (await client.call("upstream_servers", {"operation": "add"})).result
        assert facts(result)["reason"] == "authority:person"
        assert "structuredContent" not in result


@pytest.mark.parametrize("modern", [True, False])
async def test_what_is_called_through_a_tool_that_declares_nothing_is_refused_with_structure(
    modern: bool, tmp_path: Path
) -> None:
    script = Script()
    through = {
        "call_tool_destructive": {"name": "web:add", "arguments": WRONG["add"]},
        "proxy": {"action": "call", "type": "tool", "path": "web::add", "args": WRONG["add"]},
    }
    async with guarded(tmp_path, script) as guard:
        client = guard.client(FACE) if modern else await guard.legacy(FACE)
        for name, given in through.items():
            with refused_once(guard, "arguments:invalid", script):
                result = (await client.call(name, given)).result
            assert facts(result) == result["structuredContent"]
