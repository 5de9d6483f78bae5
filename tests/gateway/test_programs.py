"""Programs of agents over the tool `code_execution`: each call judged by itself, recorded, bounded, held."""

import shutil
from pathlib import Path
from typing import Any

import anyio
import pytest
from jsonschema_rs import Draft202012Validator

from tests.gateway.guard_face import agent, answer, calls_to, refused
from tests.gateway.holding import allowed, denied, held
from tests.gateway.program_guard import CODE, NUMBER, READS, of_kind, run, running, scripted
from tests.gateway.speaking import EVERYTHING, HOWS, OTHER_TOKEN, TOKEN, callers, scope
from tests.simulators.words import Json


@pytest.mark.parametrize("how", HOWS)
async def test_a_program_calls_tools_and_answers_with_its_value(how: str, tmp_path: Path) -> None:
    script = scripted()
    async with running(tmp_path, script) as guard, agent(guard, how, TOKEN) as client:
        said = await run(
            client,
            'log("begins")\na = call_tool("web", "look")\nb = call_tool("web", "count", {"n": input})\n'
            'c = call_tool("web", "fail")\n[a["result"], b["result"]["n"], c]',
            input=7,
        )
        assert said["ok"], said
        assert said["value"] == ["seen", 3, {"ok": False, "error": {"code": "TOOL_ERROR", "message": "broken"}}]
        assert said["logs"] == ["begins"]
        assert (said["answered"], [(call["name"], call["status"]) for call in said["calls"]]) == (
            2,
            [("web:fail", "failed")],
        )
        entries = guard.entries()
        assert [entry["parent"] for entry in entries] == [said["run_id"]] * 3
        assert [call["call_id"] for call in said["calls"]] == [entries[2]["entry"]]
        (ran,), (ended,) = of_kind(guard, "ran"), of_kind(guard, "ended_run")
        assert (ran["entry"], ended["entry"]) == (said["run_id"],) * 2
        assert (ran["operation"], ran["language"], ran["engine"]) == ("read", "python", "pydantic-monty 1.4.0")
        assert (ended["outcome"], ended["calls"]) == ("answered", 3)
        kinds = [record["kind"] for record in guard.said() if record.get("entry") or record.get("parent")]
        assert kinds == ["ran", *["opened", "closed"] * 3, "ended_run"], "before it starts, and before it is answered"


async def test_each_answer_has_the_form_that_the_tool_declares(tmp_path: Path) -> None:
    async with running(tmp_path, scripted(), **HOLDS) as guard, agent(guard, token=TOKEN) as client:
        listed = (await client.request("tools/list")).result["tools"]
        (form,) = [tool["outputSchema"] for tool in listed if tool["name"] == CODE]
        for code in ("1", "1 +", 'call_tool("web", "change")', 'call_tool("web", "look")'):
            assert Draft202012Validator(form).is_valid(await run(client, code, intent=WRITES)), code


async def test_what_the_run_declares_bounds_its_calls(tmp_path: Path) -> None:
    script = scripted()
    async with running(tmp_path, script) as guard, agent(guard, token=TOKEN) as client:
        said = await run(client, 'call_tool("web", "change")')
        assert said["value"]["error"]["code"] == "intent:understated"
        assert calls_to(script) == []
        (entry,) = guard.entries()
        assert (entry["reason"], entry["executed"], entry["parent"]) == ("intent:understated", "no", said["run_id"])
        said = await run(client, 'call_tool("web", "change")', intent={"operation_type": "destructive"})
        assert said["value"] == {"ok": True, "result": "changed"}
        assert calls_to(script) == ["change"]


async def test_scope_binds_a_program_as_it_binds_its_caller(tmp_path: Path) -> None:
    script = scripted()
    known = callers(**{TOKEN: scope("web", "look")})
    async with running(tmp_path, script, known) as guard, agent(guard, token=TOKEN) as client:
        said = await run(
            client, '[call_tool("web", "count", {"n": 1}), call_tool("other", "x"), call_tool("web", "look")]'
        )
        codes = [each.get("error", {}).get("code") for each in said["value"]]
        assert codes == ["capability:unknown", "capability:unknown", None]
        assert calls_to(script) == ["look"]


