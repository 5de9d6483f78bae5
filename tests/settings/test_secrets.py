"""The value of a secret never shows: in no error, representation, output or schema, wherever it was put."""

import json
import logging
import traceback
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mcpguard.cli.config import app
from mcpguard.settings.document import json_schema, markdown
from mcpguard.settings.fields import leaves, public_values
from mcpguard.settings.layer import SettingsLayer
from mcpguard.settings.load import load
from mcpguard.settings.model import Settings
from mcpguard.settings.problems import SettingOrigin, SettingsError
from tests.settings.samples import as_file

CANARY = "canary-7f3a9"
URL = f"postgresql://guard:{CANARY}@db/guard"
LEAVES = leaves(Settings)


def places(tmp_path: Path, value: str) -> list[tuple[dict[str, object], dict[str, str], Path | None]]:
    """Give the value as the database URL in each way there is."""
    secret, config = tmp_path / "secret", tmp_path / "config.json"
    secret.write_text(value, encoding="utf-8")
    config.write_text(as_file({"store.url": value}), encoding="utf-8")
    return [
        ({"store.url": value}, {}, None),
        ({}, {"MCPGUARD_STORE__URL": value}, None),
        ({}, {"MCPGUARD_STORE__URL_FILE": str(secret)}, None),
        ({}, {}, config),
    ]


def test_no_representation_of_what_was_loaded_shows_it(tmp_path: Path) -> None:
    for cli, environ, config in places(tmp_path, URL):
        loaded = load(cli, environ, config)
        assert loaded.settings.store.url is not None
        assert loaded.settings.store.url.get_secret_value() == URL
        shown = (
            repr(loaded),
            str(loaded.settings),
            loaded.settings.model_dump_json(),
            str(public_values(loaded.settings)),
        )
        assert CANARY not in "".join(shown)


def test_no_error_shows_it(tmp_path: Path) -> None:
    for cli, environ, config in places(tmp_path, f"mysql://{CANARY}"):
        with pytest.raises(SettingsError) as caught:
            load(cli, environ, config)
        assert len(caught.value.problems) == 1
        assert CANARY not in "".join(traceback.format_exception(caught.value)) + repr(caught.value)


@pytest.mark.parametrize("key", LEAVES)
def test_a_secret_put_where_something_else_belongs_does_not_show_either(key: str, tmp_path: Path) -> None:
    values: list[object] = [URL + "\n", [URL], {"password": URL}]
    for value in values:
        config = tmp_path / "config.json"
        config.write_text(as_file({key: value, f"{key}x": value}), encoding="utf-8")
        with pytest.raises(SettingsError) as caught:
            load({}, {f"{LEAVES[key].env}X": URL, LEAVES["listen"].env: URL}, config)
        assert CANARY not in "".join(traceback.format_exception(caught.value)) + repr(caught.value)


def test_a_file_that_breaks_off_in_the_middle_of_it_does_not_show_it(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(as_file({"store.url": URL})[:-5] + '"', encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load({}, {}, config)
    assert CANARY not in "".join(traceback.format_exception(caught.value))


def test_direct_use_of_the_types_does_not_show_it() -> None:
    with pytest.raises(ValueError, match="postgresql") as caught:
        Settings.model_validate({"store": {"url": f"mysql://{CANARY}"}})
    assert CANARY not in "".join(traceback.format_exception(caught.value))


def test_a_layer_does_not_show_it() -> None:
    layer = SettingsLayer("environment")
    layer.put("store.url", URL, SettingOrigin.environment("MCPGUARD_STORE__URL"))
    assert CANARY not in repr(layer) + repr(layer()) + repr(layer.values)


def test_the_library_s_debug_log_does_not_show_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PYDANTIC_SETTINGS_DEBUG", "1")
    with caplog.at_level(logging.DEBUG):
        for cli, environ, config in places(tmp_path, URL):
            load(cli, environ, config)
    assert "store" in caplog.text
    assert CANARY not in caplog.text


def test_no_command_shows_it(tmp_path: Path) -> None:
    for value in (URL, f"mysql://{CANARY}"):
        for _cli, environ, config in places(tmp_path, value)[1:]:
            for command in (["show"], ["show", "-o", "json"], ["check"], ["schema"]):
                env = environ | ({"MCPGUARD_CONFIG": str(config)} if config else {})
                result = CliRunner().invoke(app, command, env=env)
                assert result.exit_code == (1 if value != URL and command != ["schema"] else 0)
                assert CANARY not in result.output + repr(result.exception)


def test_the_schema_and_the_page_hold_no_value_at_all() -> None:
    written = json.dumps(json_schema()) + markdown()
    assert CANARY not in written
    assert "write" in written
    assert json_schema()["$defs"]["StoreSettings"]["properties"]["url"]["anyOf"][0]["writeOnly"] is True
