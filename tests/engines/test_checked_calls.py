"""What is known of a program before any of it runs: the tools that it names, and arguments that cannot be right."""

from pathlib import Path

import pytest

from mcpguard.engines.python.written_calls import written_calls
from tests.engines.running import Answering, ended, engines, value_of

pytestmark = pytest.mark.anyio
PAGE = {
    "type": "object",
    "properties": {
        "url": {"type": "string"},
        "depth": {"type": "integer"},
        "mode": {"enum": ["text", "html"]},
        "options": {"type": "object", "properties": {"a-b": {"type": "boolean"}}, "additionalProperties": False},
    },
    "required": ["url"],
    "additionalProperties": False,
}
SCHEMAS = {"page": PAGE}


async def test_tools_that_are_named_are_told_before_anything_runs(tmp_path: Path) -> None:
    host = Answering()
    async with engines(tmp_path) as made:
        named = 'if input:\n  call_tool("a", "never")\ncall_tools([{"server": "b", "tool": "c"}])\n'
        await value_of(made, named + 'name = "d"\ncall_tool(name, name)', host=host)
        assert host.names == [("a", "never"), ("b", "c")]
        await ended(made, "(" * 50_000, host=host)
        assert host.names == []


@pytest.mark.parametrize(
    ("source", "is_found"),
    [
        ("call_tool('a', 'b')", True),
        ("call_tool('a', 'b', x)", True),
        ("call_tool('a', tool='b')", True),
        ("call_tool(server='a', tool='b')", True),
        ("call_tools([{'server': 'a', 'tool': 'b', 'args': {}}])", True),
        ("call_tools(calls=({'server': 'a', 'tool': 'b'},))", True),
        ("call_tools([{'server': 'a', 'tool': 'b', 'args': x} for x in y])", True),
        ("call_tool('a', b)", False),
        ("call_tool(*['a', 'b'])", False),
        ("call_tool(**{'server': 'a', 'tool': 'b'})", False),
        ("f = call_tool; f('a', 'b')", False),
        ("x = {'server': 'a', 'tool': 'b'}", False),
        ("call_tool('a', 'b' * 2)", False),
    ],
)
def test_only_what_is_written_out_is_a_name(source: str, is_found: bool) -> None:
    assert [(each.server, each.tool) for each in written_calls(source).calls] == ([("a", "b")] if is_found else [])


@pytest.mark.parametrize(
    ("call", "line", "says"),
    [
        ("call_tool('web', 'page')", 3, "Missing required key 'url'"),
        ("call_tool('web', 'page', None)", 3, "Missing required key 'url'"),
        ("call_tool('web', 'page', {\n  'depth': 1,\n})", 3, "Missing required key 'url'"),
        ("call_tool('web', 'page', {\n  'url': 1,\n})", 4, 'Invalid value of "url"'),
        ("call_tool('web', 'page', {\n  'url': u,\n  'deep': 1,\n})", 5, '"deep"'),
        ("call_tool('web', 'page', {\n  'url': u,\n  'mode': 'pdf',\n})", 5, '"mode"'),
        ("call_tool('web', 'page', {'url': u,\n  'options': {\n    'a_b': 1}})", 5, '"a_b"'),
        ("call_tools([{'server': 'web', 'tool': 'page', 'args': {\n 'url': []}}])", 4, '"url"'),
        ("[call_tool('web', 'page', {\n 'url': 'a', 'depth': 'x'}) for x in u]", 4, '"depth"'),
        ("if False:\n  call_tool('web', 'page', {})", 4, "'url'"),
        ("await call_tool('web', 'page', {\n  'url': 1})", 4, '"url"'),
    ],
)
async def test_a_wrong_argument_is_told_with_its_line_before_anything_runs(
    call: str, line: int, says: str, tmp_path: Path
) -> None:
    host = Answering(schemas=SCHEMAS)
    async with engines(tmp_path) as made:
        end = await ended(made, f"é = u = 'http://a'\nlog('ran')\n{call}", host=host)
    assert end.failure is not None
    assert (end.failure.code, end.failure.line) == ("INVALID_ARGS", line), end
    assert says in end.failure.message
    assert "TypedDict" not in end.failure.message
    assert "call_tool__" not in end.failure.message
    assert end.logs == ()
    assert host.made == []


