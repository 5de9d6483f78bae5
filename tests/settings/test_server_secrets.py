"""Nothing that a file says makes the reader raise, and no value of it is shown by anything."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from mcpguard.cli.config import app
from mcpguard.domain.servers.upstreams import NAME
from mcpguard.settings.entries.servers import declared_servers
from mcpguard.settings.load import load
from mcpguard.settings.problems import SettingsError
from mcpguard.text.visible import visible
from tests.settings.entries import CANARY, remote, stdio
from tests.settings.samples import WriteFile

VALUES = [
    CANARY,
    f"a{CANARY}\r\n",
    f"${{{CANARY}",
    f"${{{CANARY}}}",
    f"${{env:{CANARY}}}",
    f"${{X:-{CANARY}}}",
    f"{CANARY}\0",
]
MISPLACED: list[Any] = [CANARY, [CANARY], {"a": CANARY}, {"A": [CANARY]}]
KEYS = [
    "command", "args", "env", "cwd", "working_dir", "type", "transport", "protocol", "url", "httpUrl", "serverUrl",
    "headers", "framing", "era", "timeout", "disabled", "enabled", "quarantined", "other", "id", "name",
]  # fmt: skip


def all_said(path: Path) -> str:
    """Everything that is said about a file, by the types and by the commands."""
    runs = [CliRunner().invoke(app, [*command, str(path)]) for command in (["check"], ["show", "--config"])]
    runs.append(CliRunner().invoke(app, ["show", "-o", "json", "--config", str(path)]))
    try:
        loaded = repr(load({}, {}, path))
    except SettingsError as error:
        loaded = repr(error)
    return loaded + "".join(run.output + repr(run.exception) for run in runs)


@pytest.mark.parametrize("value", VALUES)
def test_a_literal_value_is_shown_nowhere(value: str, write: WriteFile) -> None:
    entries = {"a": stdio(env={"A": value}), "b": remote(headers={"A": value}), "c": remote(headers={"Host": value})}
    path = write(json.dumps({"mcpServers": entries}))
    assert CANARY not in all_said(path)


@pytest.mark.parametrize("key", KEYS)
def test_a_value_that_stands_in_the_wrong_place_is_in_no_sentence(key: str) -> None:
    for value in MISPLACED:
        for entry in (stdio(), remote()):
            found = declared_servers(
                {"mcpServers": {"x": entry | {key: value}}, "servers": [entry | {key: value, "x": CANARY}]}
            )
            assert CANARY not in "".join(found.problems + found.notices)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(VALUES),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8) | st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=12,
)
ENTRIES = st.fixed_dictionaries(
    {},
    optional={
        "command": st.sampled_from(["x", ""]) | JSON,
        "args": st.lists(st.text(max_size=5), max_size=3) | JSON,
        "env": st.dictionaries(st.sampled_from(["A", "B_1", "1"]), st.sampled_from(VALUES)) | JSON,
        "url": st.sampled_from(["https://h/", "http://[::1]:1/", "http://[", "https://h:x"]) | st.text() | JSON,
        "headers": st.dictionaries(st.sampled_from(["A", "Host", "a b"]), st.sampled_from(VALUES)) | JSON,
        "type": st.sampled_from(["stdio", "http", "sse"]) | JSON,
        "timeout": st.floats() | st.integers() | JSON,
        **dict.fromkeys(("cwd", "framing", "era", "disabled", "enabled", "name", "id", "quarantined"), JSON),
    },
)
PLACES = st.dictionaries(st.text(max_size=6), ENTRIES | JSON, max_size=4) | st.lists(ENTRIES | JSON, max_size=4) | JSON


@given(st.dictionaries(st.text(max_size=6), JSON, max_size=3), PLACES, PLACES)
def test_no_file_makes_the_reader_raise_or_repeat_a_literal(
    besides: dict[str, object], first: object, second: object
) -> None:
    found = declared_servers(besides | {"mcpServers": first, "servers": second})
    names = [each.name for each in found.servers]
    assert len(names) == len(set(names))
    assert all(NAME.fullmatch(name) for name in names)
    told = "".join(found.problems + found.notices)
    assert visible(told) == told
    if not any(CANARY in name for name in names_in([besides, first, second])):
        assert CANARY not in told


def names_in(value: object) -> list[str]:
    """What may be told: all keys, and what lists of servers have for labels."""
    if isinstance(value, list):
        return [name for each in value for name in names_in(each)]
    if isinstance(value, dict):
        labels = [str(value[key]) for key in ("id", "name") if key in value]
        return [*value, *labels, *(name for each in value.values() for name in names_in(each))]
    return []
