"""The configuration file: which one is read, and what is said when it cannot be."""

from pathlib import Path

import pytest

from mcpguard.settings.file import LARGEST_FILE
from mcpguard.settings.load import load
from mcpguard.settings.problems import SettingsError
from tests.settings.samples import WriteFile, as_file


def problems(config: Path | None, environ: dict[str, str] | None = None) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        load({}, environ or {}, config)
    return caught.value.problems


def test_the_file_is_sought_on_the_command_line_then_in_the_environment_then_at_the_usual_place(
    home: Path, tmp_path: Path
) -> None:
    usual = home / "config" / "mcpguard" / "config.json"
    usual.parent.mkdir(parents=True)
    named, asked = tmp_path / "named.json", tmp_path / "asked.json"
    for port, path in enumerate((usual, named, asked)):
        path.write_text(as_file({"listen": f"127.0.0.1:{port}"}), encoding="utf-8")
    try:
        for port, path, loaded in (
            (0, usual, load({}, {}, None)),
            (1, named, load({}, {"MCPGUARD_CONFIG": str(named)}, None)),
            (2, asked, load({}, {"MCPGUARD_CONFIG": str(named)}, asked)),
        ):
            assert (loaded.settings.address[1], loaded.config_file) == (port, path)
            assert loaded.sources["listen"] == f"file {path}"
    finally:
        usual.unlink()
        usual.parent.rmdir()


def test_without_a_file_the_defaults_hold() -> None:
    loaded = load({}, {}, None)
    assert loaded.config_file is None
    assert set(loaded.sources.values()) == {"default"}


def test_a_file_that_was_named_must_exist(tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    assert problems(path) == (f"{path}, named on the command line, does not exist",)
    assert problems(None, {"MCPGUARD_CONFIG": str(path)}) == (
        f"{path}, named by MCPGUARD_CONFIG in the environment, does not exist",
    )
    assert problems(tmp_path) == (f"{tmp_path}, named on the command line, cannot be read: Is a directory",)


def test_a_relative_name_is_reported_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert problems(Path("none.json")) == (f"{tmp_path / 'none.json'}, named on the command line, does not exist",)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"mcpguard": {\n  "listen" 1}}', ", line 2, column 12: expecting ':' delimiter"),
        ('{"mcpguard": {"a": 1,\n "a": 2}}', ', line 2, column 2: duplicate key "a"'),
        ('{"mcpServers": {}, "mcpguard": {}, "mcpguard": {}}', ', line 1, column 36: duplicate key "mcpguard"'),
        ('{"x": NaN}', ", line 1, column 7: NaN is not JSON"),
        ("[" * 100, ", line 1, column 65: nested deeper than 64 levels"),
        ("", ", line 1, column 1: expecting value"),
        ("[]", ' must be a JSON object with the settings under "mcpguard"'),
        ("\ufeff{}", ", line 1, column 1: starts with a byte order mark; save it as UTF-8 without one"),
        (" " * (LARGEST_FILE + 1), f": larger than {LARGEST_FILE} bytes"),
    ],
)
def test_a_file_that_is_no_strict_json_is_refused_with_the_place(write: WriteFile, text: str, sentence: str) -> None:
    path = write(text)
    assert problems(path) == (f"{path}{sentence}",)


def test_our_part_and_every_group_must_be_objects(write: WriteFile) -> None:
    path = write('{"mcpguard": []}')
    assert problems(path) == (f"mcpguard in {path} must be an object",)
    path = write('{"mcpguard": {"store": null, "log": "debug"}}')
    assert problems(path) == (
        f"mcpguard.store in {path} must be an object",
        f"mcpguard.log in {path} must be an object",
    )


def test_a_key_with_a_dot_is_no_second_way_to_write_a_nested_one(write: WriteFile) -> None:
    path = write('{"mcpguard": {"store.readers": 1, "store": {"readers": 2}}}')
    assert problems(path) == (f'mcpguard.store.readers in {path} must be nested: "store": {{"readers": …}}',)


def test_all_problems_of_all_layers_are_told_at_once(write: WriteFile) -> None:
    path = write('{"mcpguard": {"store": {"readers": true, "busy_timout": 1}, "log": {"level": 5}, "hosts": "a"}}')
    with pytest.raises(SettingsError) as caught:
        load({"listen": "0.0.0.0:1"}, {"MCPGUARD_LIMITS__CONNECTIONS": "many", "MCPGUARD_LIMIT": "1"}, path)
    told = caught.value.problems
    not_loopback = (
        "must be on loopback (127.0.0.0/8, [::1] or localhost) without TLS: on other addresses tokens would cross"
        " the network unencrypted; set tls.certificate and tls.key, or name the proxies before it (proxies)"
    )
    assert str(caught.value) == "\n".join(told)
    assert set(told) == {
        f"--listen on the command line {not_loopback}",
        "MCPGUARD_LIMIT in the environment is not a setting; did you mean MCPGUARD_LISTEN?",
        "MCPGUARD_LIMITS__CONNECTIONS in the environment must be a whole number from 1 to 65536",
        f"mcpguard.store.readers in {path} must be a number, not true or false",
        f"mcpguard.store.busy_timout in {path} is not a setting; did you mean store.busy_timeout?",
        f"mcpguard.log.level in {path} must be one of auto, debug, info, warning, error",
        f"mcpguard.hosts in {path} must be a list of strings",
    }


def test_values_that_do_not_go_together_are_told_with_where_they_were_given(write: WriteFile) -> None:
    path = write('{"mcpguard": {"definitions": {"max_age": 10, "versions": 5}}}')
    assert problems(path) == (f"definitions (file {path}) must have a min_age that is not greater than its max_age",)
    with pytest.raises(SettingsError) as caught:
        load({}, {"MCPGUARD_DEFINITIONS__MIN_AGE": "11"}, path)
    (problem,) = caught.value.problems
    assert problem.startswith(f"definitions (file {path}, environment MCPGUARD_DEFINITIONS__MIN_AGE) must have ")
    assert load({}, {"MCPGUARD_DEFINITIONS__MIN_AGE": "10"}, path).settings.definitions.min_age == 10
