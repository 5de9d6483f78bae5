"""The types: frozen, documented, marked, valid by default, with a version that tells two configurations apart."""

import hashlib
import json
from operator import attrgetter
from pathlib import Path

import pytest
from pydantic import BaseModel, SecretStr, ValidationError

from mcpguard.settings.environment import RESERVED
from mcpguard.settings.fields import Applies, Leaf, groups, leaves, public_values
from mcpguard.settings.guard_groups import Log
from mcpguard.settings.layer import nest_keys
from mcpguard.settings.model import Audit, Settings, StoreSettings
from tests.settings.samples import SAMPLES

LEAVES = leaves(Settings)


def test_every_setting_has_samples() -> None:
    assert set(SAMPLES) == set(LEAVES)


@pytest.mark.parametrize("leaf", LEAVES.values(), ids=LEAVES.keys())
def test_every_setting_is_marked_once_and_documented(leaf: Leaf) -> None:
    assert len(leaf.applies) == 1
    about = leaf.field.description or ""
    assert about.endswith(".")
    assert 1 <= about.count(". ") + 1 <= 2, "one or two sentences"
    for unit in ("seconds", "bytes"):
        assert unit not in leaf.key or unit in about.lower()


def test_only_the_log_level_is_live() -> None:
    assert [leaf.key for leaf in LEAVES.values() if Applies.LIVE in leaf.applies] == ["log.level"]


def test_these_settings_carry_trust_and_take_effect_at_a_start_only() -> None:
    carrying = {key: leaf for key, leaf in LEAVES.items() if leaf.trust}
    whole = {key for key in LEAVES if key.startswith(("sandbox.", "anonymous.", "people."))}
    reached = {"upstreams.networks", "upstreams.secret_folders"}
    assert {*carrying} == {
        "arguments.secrets",
        "authority.shell",
        "authority.tokens",
        "holds.calls",
        "code.enabled",
        "hosts",
        "proxies",
        "public_url",
        "registry.public",
        "retention.body_days",
        "retention.database_bytes",
        "retention.record_days",
        "retention.records",
        "screening.mode",
        "screening.resemblance",
        "telemetry.otlp_endpoint",
        *reached,
        *whole,
    }
    assert all(leaf.applies == (Applies.RESTART,) and not leaf.secret for leaf in carrying.values())


@pytest.mark.parametrize("name", groups(Settings))
def test_every_group_is_documented(name: str) -> None:
    assert (groups(Settings)[name].description or "").endswith(".")


@pytest.mark.parametrize("key", [*LEAVES, *groups(Settings)])
def test_nothing_can_be_assigned_or_deleted(key: str) -> None:
    settings = Settings()
    path, _, name = key.rpartition(".")
    owner: BaseModel = attrgetter(path)(settings) if path else settings
    with pytest.raises(ValidationError, match="frozen"):
        setattr(owner, name, getattr(owner, name))
    with pytest.raises(ValidationError, match="frozen"):
        delattr(owner, name)


def test_nothing_can_be_added() -> None:
    with pytest.raises(ValidationError, match="extra"):
        Settings.model_validate({"store": {"urls": "x"}})


def test_the_defaults_are_valid_themselves() -> None:
    assert Settings.model_validate(Settings().model_dump()) == Settings()


def test_the_environment_names_never_collide() -> None:
    names = [name for leaf in LEAVES.values() for name in (leaf.env, leaf.env_file) if name] + list(RESERVED)
    assert len(names) == len(set(names))


def test_making_settings_reads_no_variable_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPGUARD_LISTEN", "127.0.0.1:1")
    monkeypatch.setenv("LISTEN", "127.0.0.1:1")
    assert Settings().listen == "127.0.0.1:8080"


def test_paths_are_absolute_and_the_home_is_expanded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    assert Settings().data_dir == (home / "data" / "mcpguard").resolve()
    assert Settings(data_dir=Path("~/d")).data_dir == (home / "d").resolve()
    assert Settings(data_dir=Path("a/../b")).data_dir == (home / "b").resolve()
    assert Audit(key_file=Path("~/k")).key_file == (home / "k").resolve()


@pytest.mark.parametrize("value", ["", "~nobody-of-this-name/x", "a\0b", 5])
def test_a_path_that_is_none_is_refused(value: object) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate({"data_dir": value})


@pytest.mark.parametrize(
    "values",
    [
        {"store": {"busy_timeout": 0}},
        {"store": {"busy_timeout": 60.1}},
        {"store": {"busy_timeout": "nan"}},
        {"store": {"busy_timeout": True}},
        {"store": {"readers": 0}},
        {"store": {"readers": 17}},
        {"store": {"readers": True}},
        {"store": {"batch": 4097}},
        {"store": {"url": "sqlite:///x.db"}},
        {"store": {"url": "POSTGRESQL://x"}},
        {"audit": {"checkpoint_records": 0}},
        {"audit": {"checkpoint_seconds": 0}},
        {"audit": {"checkpoint_seconds": float("inf")}},
        {"audit": {"probe_seconds": -1}},
        {"log": {"level": "INFO"}},
        {"limits": {"body_bytes": 0}},
        {"limits": {"stop_seconds": 10.5}},
        {"limits": {"stop_seconds": 0.5}},
        {"limits": {"connections": 0}},
        {"definitions": {"max_age": 0}},
        {"definitions": {"max_age": 86_401}},
        {"definitions": {"min_age": -1}},
        {"definitions": {"min_age": 300.5}},
        {"definitions": {"max_age": 29}},
        {"definitions": {"versions": 1}},
        {"authority": {"shell": "none"}},
    ],
)
def test_what_is_out_of_range_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate(values)


def test_an_empty_url_is_the_sqlite_file() -> None:
    assert StoreSettings(url=SecretStr("")).url is None


def test_the_version_changes_with_every_value() -> None:
    base = Settings(data_dir=Path("/srv/base"))
    versions = {base.version}
    for key, values in SAMPLES.items():
        start = {} if key == "data_dir" else {"data_dir": "/srv/base"}
        made = [Settings.model_validate(nest_keys(start | {key: value})) for value in values]
        different = {str(public_values(each)[key]) for each in made if public_values(each) != public_values(base)}
        assert len({each.version for each in made} - {base.version}) == len(different), key
        versions |= {each.version for each in made}
    assert all(len(version) == 16 for version in versions)


def test_the_version_says_of_a_secret_only_whether_it_is_set() -> None:
    one, other, none = (
        Settings(store=StoreSettings(url=url))
        for url in (SecretStr("postgresql://1"), SecretStr("postgresql://2"), None)
    )
    assert one.version == other.version != none.version


def test_the_version_is_the_digest_of_the_sorted_values() -> None:
    settings = Settings(data_dir=Path("/srv"), log=Log(level="debug"))
    text = json.dumps(dict(sorted(public_values(settings).items())), separators=(",", ":"))
    assert settings.version == hashlib.sha256(text.encode()).hexdigest()[:16]
    assert settings.model_copy(update={"listen": "127.0.0.1:9"}).version != settings.version