async def test_servers_that_a_run_does_not_name_are_refused_before_anything_runs(tmp_path: Path) -> None:
    script = scripted()
    async with running(tmp_path, script) as guard, agent(guard, token=TOKEN) as client:
        said = await run(
            client, 'call_tool("web", "look")\ncall_tool("other", "x")', options={"allowed_servers": ["web"]}
        )
        assert said["error"]["code"] == "SERVER_NOT_ALLOWED"
        assert calls_to(script) == []
        assert guard.entries() == []
        (ended,) = of_kind(guard, "ended_run")
        assert (ended["outcome"], ended["failure"], ended["calls"]) == ("failed", "SERVER_NOT_ALLOWED", 0)


async def test_a_wrong_argument_is_told_with_its_line_before_anything_runs(tmp_path: Path) -> None:
    script = scripted()
    async with running(tmp_path, script) as guard, agent(guard, token=TOKEN) as client:
        said = await run(client, 'call_tool("web", "look")\ncall_tool("web", "count", {"n": "x"})')
        assert (said["error"]["code"], said["error"]["line"]) == ("INVALID_ARGS", 2)
        assert calls_to(script) == []
        said = await run(client, 'n = "x"\ncall_tool("web", "count", {"n": n + input})', input="y")
        assert said["ok"] is False or said["value"]["error"]["code"] == "arguments:invalid"
        assert calls_to(script) == [], "what no type tells is judged all the same"


async def test_calls_count_and_are_bounded(tmp_path: Path) -> None:
    script = scripted()
    async with running(tmp_path, script, code__calls=3) as guard, agent(guard, token=TOKEN) as client:
        said = await run(client, 'for i in range(9): call_tool("web", "look")', options={"max_tool_calls": 2})
        assert said["error"]["code"] == "MAX_TOOL_CALLS_EXCEEDED"
        assert calls_to(script) == ["look"] * 2
        said = await run(client, 'for i in range(9): call_tool("web", "look")', options={"max_tool_calls": 9})
        assert said["error"]["code"] == "MAX_TOOL_CALLS_EXCEEDED", "a run can only ask for less"
        assert calls_to(script) == ["look"] * 5


HOLDS: dict[str, Any] = {"holds__calls": ["any of web:change"], "holds__wait_seconds": 0}
WRITES = {"operation_type": "destructive"}
WAITS = 'a = call_tool("web", "look")\nb = call_tool("web", "change")\n[a, b]'


async def test_a_program_that_waits_goes_on_once_a_person_has_allowed_its_call(tmp_path: Path) -> None:
    script = scripted()
    async with running(tmp_path, script, **HOLDS) as guard, agent(guard, token=TOKEN) as client:
        said = await run(client, WAITS, intent=WRITES)
        assert said["error"]["code"] == "HOLD_WAITING"
        assert calls_to(script) == ["look"]
        (ended,) = of_kind(guard, "ended_run")
        assert (ended["outcome"], ended["reason"]) == ("held", "hold:waiting")
        await allowed(guard)
        said = await run(client, WAITS, intent=WRITES)
        assert said["value"] == [{"ok": True, "result": "seen"}, {"ok": True, "result": "changed"}]
        assert calls_to(script) == ["look", "change"], "no call was made twice"
        said = await run(client, WAITS, intent=WRITES)
        assert said["error"]["code"] == "HOLD_WAITING", "an approval is used once"


async def test_a_call_that_a_person_denies_is_an_error_in_the_program(tmp_path: Path) -> None:
    script = scripted()
    async with running(tmp_path, script, **HOLDS) as guard, agent(guard, token=TOKEN) as client:
        await run(client, WAITS, intent=WRITES)
        await denied(guard)
        said = await run(client, WAITS, intent=WRITES)
        assert said["value"][1]["error"]["code"] == "hold:denied"
        assert calls_to(script) == ["look"]


