"""What all tests share. It imports nothing of the program: whoever runs one test waits for what that one needs."""

import gc
import os
import sys
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import suppress
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import leftovers, tiers, witnesses

if TYPE_CHECKING:
    from tests.world import World

NO_SANDBOX = "the sandbox was not tested"
TIER = "tier"
HERE = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--tier",
        type=tiers.Tier,
        dest=TIER,
        help="fast or slow: run only this tier's tests, or all where paths are named",
    )


def pytest_configure(config: pytest.Config) -> None:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads of NumPy would wait for each other, in every worker
    if not hasattr(config, "workerinput"):  # a worker is told what was decided here
        setattr(config.option, TIER, tiers.asked(_tier(config), _named(config)))
    tiers.prepare_examples(_tier(config))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """For `-n auto`: most tests wait half of their time, for a process or a disk. Each worker has to collect first."""
    named, processors = _named(config), os.cpu_count() or 1
    if named and all(".py" in path for path in named):
        return 0
    return processors + 1 if _tier(config) is tiers.Tier.FAST else 2 * processors


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What is not imported costs nothing."""
    tier = _tier(config)
    if tier is None or not collection_path.match(tiers.TESTS) or tier in tiers.possible(_file(collection_path)):
        return None
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Each worker imports every test, and to compile one takes pytest longer than anything else in that. So each worker
    begins elsewhere, and finds what the others have compiled meanwhile."""
    config = session.config
    if _named(config) or not hasattr(config, "workerinput"):
        return
    number, workers = int(config.workerinput["workerid"].removeprefix("gw")), config.workerinput["workercount"]
    files = [file for file in sorted(HERE.rglob(tiers.TESTS)) if pytest_ignore_collect(file, config) is None]
    for file in files[number::workers]:
        with suppress(Exception, pytest.skip.Exception):  # the collection says what is wrong with it
            import_module(".".join(file.relative_to(HERE.parent).with_suffix("").parts))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    tier = _tier(config)
    if tier is None:
        return
    kept = [item for item, found in _tiers_of(items) if tier in found]
    config.hook.pytest_deselected(items=[*set(items).difference(kept)])
    items[:] = kept


def pytest_collection_finish() -> None:
    """What was imported is looked at by no later collection of garbage, and by no test that counts what is alive."""
    gc.collect()
    gc.freeze()


def pytest_runtest_logstart() -> None:
    witnesses.forget()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        report.sections.extend(witnesses.sections())
    return report


def pytest_runtest_teardown() -> None:
    """FastAPI remembers each function that it has looked at, and the guard that it belongs to stays with it."""
    looking = sys.modules.get("fastapi.dependencies.models")
    for remembering in [*vars(looking).values()] if looking else ():
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
    from mcpguard.app.loop import new_event_loop  # noqa: PLC0415 - see above

    return "asyncio", {"loop_factory": new_event_loop}


@pytest.fixture
async def guard(tmp_path: Path) -> AsyncIterator["World"]:
    """A whole guard on a SQLite file."""
    from tests.world import world  # noqa: PLC0415 - see above

    async with world(tmp_path) as running:
        yield running


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a real PostgreSQL server, its own and empty."""
    from tests import postgres  # noqa: PLC0415 - slow to import, and many runs need none

    with postgres.running() as server:
        yield server.get_uri()


def _tier(config: pytest.Config) -> tiers.Tier | None:
    found: tiers.Tier | None = config.getoption(TIER)
    return found


def _tiers_of(items: list[pytest.Item]) -> Iterator[tuple[pytest.Item, frozenset[tiers.Tier]]]:
    for path, found in groupby(items, key=lambda item: item.path):
        cases = {item.nodeid.partition("::")[2]: item for item in found}
        generated = {case: _is_generated(item) for case, item in cases.items()}
        known = tiers.tiers_of(_file(path), generated)
        yield from ((item, known[case]) for case, item in cases.items())


def _is_generated(item: pytest.Item) -> bool:
    return bool(getattr(getattr(item, "obj", None), "is_hypothesis_test", False))


def _named(config: pytest.Config) -> list[str]:
    """The paths on the command line."""
    return config.args if config.args_source is config.ArgsSource.ARGS else []


def _file(path: Path) -> str:
    return path.relative_to(tiers.ROOT).as_posix()
