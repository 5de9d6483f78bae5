"""What a program gets and gives: its input, its calls in whatever way they are written, its log, its value."""

import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from mcpguard.engines import engines as engines_module
from mcpguard.engines.code_run import RunEnd
from mcpguard.engines.engines import PARTS, VERSION
from mcpguard.upstreams.sandbox.probe import NoSandbox
from tests.engines.running import Answering, ended, engines, value_of
from tests.process import ROOT

pytestmark = pytest.mark.anyio
IN_TURN = """\
import asyncio
async def pausing(n):
    await asyncio.sleep(0.02 - n / 100)
    return call_tool('a', 'b', {'n': n})
(await asyncio.gather(pausing(0), pausing(1)))[1]
"""


async def test_a_program_logs_calls_and_ends_with_its_last_expression(tmp_path: Path) -> None:
    host = Answering()
    source = (
        "found = call_tool('web', 'page', {'url': input['url']})\n"
        "log('found', found['ok'], {'n': 1})\n"
        "print('one')\nprint('t', end='')\nprint('wo', 3)\n"
        "others = call_tools([\n"
        "  {'server': 'web', 'tool': 'page', 'args': {'n': n}} for n in range(3)\n"
        "], max_parallel=2)\n"
        "[found['result']['url'], [each['result']['n'] for each in others]]"
    )
    async with engines(tmp_path) as made:
        end = await ended(made, source, {"url": "http://a"}, host)
        assert await value_of(made, "x = 1") is None
    assert end == RunEnd(["http://a", [0, 1, 2]], None, ("found True {'n': 1}", "one", "two 3"))
    assert host.together == [(1, 1), (3, 2)]
    assert [dict(call.arguments) for call in host.made] == [{"url": "http://a"}, {"n": 0}, {"n": 1}, {"n": 2}]


@pytest.mark.parametrize(
    "source",
    [
        "await call_tool('a', 'b', {'n': 1})",
        "await call_tool('a',\n 'b',\n  {'n': (1)}\n)",
        "async def f(): return await call_tool('a', 'b', {'n': 1})\nawait f()",
        "import asyncio\nasync def f(): return await call_tool('a', 'b', {'n': 1})\nasyncio.run(f())",
        "(await call_tools([{'server': 'a', 'tool': 'b', 'args': {'n': 1}}]))[0]",
        "f = call_tool\nf('a', 'b', {'n': 1})",
        "eval(\"call_tool('a', 'b', {'n': 1})\")",
        "exec(\"async def f(): return await call_tool('a', 'b', {'n': 1})\")\nx = call_tool('a', 'b', {'n': 1})\nx",
        "call_tool(server='a', tool='b', args={'n': 1})",
        "call_tool(**{'server': 'a', 'tool': 'b', 'args': {'n': 1}})",
        "import time\ntime.sleep(0)\ncall_tool('a', 'b', {'n': 1})",
        "é = 'ü'; x = await call_tool('a', 'b', {'n': 1}); x",
        "def gather(given): return given\ngather([call_tool('a', 'b', {'n': 1})])[0]",
        IN_TURN,
    ],
)
async def test_a_call_can_be_written_in_many_ways(source: str, tmp_path: Path) -> None:
    async with engines(tmp_path) as made:
        assert await value_of(made, source) == {"ok": True, "result": {"n": 1}}


@pytest.mark.parametrize(
    ("gathered", "together"),
    [
        ("call_tool('a', 'b', {'n': 0}), call_tool('a', 'b', {'n': 1})", [(2, 2)]),
        ("*[call_tool('a', 'b', {'n': n}) for n in range(20)]", [(20, 8)]),
        ("*(call_tool('a', 'b', {'n': n}) for n in range(3))", [(3, 3)]),
        ("*[call_tool('a', 'b', {'n': 0}), call_tool('a', 'b', {'n': 1})]", [(2, 2)]),
        ("one(0), one(1)", [(2, 2)]),
        ("two(0), two(1)", [(2, 2), (2, 2)]),
        ("both(0), call_tool('a', 'b', {'n': 2})", [(3, 3)]),
    ],
)
async def test_calls_that_are_awaited_together_are_made_together(
    gathered: str, together: list[tuple[int, int]], tmp_path: Path
) -> None:
    source = (
        "import asyncio\n"
        "async def one(n): return await call_tool('a', 'b', {'n': n})\n"
        "async def two(n):\n  await one(n)\n  return await one(n)\n"
        "async def both(n):\n"
        "  calls = [{'server': 'a', 'tool': 'b', 'args': {'n': n + m}} for m in range(2)]\n"
        "  return await call_tools(calls, max_parallel=2)\n"
        f"await asyncio.gather({gathered})"
    )
    host = Answering()
    async with engines(tmp_path) as made:
        found = await value_of(made, source, host=host)
    flat = [each for one in found for each in (one if isinstance(one, list) else [one])]
    assert [each["result"]["n"] for each in flat] == [*range(len(flat))]
    assert host.together == together


