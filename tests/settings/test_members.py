"""An entry out of a declaration and back, and what a patch makes of it: laws for every launch, and the words."""

import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.codec.names import server_name_for
from mcpguard.domain.decisions import NotDeclared
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.servers.launches import (
    DeclaredServer,
    Era,
    Mount,
    Profile,
    RemoteLaunch,
    StdioFraming,
    StdioLaunch,
)
from mcpguard.domain.servers.upstreams import Transport
from mcpguard.settings.entries.members import apply_patch, as_members, server_from_entry
from tests.settings.entries import CANARY, remote, stdio

PLAIN = st.text(max_size=20).filter(lambda text: "\0" not in text and "${" not in text)
WORDS = PLAIN.filter(lambda text: bool(text.strip()))
VALUES = st.lists(st.sampled_from(["${env:A}", "${file:/run/a}", "plain", "$", "}"]), max_size=3).map(" ".join)
VARIABLES = st.dictionaries(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]*", fullmatch=True), PLAIN | VALUES, max_size=3)
HEADERS = st.dictionaries(st.sampled_from(["Authorization", "X-Key", "cookie"]), VALUES, max_size=3)
FOLDERS = st.none() | st.just("/srv") | st.just(str(PurePosixPath("/srv/a b")))
MOUNTS = st.dictionaries(st.sampled_from(["/a", "/b c", "/"]), st.booleans()).map(
    lambda some: tuple(Mount(path, writable) for path, writable in some.items())
)
STDIO = st.builds(
    StdioLaunch,
    WORDS,
    st.lists(PLAIN, max_size=3).map(tuple),
    VARIABLES,
    FOLDERS,
    st.sampled_from(StdioFraming),
    st.sampled_from(Profile),
    MOUNTS,
)
URLS = st.sampled_from(["https://h/", "http://127.0.0.1:8080/mcp?key=v", "https://[2001:db8::1]:1/sse"])
REMOTE = st.builds(RemoteLaunch, st.sampled_from([Transport.HTTP, Transport.SSE]), URLS, HEADERS)


def folds(label: str) -> bool:
    try:
        return bool(server_name_for(label))
    except InvalidName:
        return False


