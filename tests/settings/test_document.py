"""docs/settings.md is what the models say, and what it says is true."""

import json
from pathlib import Path

from mcpguard.settings.document import EXAMPLE, json_schema, markdown
from mcpguard.settings.fields import groups, leaves
from mcpguard.settings.load import load
from mcpguard.settings.model import Settings
from mcpguard.settings.phrases import kind_phrase

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"
LEAVES = leaves(Settings)


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == markdown(), "docs/settings.md is out of date; run: make docs"


def test_every_setting_is_on_the_page_with_all_that_is_known_of_it() -> None:
    rows = {line.split("|")[1].strip(" `"): line for line in markdown().splitlines() if line.startswith("| `")}
    assert list(rows) == [key for key in LEAVES if "." not in key] + [key for key in LEAVES if "." in key]
    for key, leaf in LEAVES.items():
        assert rows[key].count("|") == 7
        for fact in (leaf.env, leaf.env_file or "", kind_phrase(leaf), leaf.applies[0], leaf.field.description or ""):
            assert fact in rows[key]
        assert ("| restart, confirmed |" in rows[key]) == (leaf.trust is not None)


def test_nothing_of_this_machine_is_on_the_page_or_in_the_schema(home: Path) -> None:
    written = markdown() + json.dumps(json_schema())
    for path in (home, Settings().data_dir, Path.cwd()):
        assert str(path) not in written
    assert "the user's data folder" in written


def test_the_example_is_a_valid_file(tmp_path: Path) -> None:
    path = tmp_path / "example.json"
    path.write_text(EXAMPLE, encoding="utf-8")
    loaded = load({}, {}, path)
    assert (loaded.settings.listen, loaded.settings.log.level) == ("127.0.0.1:9090", "debug")
    assert EXAMPLE in markdown()


def test_the_schema_has_every_setting_and_closes_every_object() -> None:
    schema = json_schema()
    objects = {"": schema} | {
        f"{name}.": schema["$defs"][schema["properties"][name]["$ref"].rpartition("/")[2]] for name in groups(Settings)
    }
    found = {
        prefix + name: member
        for prefix, each in objects.items()
        for name, member in each["properties"].items()
        if "$ref" not in member
    }
    assert set(found) == set(LEAVES)
    assert all(each["additionalProperties"] is False for each in objects.values())
    for key, member in found.items():
        assert member["description"] == LEAVES[key].field.description
        assert member["x-applies"] == LEAVES[key].applies[0]
        assert member.get("x-trust", False) == (LEAVES[key].trust is not None)
    assert (found["store.readers"]["minimum"], found["store.readers"]["maximum"]) == (1, 16)
    assert found["store.busy_timeout"]["exclusiveMinimum"] == 0
