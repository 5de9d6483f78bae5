"""The files of programs, read: comments, limits, and what a hostile one can do, which is nothing but not be read."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.agents.config_files import LARGEST_FOREIGN, Contents, Unclear, contents, parse_file, read_file, read_files
from mcpguard.agents.jsonc import plain
from mcpguard.agents.program import ConfigFile, FileForm
from mcpguard.agents.programs import BY_NAME, PROGRAMS
from tests.agents.homes import PROJECT, home
from tests.cli.command import HOSTILE, inert

CLAUDE = BY_NAME["claude-code"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('/*,"\\]}{[ \n\ra', max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('/*,"\\ b', max_size=4), inner, max_size=3),
    max_leaves=12,
)


def foreign(tmp_path: Path, data: bytes, form: FileForm = FileForm.JSON) -> Contents:
    path = tmp_path / "declared"
    path.write_bytes(data)
    keys = ("mcp_servers",) if form is FileForm.TOML else ("mcpServers",)
    return contents(CLAUDE, ConfigFile(path, keys, form, "project", folder=tmp_path), home())


@given(JSON)
def test_json_is_left_as_it_is(value: object) -> None:
    for text in (json.dumps(value), json.dumps(value, indent=2)):
        assert plain(text.encode()) == text.encode()


@given(JSON)
def test_comments_and_trailing_commas_change_nothing(value: object) -> None:
    text = json.dumps({"it": value, "list": [value]}, indent=1)
    commented = '// a "b" }\n' + text.replace("\n", ' // , ]\n/* " , } */').removesuffix("}") + ", /* end */ }\n//"
    assert json.loads(plain(commented.encode())) == json.loads(text)


def test_everything_stays_where_it_is() -> None:
    text = '\ufeff{ // é\r\n "a": 1, /* \n */ }\r\n'
    made = plain(text.encode()).decode()
    assert [made.index(each) for each in '{"}'] == [text.index(each) - 1 for each in '{"}'], "but for the mark"
    assert [made.count(end) for end in "\r\n"] == [text.count(end) for end in "\r\n"]
    assert json.loads(made) == {"a": 1}


def test_a_home_without_programs_has_nothing(tmp_path: Path) -> None:
    for program in PROGRAMS:
        for each in read_files(program, home(tmp_path), tmp_path):
            assert (each.there, each.items, each.problem) == (False, (), "")


@pytest.mark.parametrize("data", [b"", b"\n", b"\xef\xbb\xbf", b"{}", b'{"mcpServers": {}}', b'{"mcpServers": null}'])
def test_a_file_with_nothing_in_it_declares_nothing(tmp_path: Path, data: bytes) -> None:
    found = foreign(tmp_path, data)
    assert (found.there, found.items, found.problem) == (True, (), "")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b" " * (LARGEST_FOREIGN + 1), "larger"),
        (b'{"mcpServers": ' + b"[" * 500_000, "deeper"),
        (b'{"mcpServers": {"a": {}, "a": {}}}', "duplicate"),
        (b'{"mcpServers": {"a\x00": {}}}', "line 1"),
        (b'{"mcpServers": {"a": "\xff"}}', "UTF-8"),
        (b'{"mcpServers": [NaN]}', "NaN"),
        (b'{"mcpServers": "x"}', "object"),
        (b'{"mcpServers": [1]}', "object"),
        (b"[]", "object"),
        (b'{"mcpServers": {} /* never ends', "line 1"),
        (b'{"mcpServers": {"\\ud800": 1}}', "surrogate"),
        (json.dumps({"mcpServers": {str(n): {} for n in range(501)}}).encode(), "more than 500"),
        (('{"mcpServers": {' + f"{json.dumps(HOSTILE)}: 1, " * 2 + '"x": 1}}').encode(), "duplicate"),
    ],
    ids=range(13),
)
def test_a_hostile_file_costs_itself_only(tmp_path: Path, data: bytes, said: str) -> None:
    found = foreign(tmp_path, data)
    assert said in found.problem
    assert inert(found.problem)
    assert found.items == ()


@pytest.mark.parametrize(
    "data",
    [
        b"mcp_servers = " + b"[" * 100_000,
        b"a." * 300_000 + b"b = 1",
        b"x = {" + b"a ." * 300_000 + b"b = 1}",
        b'[mcp_servers.a]\ncommand = "x"\n[mcp_servers.a]\n',
        b"x = 1\nx = 2",
        b'secret = "hunter2',
        b"mcp_servers = 1",
        b"\xff",
        b"x = " + b"9" * 10_000,
    ],
    ids=range(9),
)
def test_so_does_one_of_toml(tmp_path: Path, data: bytes) -> None:
    found = foreign(tmp_path, data, FileForm.TOML)
    assert found.problem
    assert "hunter2" not in found.problem
    assert found.items == ()


@given(st.binary(max_size=200), st.sampled_from(FileForm))
def test_whatever_the_bytes_are_they_are_read_or_refused(data: bytes, form: FileForm) -> None:
    try:
        assert isinstance(parse_file(data, ConfigFile(Path("x"), (), form)), dict)
    except Unclear as error:
        assert inert(str(error))  # noqa: PT017 - either is right


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".mcp.json")
    (tmp_path / ".cursor" / "mcp.json").mkdir(parents=True)
    for name in ("claude-code", "cursor"):
        [found] = [each for each in read_files(BY_NAME[name], home(tmp_path / "none"), tmp_path) if each.there]
        assert "not a regular file" in found.problem


def test_a_file_that_may_not_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").symlink_to(".mcp.json")
    with pytest.raises(Unclear, match="cannot be read"):
        read_file(ConfigFile(tmp_path / ".mcp.json", ()))


def test_one_bad_place_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / ".claude.json").write_text('{"mcpServers": {"a": {"command": "x"}}, "projects": []}')
    every = read_files(CLAUDE, home(tmp_path), PROJECT)
    assert [(each.place.scope, len(each.items), bool(each.problem)) for each in every] == [
        ("user", 1, False),
        ("local", 0, True),
        ("project", 2, False),
    ]