LABELS = st.text(min_size=1, max_size=40).filter(folds)
SECONDS = st.floats(min_value=0.001, max_value=3600)
DECLARED = st.builds(
    lambda label, *rest: DeclaredServer(server_name_for(label), label, *rest),
    LABELS,
    STDIO | REMOTE,
    st.booleans(),
    st.none() | SECONDS,
    st.sampled_from(Era),
)
KEYS = st.sampled_from(
    [
        "command",
        "args",
        "env",
        "headers",
        "cwd",
        "working_dir",
        "url",
        "httpUrl",
        "type",
        "enabled",
        "disabled",
        "A",
        "a",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)
ENTRIES = st.dictionaries(KEYS, JSON, max_size=6)


def after(before: DeclaredServer, patch: Mapping[str, object]) -> DeclaredServer:
    return server_from_entry(before.label, apply_patch(as_members(before), patch))


def problems(label: str, members: Mapping[str, object]) -> tuple[str, ...]:
    with pytest.raises(NotDeclared) as caught:
        server_from_entry(label, members)
    assert str(caught.value).endswith(": " + "; ".join(caught.value.problems))
    return caught.value.problems


# Laws.


@pytest.mark.parametrize("path", ["/a", "/a:rw", "/a:ro", "/a:rw:ro", "/a:ro:rw", "/a:b"])
@pytest.mark.parametrize("writable", [True, False])
def test_a_folder_that_may_be_written_to_is_no_other_whatever_its_name_is(path: str, *, writable: bool) -> None:
    declared = DeclaredServer("web", "web", StdioLaunch("x", mounts=(Mount(path, writable),)))
    assert server_from_entry("web", as_members(declared)) == declared


@given(DECLARED)
def test_an_entry_declares_what_it_was_made_of_also_when_it_was_written_down(declared: DeclaredServer) -> None:
    assert server_from_entry(declared.label, as_members(declared)) == declared
    assert server_from_entry(declared.label, json.loads(json.dumps(as_members(declared)))) == declared


@given(ENTRIES)
def test_an_empty_patch_changes_nothing(members: dict[str, Any]) -> None:
    assert apply_patch(members, {}) == members


@given(ENTRIES, ENTRIES)
def test_a_patch_may_come_twice_and_leaves_what_it_is_given(members: dict[str, Any], patch: dict[str, Any]) -> None:
    before = json.dumps([members, patch])
    once = apply_patch(members, patch)
    assert apply_patch(once, patch) == once
    assert json.dumps([members, patch]) == before


@given(ENTRIES, KEYS)
def test_null_removes_and_nothing_else_goes(members: dict[str, Any], key: str) -> None:
    meant = {"working_dir": "cwd", "httpUrl": "url", "disabled": "enabled"}.get(key, key)
    assert apply_patch(members, {key: None}) == {name: value for name, value in members.items() if name != meant}


@given(DECLARED, DECLARED)
def test_a_patch_that_names_every_key_makes_any_server_of_any_other(
    before: DeclaredServer, wanted: DeclaredServer
) -> None:
    cleared = dict.fromkeys(as_members(before), None)
    emptied = apply_patch(as_members(before), cleared)
    assert emptied == {}
    assert server_from_entry(wanted.label, apply_patch(emptied, as_members(wanted))) == wanted


@given(STDIO, REMOTE)
def test_a_command_and_a_url_together_are_refused(launch: StdioLaunch, other: RemoteLaunch) -> None:
    both = apply_patch(as_members(DeclaredServer("x", "x", launch)), as_members(DeclaredServer("x", "x", other)))
    assert problems("x", both)[0] == "x has both a command and a url; give one of them"


# What a patch says.

IN_THE_LIST = "cannot be combined with a command that is a list; put the arguments into the list"
TWICE = "differs from httpUrl; give only one of them"
SERVER = DeclaredServer(
    "x", "x", StdioLaunch("npx", ("-y", "a"), {"A": "1", "B": "${env:B}"}, "/srv", StdioFraming.HEADERS), False, 30.0
)
WEB = DeclaredServer("x", "x", RemoteLaunch(Transport.SSE, "https://h/", {"Authorization": "old", "X-A": "1"}))


@pytest.mark.parametrize(
    ("patch", "launch"),
    [
        (
            {"env": {"A": "2"}},
            StdioLaunch("npx", ("-y", "a"), {"A": "2", "B": "${env:B}"}, "/srv", StdioFraming.HEADERS),
        ),
        ({"env": {"A": None}}, StdioLaunch("npx", ("-y", "a"), {"B": "${env:B}"}, "/srv", StdioFraming.HEADERS)),
        ({"env": None, "framing": None}, StdioLaunch("npx", ("-y", "a"), {}, "/srv")),
        ({"args": ["b"], "env": None, "framing": None, "cwd": None}, StdioLaunch("npx", ("b",))),
        (
            {"command": ["uvx", "b"], "env": None, "framing": None, "working_dir": "/b"},
            StdioLaunch("uvx", ("b",), {}, "/b"),
        ),
        ({"command": None, "args": None, "url": "https://h/"}, RemoteLaunch(Transport.HTTP, "https://h/")),
        (
            {"command": None, "args": None, "serverUrl": "https://h/", "transport": "sse", "headers": {"X-A": "1"}},
            RemoteLaunch(Transport.SSE, "https://h/", {"X-A": "1"}),
        ),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else "",
)
def test_what_a_patch_does_to_a_process(patch: dict[str, object], launch: StdioLaunch | RemoteLaunch) -> None:
    assert after(SERVER, patch) == DeclaredServer("x", "x", launch, enabled=False, timeout=30.0)


@pytest.mark.parametrize(
    ("patch", "launch"),
    [
        (
            {"headers": {"authorization": "new"}},
            RemoteLaunch(Transport.SSE, "https://h/", {"X-A": "1", "authorization": "new"}),
        ),
        (
            {"headers": {"AUTHORIZATION": None, "X-B": "2"}},
            RemoteLaunch(Transport.SSE, "https://h/", {"X-A": "1", "X-B": "2"}),
        ),
        ({"httpUrl": "https://i/", "type": None, "headers": None}, RemoteLaunch(Transport.HTTP, "https://i/")),
        ({"url": None, "type": None, "command": "x"}, StdioLaunch("x")),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else "",
)
def test_what_a_patch_does_to_a_url(patch: dict[str, object], launch: StdioLaunch | RemoteLaunch) -> None:
    assert after(WEB, patch) == DeclaredServer("x", "x", launch)


@pytest.mark.parametrize("patch", [{"disabled": False}, {"enabled": True}, {"disabled": None}, {"enabled": None}])
def test_it_is_enabled_by_whichever_word(patch: dict[str, object]) -> None:
    assert after(SERVER, patch).enabled
    assert not after(after(SERVER, patch), {"disabled": True}).enabled


@pytest.mark.parametrize(
    ("before", "patch", "sentence"),
    [
        (SERVER, {"url": "https://h/"}, "x has both a command and a url; give one of them"),
        (WEB, {"command": "x"}, "x has both a command and a url; give one of them"),
        (SERVER, {"command": None}, "x must have a command or a url"),
        (WEB, {"url": None, "command": "x"}, "x.type is sse, which needs a url"),
        (SERVER, {"command": ["a"], "args": ["b"]}, f"x.args {IN_THE_LIST}"),
        (SERVER, {"env": {"A": 5}}, "x.env.A must be a string"),
        (SERVER, {"env": [CANARY]}, "x.env must be an object of strings"),
        (WEB, {"headers": {"X-a": CANARY, "x-A": "2"}}, "x.headers has x-A, which is given twice"),
        (SERVER, {"disabled": CANARY}, "x.disabled must be true or false"),
        (WEB, {"url": "https://h/", "httpUrl": f"https://{CANARY}/"}, "x.url " + TWICE),
    ],
)  # fmt: skip
def test_what_declares_no_server_after_a_patch_is_told_in_a_sentence(
    before: DeclaredServer, patch: dict[str, object], sentence: str
) -> None:
    told = problems("x", apply_patch(as_members(before), patch))
    assert told == (sentence,)
    assert CANARY not in str(told)


def test_nothing_that_would_grant_trust_is_taken_in() -> None:
    members = apply_patch(as_members(SERVER), {"quarantined": False, "autoApprove": ["*"]})
    assert server_from_entry("x", members) == SERVER
    with pytest.raises(NotDeclared) as caught:
        server_from_entry("x", members | {"url": "https://h/"})
    assert caught.value.notices[0] == "x: ignored quarantined, autoApprove (nothing in a file approves a server)"


def test_what_is_said_of_a_strange_label_shows_it_harmlessly() -> None:
    assert problems("my server", {}) == ('"my server" must have a command or a url',)
    assert problems("\x1b[31m", stdio(cwd=5)) == ('"⟨U+001B⟩[31m".cwd must be a string',)
    assert problems("", remote()) == ('"" must have a letter a to z or a digit in its name',)
