"""The law of precedence: whatever layers give a value, the highest wins, and the source says so."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.settings.fields import leaves
from mcpguard.settings.layer import nest_keys
from mcpguard.settings.load import load
from mcpguard.settings.model import Settings
from tests.settings.samples import SAMPLES, as_file, as_text

LEAVES = leaves(Settings)
LAYERS = ("command line", "environment", "file")


@given(st.dictionaries(st.sampled_from(sorted(SAMPLES)), st.sets(st.sampled_from(LAYERS))))
def test_the_highest_layer_wins_and_the_source_says_so(
    tmp_path_factory: pytest.TempPathFactory, given_in: dict[str, set[str]]
) -> None:
    def in_layer(layer: str) -> dict[str, object]:
        return {key: SAMPLES[key][LAYERS.index(layer)] for key, places in given_in.items() if layer in places}

    path = tmp_path_factory.getbasetemp() / "precedence.json"
    path.write_text(as_file(in_layer("file")), encoding="utf-8")
    environ = {LEAVES[key].env: as_text(value) for key, value in in_layer("environment").items()}

    loaded = load(in_layer("command line"), environ, path)

    winning = in_layer("file") | in_layer("environment") | in_layer("command line")
    assert loaded.settings == Settings.model_validate(nest_keys(winning))
    assert loaded.config_file == path
    for key, leaf in LEAVES.items():
        highest = next((layer for layer in LAYERS if layer in given_in.get(key, ())), "default")
        assert (
            loaded.sources[key]
            == {
                "command line": "command line --" + key.replace(".", "-").replace("_", "-"),
                "environment": f"environment {leaf.env}",
                "file": f"file {path}",
                "default": "default",
            }[highest]
        )


def test_a_value_that_is_overridden_is_not_judged(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text('{"mcpguard": {"listen": {"host": 1}}}', encoding="utf-8")
    assert load({"listen": "[::1]:1"}, {"MCPGUARD_LISTEN": "nonsense"}, path).settings.listen == "[::1]:1"


def test_an_option_that_was_not_given_overrides_nothing() -> None:
    loaded = load({"listen": None}, {"MCPGUARD_LISTEN": "[::1]:1"}, None)
    assert loaded.sources["listen"] == "environment MCPGUARD_LISTEN"


def test_what_an_option_stands_for_gives_way_to_whatever_is_said() -> None:
    demo = {"holds.calls": ["destructive of demo-notes"], "separator": "."}
    loaded = load({}, {"MCPGUARD_SEPARATOR": "__"}, None, demo)
    assert loaded.settings.holds.calls == ("destructive of demo-notes",)
    assert loaded.sources["holds.calls"] == "command line --demo"
    assert (loaded.settings.separator, loaded.sources["separator"]) == ("__", "environment MCPGUARD_SEPARATOR")


def test_groups_are_merged_and_lists_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(as_file({"hosts": ["a", "b"], "store.readers": 5, "store.batch": 6}), encoding="utf-8")
    settings = load({}, {"MCPGUARD_HOSTS": "c", "MCPGUARD_STORE__BATCH": "7"}, path).settings
    assert (settings.hosts, settings.store.readers, settings.store.batch) == (("c",), 5, 7)


def test_only_the_environment_that_is_handed_in_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPGUARD_LISTEN", "127.0.0.1:1")
    monkeypatch.setenv("MCPGUARD_NO_SUCH", "1")
    monkeypatch.setenv("MCPGUARD", "{}")
    assert set(load({}, {}, None).sources.values()) == {"default"}
