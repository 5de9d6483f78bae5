"""Another program opens the database of a guard that runs, reads, and closes it: the log goes on as if nobody had.

A program that closes a database in WAL mode, and sees that nobody else has it open, takes the WAL away. What tells it
that somebody has are the locks of the guard's process.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.process import Served, recorded, run, serving, until, whole

READS = """
import sqlite3, sys
found = sqlite3.connect(sys.argv[1])
print(found.execute("SELECT count(*) FROM records").fetchone()[0])
found.close()
"""


@pytest.fixture
def guard(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path / "data") as served:
        yield served


def database(guard: Served) -> Path:
    return guard.data_dir / "mcpguard.db"


def wal(guard: Served) -> Path:
    return guard.data_dir / "mcpguard.db-wal"


def locked(guard: Served) -> bool:
    """Whether the guard's process holds a lock on its database, as the kernel has it."""
    inode = str(database(guard).stat().st_ino)
    for line in Path("/proc/locks").read_text().splitlines():
        words = line.split()
        if words[1] == "POSIX" and words[4] == str(guard.pid) and words[5].rpartition(":")[2] == inode:
            return True
    return False


def somebody_reads(guard: Served) -> int:
    """So many records another program found."""
    read = subprocess.run(
        [sys.executable, "-c", READS, str(database(guard))], capture_output=True, text=True, check=True
    )
    return int(read.stdout)


def records_more(guard: Served, name: str) -> None:
    """Something happens, and is recorded."""
    done = run("caller", "add", name, "--data-dir", guard.data_dir)
    assert done.returncode == 0, done.stderr


def goes_on(guard: Served, name: str) -> None:
    """The lock is there, somebody who reads leaves the WAL alone, and what happens next is in the same log."""
    assert locked(guard)
    before = wal(guard).stat()
    assert somebody_reads(guard) > 0
    assert os.path.samestat(wal(guard).stat(), before)
    assert locked(guard)
    records_more(guard, name)
    assert guard.get("/readyz").status_code == 200
    assert not guard.logged("ledger.unavailable")
    assert name in json.dumps(recorded(guard.data_dir)[-1])


def test_it_leaves_the_log_alone(guard: Served) -> None:
    goes_on(guard, "first")
    goes_on(guard, "second")
    assert whole(guard.data_dir)


def test_also_where_the_database_was_there_before_the_start(tmp_path: Path) -> None:
    for name in ("first", "second"):
        with serving(tmp_path / "data") as guard:
            goes_on(guard, name)


def test_also_after_a_backup_and_a_look_by_commands(guard: Served, tmp_path: Path) -> None:
    for words in (("db", "backup", str(tmp_path / "copy.db")), ("audit", "verify"), ("audit", "checkpoint")):
        done = run(*words, "--data-dir", guard.data_dir)
        assert done.returncode == 0, done.stderr
    run("doctor", "--data-dir", guard.data_dir)
    goes_on(guard, "after")


def test_also_when_the_guard_has_connected_again(guard: Served) -> None:
    away = guard.data_dir / "away.db"
    database(guard).rename(away)
    assert run("caller", "add", "lost", "--data-dir", guard.data_dir).returncode != 0
    assert guard.get("/readyz").status_code == 503
    away.rename(database(guard))
    until(lambda: guard.get("/readyz").status_code == 200, "it records again")
    assert locked(guard)
    before = wal(guard).stat()
    assert somebody_reads(guard) > 0
    assert os.path.samestat(wal(guard).stat(), before)
    records_more(guard, "after")
    assert whole(guard.data_dir)