@pytest.mark.parametrize(
    "source",
    [
        "call_tool('web', 'page', {'url': input, 'depth': input, 'mode': input, 'options': input})",
        "options = {'a-b': True}\ncall_tool('web', 'page', {'url': str(1), 'options': options})",
        "url = 1\ndef f():\n  call_tool('web', 'page', {'url': url})\nurl = 'a'\nf()",
        "modes = ['te' + 'xt']\ncall_tool('web', 'page', {'url': 'a', 'mode': modes[0]})",
        "args = {'url': 1}\ncall_tool('web', 'page', args)",
        "call_tool('web', 'page', {**{'url': 'a'}})",
        "k = 'url'\ncall_tool('web', 'page', {k: 'a'})",
        "mode = 'te' + 'xt'\ncall_tool('web', 'page', {'url': 'a', 'mode': mode})",
        "call_tool('web', 'page', {'url': f'a{1}', 'depth': 3 // 2, 'options': dict()})",
        "def call_tool(*given): return given\ncall_tool('web', 'page', {'wrong': 1})",
        "call_tool('web', 'other', {'wrong': 1})",
        "call_tool('web', 'page', {'url': 'a', 'depth': 0x" + "f" * 5000 + " if False else 1})",
        "x: int = 's'\ncall_tool('web', 'page', {'url': 'a'})\nx",
    ],
)
async def test_nothing_is_refused_for_what_a_value_might_be(source: str, tmp_path: Path) -> None:
    async with engines(tmp_path) as made:
        await value_of(made, source, host=Answering(schemas=SCHEMAS))


async def test_what_runs_is_the_program_as_it_came(tmp_path: Path) -> None:
    source = (
        "x = call_tool('web', 'page', {'url': 'a'})\n[x['ok'], eval('call_tool')('web', 'page', {'url': 'b'})['ok']]"
    )
    async with engines(tmp_path) as made:
        assert await value_of(made, source, host=Answering(schemas=SCHEMAS)) == [True, True]
        end = await ended(made, "call_tool__0('web', 'page')", host=Answering(schemas=SCHEMAS))
        assert end.failure is not None
        assert "not defined" in end.failure.message


async def test_a_schema_that_is_hostile_itself_refuses_nothing(tmp_path: Path) -> None:
    evil: dict[str, object] = {"type": "object", "properties": {}, "required": ["x"]}
    evil["properties"] = {
        '"}): ...\nimport os\n#': {"type": "string"},
        "x": {"enum": ["'''\n", "\\", "\u2028", "]"]},
        "y": {"anyOf": [{"$ref": "#"}] * 50},
        "z": {"$ref": "#/properties/z"},
    }
    async with engines(tmp_path) as made:
        source = "call_tool('web', 'page', {'x': ']', 'y': 1, 'z': {}, 'more': 2})['ok']"
        assert await value_of(made, source, host=Answering(schemas={"page": evil})) is True


async def test_a_program_may_name_more_tools_than_can_be_compared(tmp_path: Path) -> None:
    wide = {"type": "object", "properties": {f"p{n}": {"type": "string", "enum": ["x" * 100]} for n in range(90)}}
    names = [f"t{n}" for n in range(300)]
    source = "\n".join(f"if input: call_tool('a', '{name}', {{'p0': 1}})" for name in reversed(names))
    async with engines(tmp_path) as made:
        host = Answering(schemas=dict.fromkeys(names, wide))
        end = await ended(made, source, host=host)
        assert end.failure is not None
        assert end.failure.code == "INVALID_ARGS"
        assert "more" in end.failure.message, "not all of them"
        assert len(end.failure.message) < 2000
