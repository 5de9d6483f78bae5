"""What the tests need from npm is installed once, or it is said why not."""

from pathlib import Path

import pytest

from tests.conformance import tools


def test_everything_is_there() -> None:
    for name in ("conformance", "inspector", "server-everything", "server-filesystem", "server-memory"):
        assert (tools.package(name) / "package.json").is_file()
    assert (tools.installed() / "node_modules" / "gpt-tokenizer" / "package.json").is_file()


def test_a_registry_that_cannot_be_reached_is_named_as_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:1/")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    with pytest.raises(tools.NotInstalled, match="does not reach its registry"):
        tools.install(tmp_path / "npm")
    assert not (tmp_path / "npm" / "installed").exists(), "the next one tries again"


def test_the_lock_file_names_no_registry() -> None:
    assert '"resolved"' not in (tools.HERE / "package-lock.json").read_text()
