"""A change does what was asked for and nothing else: every other byte stays, or the file is refused."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.agents.config_files import parse_file
from mcpguard.agents.editing.edit import Edit, apply_edit, servers
from mcpguard.agents.editing.understanding import FileNotUnderstood
from mcpguard.agents.jsonc import plain
from mcpguard.agents.program import EVERY, ConfigFile, FileForm
from mcpguard.agents.programs import PROGRAMS
from tests.agents import homes

ENTRY = {"type": "stdio", "command": "/opt/mcpguard", "args": ["stdio"], "env": {"A": "b"}}
PUT = Edit({"mcpguard": ENTRY})
TAKE = Edit(take=frozenset({"mcpguard"}))
JSON = ConfigFile(Path("x"), ("mcpServers",))
DEEP = ConfigFile(Path("x"), ("mcp", "servers"))
TOML = ConfigFile(Path("x"), ("mcp_servers",), FileForm.TOML)

NAMES = st.text('ab"\\/*,{}[]: \u00e9\u202e', min_size=1, max_size=5)
BLANKS = st.sampled_from(["", " ", "\n", "\r\n\t", "/* } , */", "// ] , }\n", "\n  ", " /*\n\n*/ "])
SCALARS = st.none() | st.booleans() | st.integers(-99, 99) | NAMES
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


def written(draw: Callable[..., Any], value: object) -> str:
    """The value with blanks, comments and trailing commas wherever they may be."""

    def blank() -> str:
        return str(draw(BLANKS))

    match value:
        case dict():
            members = [
                f"{blank()}{json.dumps(name)}{blank()}:{blank()}{written(draw, each)}{blank()}"
                for name, each in value.items()
            ]
            comma = "," + blank() if members and draw(st.booleans()) else ""
            return "{" + blank() + ",".join(members) + comma + "}"
        case list():
            inner = [f"{blank()}{written(draw, each)}{blank()}" for each in value]
            comma = "," + blank() if inner and draw(st.booleans()) else ""
            return "[" + blank() + ",".join(inner) + comma + "]"
        case _:
            return json.dumps(value)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Files as somebody may write them, with servers in them, or an object for them, or nothing of it."""
    held = draw(st.dictionaries(NAMES, VALUES, max_size=3))
    if draw(st.booleans()):
        held["mcpServers"] = draw(st.dictionaries(NAMES, VALUES, max_size=3))
    return (draw(BLANKS) + written(draw, held) + draw(BLANKS)).encode()


def remains(before: bytes, after: bytes) -> bool:
    """Whether all of the one but blanks is in the other, in its order."""
    rest = iter(after)
    return all(each in rest for each in dense(before))


def dense(data: bytes) -> bytes:
    return b"".join(data.split())


@given(files())
def test_what_is_put_is_there_and_every_byte_stays(data: bytes) -> None:
    after = apply_edit(data, JSON, PUT)
    assert servers(after, JSON)["mcpguard"] == ENTRY
    assert remains(data, after)
    assert apply_edit(after, JSON, PUT) == after, "once is enough"


@given(files())
def test_what_is_taken_away_again_leaves_what_was_said_before(data: bytes) -> None:
    back = apply_edit(apply_edit(data, JSON, PUT), JSON, TAKE)
    before = parse_file(data, JSON)
    assert parse_file(back, JSON) == {**before, "mcpServers": before.get("mcpServers", {})}
    if before.get("mcpServers"):
        assert dense(back) == dense(data)


@given(files(), st.data())
def test_any_of_them_goes_alone(data: bytes, choice: st.DataObject) -> None:
    there = servers(data, JSON)
    if not there:
        return
    gone = choice.draw(st.sampled_from(sorted(there)))
    after = apply_edit(data, JSON, Edit(take=frozenset({gone})))
    assert servers(after, JSON) == {name: each for name, each in there.items() if name != gone}
    assert remains(after, data), "nothing was written"
    if not any(mark in json.dumps([gone, there[gone]]) for mark in ("/", "*")):
        assert comments(after)[0] <= comments(data)[0]
        assert comments(after)[1] <= comments(data)[1]


def comments(data: bytes) -> tuple[int, int]:
    """How many may begin in it, of both kinds. Where one ends and the next begins at once, none of the other does."""
    return data.count(b"/*"), data.replace(b"*/", b"*/ ").count(b"//")