async def test_nobody_else_goes_on_with_a_program_that_waits(tmp_path: Path) -> None:
    script = scripted()
    known = callers(**{TOKEN: EVERYTHING, OTHER_TOKEN: EVERYTHING})
    async with running(tmp_path, script, known, **HOLDS) as guard, agent(guard, token=TOKEN) as client:
        await run(client, WAITS, intent=WRITES)
        await held(guard)
        await allowed(guard)
        async with agent(guard, token=OTHER_TOKEN) as other:
            said = await run(other, WAITS, intent=WRITES)
            assert said["error"]["code"] == "HOLD_WAITING"
        assert calls_to(script) == ["look", "look"], "the other one began anew, and was not allowed what another was"


async def test_without_the_setting_there_is_no_such_tool(tmp_path: Path) -> None:
    script = scripted()
    async with running(tmp_path, script, code__enabled=False) as guard, agent(guard, token=TOKEN) as client:
        listed = (await client.request("tools/list")).result["tools"]
        assert CODE not in {tool["name"] for tool in listed}
        assert (await refused(client, CODE, code='call_tool("web", "look")'))["reason"] == "capability:unknown"
        assert calls_to(script) == []
        assert of_kind(guard, "ran") == []


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        ({}, "code"),
        ({"code": ""}, "code"),
        ({"code": "x" * 65_537}, "code"),
        ({"code": "1", "language": "ruby"}, "language"),
        ({"code": "1", "options": {"timeout_ms": 0}}, "options"),
        ({"code": "1", "intent": {"operation_type": "explode"}}, "intent"),
        ({"code": "1", "intent": {"operation_type": "read", "x": 1}}, "intent"),
        ({"code": "1", "more": 1}, "more"),
    ],
)
async def test_arguments_of_another_form_are_refused_by_name(arguments: Json, where: str, tmp_path: Path) -> None:
    async with running(tmp_path, scripted()) as guard, agent(guard, token=TOKEN) as client:
        assert where in (await refused(client, CODE, **arguments))["expected"]
        assert of_kind(guard, "ran") == []


@pytest.mark.parametrize("language", ["javascript", "typescript"])
async def test_languages_without_an_engine_say_so(language: str, tmp_path: Path) -> None:
    async with running(tmp_path, scripted()) as guard, agent(guard, token=TOKEN) as client:
        said = await run(client, "1", language=language)
        assert said["error"]["code"] == "ENGINE_UNAVAILABLE"
        assert language in said["error"]["message"]


async def test_a_restart_ends_a_run_that_the_guard_did_not_live_to_see(tmp_path: Path) -> None:
    script, began = scripted(), anyio.Event()

    async def hang(_: object) -> Json:
        began.set()
        await anyio.sleep_forever()
        raise AssertionError

    script.tool("hang", hang, annotations=READS)
    async with (
        running(tmp_path, script) as guard,
        agent(guard, token=TOKEN) as client,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(run, client, 'call_tool("web", "hang")')
        await began.wait()
        # As the folder is when the process is killed while the program waits.
        shutil.copytree(tmp_path / "data", tmp_path / "killed" / "data", ignore=shutil.ignore_patterns("*.sock"))
        tasks.cancel_scope.cancel()
    async with running(tmp_path / "killed", script) as guard:
        (ended,) = of_kind(guard, "ended_run")
        assert (ended["outcome"], ended["reason"], ended["late"]) == ("unknown", "guard:crashed", True)


async def test_a_tool_is_described_as_its_call_in_python(tmp_path: Path) -> None:
    script = scripted()
    script.tool("odd", {"content": []}, annotations=READS, inputSchema={"type": "object", "properties": {'"): x': {}}})
    async with running(tmp_path, script) as guard, agent(guard, token=TOKEN) as client:
        names = ["web:count", "web:odd", "web:nothing"]
        counted, odd, nothing = (await answer(client, "describe_tool", names=names, **{"as": "python"}))["tools"]
        assert "inputSchema" not in counted
        assert counted["python"] == (
            "Arguments_0 = TypedDict('Arguments_0', {'n': int}, extra_items=Any)\n"
            "def call_tool(server: Literal['web'], tool: Literal['count'], args: Arguments_0) -> ToolAnswer: ...\n"
        )
        compile(odd["python"], "stub.py", "exec")
        assert "python" not in nothing
        (same, _, _) = (await answer(client, "describe_tool", names=names))["tools"]
        assert same["inputSchema"] == NUMBER
