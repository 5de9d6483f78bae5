"""Settings are tried in a home of their own, without the variables of whoever runs the tests."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.settings.samples import WriteFile


@pytest.fixture(autouse=True, scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.upper().startswith("MCPGUARD_")]:
            patch.delenv(name)
        patch.setenv("HOME", str(place))
        patch.setenv("XDG_CONFIG_HOME", str(place / "config"))
        patch.setenv("XDG_DATA_HOME", str(place / "data"))
        yield place


@pytest.fixture
def write(tmp_path: Path) -> WriteFile:
    """Write the text to a configuration file and return its path."""

    def write_file(text: str) -> Path:
        path = tmp_path / "mcpguard.json"
        path.write_text(text, encoding="utf-8")
        return path

    return write_file
