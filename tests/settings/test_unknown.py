"""A setting that does not exist is refused wherever it stands, and the nearest one that does is named."""

import json

import pytest

from mcpguard.settings.fields import Leaf, groups, leaves
from mcpguard.settings.load import load
from mcpguard.settings.model import Settings
from mcpguard.settings.problems import SettingsError
from tests.settings.samples import WriteFile, as_file

LEAVES = leaves(Settings)
KEYS = [*LEAVES, *groups(Settings)]


def misspelt(name: str, start: int) -> list[str]:
    """Leave out each letter from `start` in turn, and double each."""
    places = range(start, len(name))
    return [name[:at] + name[at + 1 :] for at in places] + [name[:at] + name[at] + name[at:] for at in places]


@pytest.mark.parametrize("key", KEYS)
def test_a_misspelt_key_of_the_file_is_refused_at_every_depth(key: str, write: WriteFile) -> None:
    group = key.rpartition(".")[0]
    for wrong in misspelt(key, len(group) + 1 if group else 0):
        if wrong.endswith(".") or not wrong:
            continue
        path = write(as_file({wrong: {}}))
        with pytest.raises(SettingsError) as caught:
            load({}, {}, path)
        assert caught.value.problems == (f"mcpguard.{wrong} in {path} is not a setting; did you mean {key}?",)


@pytest.mark.parametrize("leaf", LEAVES.values(), ids=LEAVES.keys())
def test_a_misspelt_variable_is_refused(leaf: Leaf) -> None:
    name = leaf.env
    for wrong in misspelt(name, len("MCPGUARD_")):
        if wrong in {name, "MCPGUARD_"}:
            continue
        with pytest.raises(SettingsError) as caught:
            load({}, {wrong: "canary"}, None)
        (problem,) = caught.value.problems
        assert problem == f"{wrong} in the environment is not a setting; did you mean {name}?"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("mcpguard_listen", "MCPGUARD_LISTEN"),
        ("MCPGUARD_STORE_URL", "MCPGUARD_STORE__URL"),
        ("MCPGUARD_STORE__URLFILE", "MCPGUARD_STORE__URL_FILE"),
        ("MCPGUARD_LISTEN_FILE", "MCPGUARD_LISTEN"),
        ("MCPGUARD_CONFIG_FILE", "MCPGUARD_CONFIG"),
        ("MCPGUARD_TOKN", "MCPGUARD_TOKEN"),
        ("MCPGUARD_BUSY_TIMEOUT", "MCPGUARD_STORE__BUSY_TIMEOUT"),
    ],
)
def test_the_name_that_was_meant_is_found(name: str, meant: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load({}, {name: "x"}, None)
    assert caught.value.problems == (f"{name} in the environment is not a setting; did you mean {meant}?",)


def test_a_key_in_the_wrong_place_is_found_by_its_last_part(write: WriteFile) -> None:
    path = write('{"mcpguard": {"busy_timeout": 1, "limits": {"batch": 1}}}')
    with pytest.raises(SettingsError) as caught:
        load({"level": "debug"}, {}, path)
    assert caught.value.problems == (
        "--level on the command line is not a setting; did you mean log.level?",
        f"mcpguard.busy_timeout in {path} is not a setting; did you mean store.busy_timeout?",
        f"mcpguard.limits.batch in {path} is not a setting; did you mean store.batch?",
    )


def test_a_hostile_key_is_shown_harmlessly_and_short(write: WriteFile) -> None:
    path = write(json.dumps({"mcpguard": {"\x1b[31m\u202e": 1, "x" * 10_000: 1}}))
    with pytest.raises(SettingsError) as caught:
        load({}, {}, path)
    first, second = caught.value.problems
    assert first.startswith("mcpguard.\\u001b[31m\\u202e in ")
    assert len(second) < 300


def test_keys_of_others_are_not_looked_at(write: WriteFile) -> None:
    path = write('{"mcpServers": 5, "servers": [], "permissions": {"allow": []}, "inputs": {"mcpguard": {"x": 1}}}')
    assert set(load({}, {}, path).sources.values()) == {"default"}
