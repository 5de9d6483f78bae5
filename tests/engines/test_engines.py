"""What a program gets and gives: its input, its calls, their answers, its value; suspended, checked before it runs."""

import json
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcpguard.engines.code_run import Program, RunEnd, SuspendedRun
from mcpguard.engines.engines import CodeEngines
from mcpguard.engines.python_stubs import program_stubs
from mcpguard.upstreams.sandbox.confinement import ProcessConfinement
from mcpguard.upstreams.sandbox.limits import ProcessLimits
from mcpguard.upstreams.sandbox.probe import NoSandbox
from tests.engines.running import TIGHT, Answering, ended, engines

pytestmark = pytest.mark.anyio
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)
NEEDS_N = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


async def test_json_goes_through_as_it_is(tmp_path: Path) -> None:
    cases: list[object] = []

    @given(VALUES)
    @settings(max_examples=40, database=None, suppress_health_check=list(HealthCheck))
    def collect(value: object) -> None:
        cases.append(json.loads(json.dumps(value)))

    collect()
    async with engines(tmp_path) as made:
        end = await ended(made, 'call_tool("web", "echo", {"n": input})["result"]["n"]', cases)
        assert end.failure is None
        assert end.value == cases


async def test_a_program_logs_calls_and_ends_with_its_last_expression(tmp_path: Path) -> None:
    host = Answering()
    async with engines(tmp_path) as made:
        end = await ended(
            made,
            'log("one", 2)\nprint("three")\nfound = call_tools([{"server": "a", "tool": "b"}], max_parallel=3)\nfound',
            host=host,
        )
    assert end == RunEnd([{"ok": True, "result": {}}], None, ("one 2", "three"))
    assert [(call.server, call.tool) for call in host.made] == [("a", "b")]


async def test_tools_that_are_named_are_told_before_anything_runs(tmp_path: Path) -> None:
    host = Answering()
    async with engines(tmp_path) as made:
        named = 'if input:\n  call_tool("a", "never")\ncall_tools([{"server": "b", "tool": "c"}])\n'
        await ended(made, named + 'name = "d"\ncall_tool(name, name)', host=host)
    assert [*host.names] == [("a", "never"), ("b", "c")]


@pytest.mark.parametrize("arguments", ['{"n": "x"}', '{"m": 1}', '{"n": None}', "{}"])
async def test_an_argument_that_a_tool_does_not_take_is_told_with_its_line(arguments: str, tmp_path: Path) -> None:
    host = Answering(schemas={"typed": NEEDS_N})
    async with engines(tmp_path) as made:
        end = await ended(made, f'é = 1\ncall_tool("a", "first")\ncall_tool("a", "typed", {arguments})', host=host)
    assert end.failure is not None
    assert (end.failure.code, end.failure.line) == ("INVALID_ARGS", 3)
    assert host.made == [], "nothing has run"


async def test_whatever_else_a_type_check_remarks_keeps_no_program_from_running(tmp_path: Path) -> None:
    async with engines(tmp_path) as made:
        assert (await ended(made, 'x: int = "s"\ncall_tool("a", "typed", {"n": 1})\nx')).value == "s"


async def test_a_suspended_program_goes_on_in_another_worker(tmp_path: Path) -> None:
    program = Program('a = call_tool("a", "b", {"n": 1})\nlog("before")\nb = call_tool("a", "wait")\n[a, b, input]', 5)
    async with engines(tmp_path) as made:
        host = Answering(waits="wait")
        suspended = await made.execute(program, TIGHT, host)
        assert isinstance(suspended, SuspendedRun)
        assert [call.tool for call in host.made] == ["b", "wait"]
        again = Answering()
        end = await made.resume(suspended, [{"ok": True, "result": "late"}], program, TIGHT, again)
        assert end == RunEnd([{"ok": True, "result": {"n": 1}}, {"ok": True, "result": "late"}, 5], None, ("before",))
        assert again.made == [], "no call is made twice"


async def test_what_a_program_has_used_counts_when_it_goes_on(tmp_path: Path) -> None:
    program = Program('call_tool("a", "wait")\nfor i in range(60): call_tool("a", "b")')
    async with engines(tmp_path) as made:
        suspended = await made.execute(program, TIGHT, Answering(waits="wait"))
        assert isinstance(suspended, SuspendedRun)
        assert suspended.calls == 1
        host = Answering()
        end = await made.resume(suspended, [{}], program, TIGHT, host)
        assert isinstance(end, RunEnd)
        assert end.failure is not None
        assert (end.failure.code, len(host.made)) == ("MAX_TOOL_CALLS_EXCEEDED", TIGHT.calls - 1)


async def test_a_forged_state_hurts_nobody(tmp_path: Path) -> None:
    async with engines(tmp_path) as made:
        for state in ("", "AAAA", "x" * 10_000):
            end = await made.resume(SuspendedRun(state), [1], Program("1"), TIGHT, Answering())
            assert isinstance(end, RunEnd)
            assert end.failure is not None
        assert (await ended(made, "1")).value == 1


async def test_without_a_sandbox_nothing_runs(tmp_path: Path) -> None:
    made = CodeEngines(ProcessConfinement(NoSandbox("no user namespaces"), ProcessLimits(), tmp_path), tmp_path, 1)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(made.run)
        while not made.runs:
            await anyio.lowlevel.checkpoint()
        end = await ended(made, "1")
        assert end.failure is not None
        assert end.failure.code == "ENGINE_UNAVAILABLE"
        assert "no user namespaces" in end.failure.message
        tasks.cancel_scope.cancel()


SCHEMAS = st.recursive(
    st.sampled_from([{"type": kind} for kind in ("string", "integer", "number", "boolean", "null")])
    | st.just({})
    | st.lists(st.text(max_size=4) | st.integers(-5, 5), min_size=1, max_size=3).map(lambda values: {"enum": values}),
    lambda inner: (
        st.builds(lambda items: {"type": "array", "items": items}, inner)
        | st.builds(lambda one, two: {"anyOf": [one, two]}, inner, inner)
        | st.builds(
            lambda properties, needed: {
                "type": "object",
                "properties": properties,
                "required": sorted(properties)[:needed],
            },
            st.dictionaries(st.text(max_size=6), inner, max_size=3),
            st.integers(0, 2),
        )
    ),
    max_leaves=6,
)


@given(SCHEMAS)
def test_a_stub_is_python_whatever_the_schema(schema: object) -> None:
    compile(program_stubs({0: schema, 7: {"type": "object", "properties": {"a b": schema}}}), "stubs.py", "exec")