@given(st.binary(max_size=120))
def test_whatever_the_bytes_are_they_are_changed_rightly_or_refused(data: bytes) -> None:
    for place in (JSON, TOML):
        try:
            assert servers(apply_edit(data, place, PUT), place)["mcpguard"] == ENTRY
        except FileNotUnderstood as error:
            assert str(error)  # noqa: PT017 - either is right


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_the_files_of_each_program(program: object) -> None:
    for place in program.places(homes.home(), homes.PROJECT):  # type: ignore[attr-defined]
        if EVERY in place.keys or not place.path.exists():
            continue
        data = place.path.read_bytes()
        other = Edit({"guard": ENTRY})
        after = apply_edit(data, place, other)
        assert remains(data, after)
        assert apply_edit(after, place, Edit(take=frozenset({"guard"}))) == data
        both = apply_edit(data, place, Edit({"guard": ENTRY}, frozenset(servers(data, place))))
        assert servers(both, place) == {"guard": ENTRY}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "mcpServers": {\n    "m": {\n      "c": 1\n    }\n  }\n}\n'),
        ("{}", '{\n  "mcpServers": {\n    "m": {\n      "c": 1\n    }\n  }\n}'),
        ('{"a": 1}\n', '{"a": 1, "mcpServers": {"m": {"c": 1}}}\n'),
        ('{"mcpServers": {"a": {}, }}', '{"mcpServers": {"a": {}, "m": {"c": 1}, }}'),
        ('{"mcpServers": null}', '{"mcpServers": {"m": {"c": 1}}}'),
        (
            '\ufeff{\r\n\t"mcpServers": {\r\n\t\t"a": {} // 1\r\n\t}\r\n}\r\n',
            '\ufeff{\r\n\t"mcpServers": {\r\n\t\t"a": {}, // 1\r\n\t\t"m": {\r\n\t\t\t"c": 1\r\n\t\t}\r\n\t}\r\n}\r\n',
        ),
        (
            '{\n    "mcpServers": {\n        // none yet\n    }\n}\n',
            '{\n    "mcpServers": {\n        // none yet\n        "m": {\n            "c": 1\n        }\n    }\n}\n',
        ),
        ('{"mcpServers": {"m": {"url": "y"}, "z": {}}}', '{"mcpServers": {"m": {"c": 1}, "z": {}}}'),
    ],
)
def test_it_is_written_as_the_file_is(before: str, after: str) -> None:
    made = apply_edit(before.encode(), JSON, Edit({"m": {"c": 1}}))
    assert made.decode() == after


def test_a_place_may_be_deeper() -> None:
    made = apply_edit(b'{\n  "mcp": {\n    "inputs": []\n  }\n}\n', DEEP, PUT)
    assert json.loads(made) == {"mcp": {"inputs": [], "servers": {"mcpguard": ENTRY}}}
    assert json.loads(plain(apply_edit(b"// x\n{}", DEEP, PUT))) == {"mcp": {"servers": {"mcpguard": ENTRY}}}


def test_a_table_is_put_and_taken_without_its_neighbours() -> None:
    before = '# mine\na = 1\n\n# of it\n[mcp_servers.a] # x\ncommand = "y"\n\n[mcp_servers.a.env]\nK = "v"\n\n# of b\n[b]\nc = """\n[mcp_servers.a]\n"""'  # noqa: E501
    with pytest.raises(FileNotUnderstood):
        apply_edit(before.encode(), TOML, Edit(take=frozenset({"a"})))
    before = before.replace('"""\n[mcp_servers.a]\n"""', "1")
    after = apply_edit(before.encode(), TOML, Edit({"mcpguard": ENTRY}, frozenset({"a"}))).decode()
    assert after.startswith("# mine\na = 1\n\n# of it\n\n# of b\n[b]\nc = 1\n\n[mcp_servers.mcpguard]\n")
    assert tomllib.loads(after) == {"a": 1, "b": {"c": 1}, "mcp_servers": {"mcpguard": ENTRY}}


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b'{"mcpServers": {"a": {}, "a": {}}}', JSON),
        (b'{"mcpServers": {"mcpguard": 1, "mcpguard": 2}}', JSON),
        (b'{"mcpServers": [1]}', JSON),
        (b'{"mcpServers": "x"}', JSON),
        (b"[]", JSON),
        (b"{", JSON),
        (b'{"a": 1} {"b": 2}', JSON),
        (b"{'a': 1}", JSON),
        (b'{"mcpServers": {"\xff": 1}}', JSON),
        (b'{"x": ' + b"[" * 5000, JSON),
        (b"mcp_servers = {}\n", TOML),
        (b"mcp_servers.a.command = 'x'\n[z]\n", ConfigFile(Path("x"), ("mcp_servers", "a", "command"), FileForm.TOML)),
        (b"[mcp_servers\n", TOML),
        (b"", ConfigFile(Path("x"), ("projects", EVERY, "mcpServers"))),
    ],
)
def test_what_is_not_understood_is_refused(data: bytes, place: ConfigFile) -> None:
    with pytest.raises(FileNotUnderstood):
        apply_edit(data, place, PUT)
