"""The ledger with kept bodies, in turns with plain inserts, and what a call takes on disk.

Rules kept here:
1. The ledger of a whole guard takes turns with a database of SQLite's own: a ratio is that of two turns of one round,
   and what counts is the median of the rounds. The first round is for warming up.
2. A plain insert is the least that a record could be: some fields as JSON, their hash, and a body as large as those of
   the calls, in a transaction of its own that does not wait for the disk. Nothing of the package's takes part in it.
"""

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from math import inf
from pathlib import Path
from statistics import median
from typing import Final

import anyio

from mcpguard.app import places as app_places
from mcpguard.app.clock import SystemClock, new_id
from mcpguard.app.lifespan import running
from mcpguard.app.process import steady
from mcpguard.domain.capabilities import Effect
from mcpguard.settings.model import Settings
from tests.benchmarks import calls, places
from tests.benchmarks.append import APPENDERS, KEPT, Appenders
from tests.benchmarks.report import Row, Sheet

TURN_SECONDS: Final = 0.2
PLAIN: Final = 0
"""The number of appenders that stands for plain inserts."""
_WRITERS: Final = 16
_CALLS_EACH: Final = 128
_FIELDS: Final = {
    "caller": "agent 1",
    "capability": "files:read_one",
    "rules": ["allow-internal-reads", "log-everything"],
}


@dataclass(frozen=True, slots=True)
class Written:
    """What one turn has written, and the seconds that passed and were computed meanwhile."""

    records: int
    seconds: float
    cpu: float


def sheets(folder: Path, rounds: int) -> Iterator[Sheet]:
    """The ledger's turns, and its size."""
    with places.fresh(folder, None) as settings:
        turns = anyio.run(partial(_turns, settings, rounds), backend_options={"use_uvloop": True})
    about = (
        f"median of {rounds} rounds with turns of {TURN_SECONDS} s; SQLite, committed, bodies kept; 0 appenders: plain "
        "inserts; to insert: time and processor time of a record, divided by those of a plain insert"
    )
    yield Sheet("ledger", about, [*rows({appenders: taken[1:] for appenders, taken in turns.items()})])
    size = Row({"of": "call"}, {"bytes": bytes_of_a_call(folder)})
    yield Sheet("ledger, size", f"of {_WRITERS * _CALLS_EACH:,} calls with arguments and reply", [size])


def bytes_of_a_call(folder: Path) -> float:
    """What the database of a guard grows by, which is the same for the same calls."""
    with places.fresh(folder, None) as settings:
        anyio.run(_write, settings, 0)
        before = _size(settings)
        anyio.run(_write, settings, _WRITERS)
        return (_size(settings) - before) / (_WRITERS * _CALLS_EACH)


def rows(turns: Mapping[int, Sequence[Written]]) -> Iterator[Row]:
    """A row for each number of appenders, beside plain inserts in the same rounds."""
    plain = turns[PLAIN]
    for appenders, taken in turns.items():
        cpu = _cpu(taken)
        figures = {
            "records_per_s": median(written.records / written.seconds for written in taken),
            "cpu_us_per_record": cpu * 1e6,
            "time_to_insert": median(
                written.seconds / written.records * its.records / its.seconds
                for written, its in zip(taken, plain, strict=True)
            ),
            "cpu_to_insert": cpu / _cpu(plain),
        }
        yield Row({"appenders": appenders}, figures)


def _cpu(taken: Sequence[Written]) -> float:
    return sum(written.cpu for written in taken) / sum(written.records for written in taken)


async def _write(settings: Settings, writers: int) -> None:
    """Run a guard whose ledger is given so many calls by each of these, and no turns."""
    async with running(settings, SystemClock(), new_id) as now:
        await Appenders(now.ledger, Effect.READ, KEPT).run(writers, inf, _CALLS_EACH)


async def _turns(settings: Settings, rounds: int) -> dict[int, list[Written]]:
    taken: dict[int, list[Written]] = {appenders: [] for appenders in (PLAIN, *APPENDERS)}
    async with running(settings, SystemClock(), new_id) as now:
        steady()
        them = Appenders(now.ledger, Effect.READ, KEPT)
        with closing(_plain(settings.data_dir / "plain.db")) as connection:
            for _ in range(rounds + 1):
                taken[PLAIN].append(_insert(connection))
                for appenders in APPENDERS:
                    cpu, began = time.process_time(), time.perf_counter()
                    await them.run(appenders, TURN_SECONDS)
                    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
                    taken[appenders].append(Written(2 * len(them.calls), seconds, cpu))
    return taken


def _plain(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("CREATE TABLE plain (id INTEGER PRIMARY KEY, record BLOB NOT NULL, hash TEXT, body BLOB)")
    return connection


def _insert(connection: sqlite3.Connection) -> Written:
    """As many as fit into a turn."""
    records = 0
    cpu, began = time.process_time(), time.perf_counter()
    while time.perf_counter() < began + TURN_SECONDS:
        record = json.dumps({"number": records, **_FIELDS}, sort_keys=True).encode()
        row = (record, sha256(record).hexdigest(), calls.kept(records).masked)
        connection.execute("INSERT INTO plain (record, hash, body) VALUES (?, ?, ?)", row)
        records += 1
    return Written(records, time.perf_counter() - began, time.process_time() - cpu)


def _size(settings: Settings) -> int:
    """Bytes of the database, whose guard has ended."""
    file = app_places.database(settings)
    assert isinstance(file, Path)
    return file.stat().st_size
