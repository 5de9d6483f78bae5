"""What all tests share."""

import gc
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from fastapi.dependencies import models as looking
from hypothesis import HealthCheck, settings

from mcpguard.app.loop import new_event_loop
from tests import leftovers
from tests.world import World, world

NO_SANDBOX = "the sandbox was not tested"

# No example is wrong because the machine has much to do. What else is set stays: where it is CI, that has its own.
settings.register_profile(
    "patient",
    settings.get_profile(settings.get_current_profile_name()),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("patient")


def pytest_xdist_auto_num_workers() -> int:
    """For `-n auto`: most tests wait half of their time, for a process or a disk."""
    return 2 * (os.cpu_count() or 1)


def pytest_collection_finish() -> None:
    """What was imported is looked at by no later collection of garbage, and by no test that counts what is alive."""
    gc.collect()
    gc.freeze()


def pytest_runtest_teardown() -> None:
    """FastAPI remembers each function that it has looked at, and the guard that it belongs to stays with it."""
    for remembering in vars(looking).values():
        if hasattr(remembering, "cache_clear"):
            remembering.cache_clear()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly what a run could not show on this machine."""
    skipped = terminalreporter.stats.get("skipped", [])
    if untested := {str(report.longrepr[2]) for report in skipped if NO_SANDBOX in str(report.longrepr)}:
        terminalreporter.write_sep("!", "THE SANDBOX WAS NOT TESTED", red=True, bold=True)
        for why in sorted(untested):
            terminalreporter.write_line(why.removeprefix("Skipped: "))


def pytest_sessionfinish() -> None:
    leftovers.remove()


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, object]]:
    return "asyncio", {"loop_factory": new_event_loop}


@pytest.fixture
async def guard(tmp_path: Path) -> AsyncIterator[World]:
    """A whole guard on a SQLite file."""
    async with world(tmp_path) as running:
        yield running


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a real PostgreSQL server, its own and empty."""
    from tests import postgres  # noqa: PLC0415 - slow to import, and many runs need none

    with postgres.running() as server:
        yield server.get_uri()
