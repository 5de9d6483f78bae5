"""A data directory in which a guard has lived, and a home without anybody's settings."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from mcpguard.domain.callers import Caller
from mcpguard.domain.calls.verdicts import Deny
from mcpguard.domain.reasons import Reason
from tests.cli.command import HOSTILE
from tests.world import world


@pytest.fixture(autouse=True)
def nobodys_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.upper().startswith("MCPGUARD_")]:
        monkeypatch.delenv(name)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))


@pytest.fixture(scope="session")
def _lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lived")

    async def live() -> None:
        async with world(folder) as guard:
            await guard.call()
            await guard.call(replace(guard.opening(), caller=Caller("caller-2", HOSTILE)))
            await guard.call(guard.opening(Deny(Reason.SERVER_QUARANTINED)))

    anyio.run(live, backend_options={"use_uvloop": True})
    return folder / "data"


@pytest.fixture
def lived(_lived: Path, tmp_path: Path) -> Path:
    """The data directory of a guard that took three calls and stopped; one caller has a hostile label."""
    return Path(shutil.copytree(_lived, tmp_path / "lived"))


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> None:
    """A port that nobody has, where none is named."""
    monkeypatch.setenv("MCPGUARD_LISTEN", "127.0.0.1:0")


@pytest.fixture
def stopped(lived: Path, free: None) -> Path:  # noqa: ARG001 - the port of the guard that is not there
    """The same data directory as a guard leaves it, where another could start."""
    lived.chmod(0o700)
    return lived