@pytest.mark.parametrize(
    ("source", "code", "line"),
    [
        ("x = 1\ny = (\n", "SYNTAX_ERROR", 3),
        ("x = 1\n\n1 / 0\n", "RUNTIME_ERROR", 3),
        ("def f():\n  return call_tool('a')\nx = 1\nf()", "RUNTIME_ERROR", 2),
        ("\ncall_tool('a', 'b', {'x': {1}})", "SERIALIZATION_ERROR", 2),
        ("\n\ncall_tool('a\\0', 'b')", "INVALID_ARGS", 3),
        ("\n\nunknown", "RUNTIME_ERROR", 3),
        ("\nexec('\\n\\n\\n1 / 0')", "RUNTIME_ERROR", 2),
        ("\n\nfor i in range(99): call_tool('a', 'b')", "MAX_TOOL_CALLS_EXCEEDED", 3),
    ],
)
async def test_what_is_wrong_is_told_with_its_line(source: str, code: str, line: int, tmp_path: Path) -> None:
    async with engines(tmp_path) as made:
        end = await ended(made, source)
        assert end.failure is not None
        assert (end.failure.code, end.failure.line) == (code, line), end


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("call_tool('a')", "call_tool()"),
        ("call_tool('a', 1)", "strings"),
        ("call_tool('a', 'b', [])", "object"),
        ("call_tools({})", "list"),
        ("call_tools([{'server': 'a', 'tool': 'b', 'more': 1}])", "{server, tool, args}"),
        ("call_tools([], max_parallel=0)", "positive"),
        ("call_tools([], 3)", "call_tools()"),
    ],
)
async def test_a_call_of_another_form_is_an_error_that_a_program_can_catch(
    call: str, says: str, tmp_path: Path
) -> None:
    async with engines(tmp_path) as made:
        host = Answering()
        value = await value_of(made, f"x = ''\ntry: {call}\nexcept TypeError as error: x = str(error)\nx", host=host)
        assert says in value
        assert host.made == []


async def test_one_program_leaves_nothing_for_the_next(tmp_path: Path) -> None:
    async with engines(tmp_path) as made:
        await value_of(made, "secret = 'mine'\nlog = 1\nsecret")
        end = await ended(made, "secret")
        assert end.failure is not None
        assert "not defined" in end.failure.message


async def test_without_a_sandbox_nothing_runs(tmp_path: Path) -> None:
    host = Answering()
    async with engines(tmp_path, here=NoSandbox("bwrap is not installed: install bubblewrap")) as made:
        end = await ended(made, "call_tool('a', 'b')", host=host)
    assert end.failure is not None
    assert end.failure.code == "ENGINE_UNAVAILABLE"
    assert "install bubblewrap" in end.failure.message
    assert host.names is None


@pytest.mark.parametrize("found", ["", "1.3.9"])
async def test_another_version_of_the_engine_is_not_used(
    found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(_: str) -> str:
        if not found:
            raise PackageNotFoundError
        return found

    monkeypatch.setattr(engines_module, "version", version)
    async with engines(tmp_path) as made:
        end = await ended(made, "1")
        assert end.failure is not None
        assert "pip install 'mcpguard-firewall[code]'" in end.failure.message


def test_every_part_of_the_engine_is_locked_in_the_version_that_is_wanted() -> None:
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["code"]
    assert sorted(wanted) == sorted(f"{part}=={VERSION}" for part in PARTS)
    for name in ("requirements.txt", "requirements-dev.txt"):
        locked = (ROOT / name).read_text()
        assert all(f"\n{part}=={VERSION} " in locked for part in PARTS)


def test_the_guard_loads_nothing_of_the_engine() -> None:
    code = "import sys\nimport mcpguard.engines.engines\nprint([each for each in sys.modules if 'monty' in each])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert ran.stdout == "[]\n"
