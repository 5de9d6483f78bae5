"""`mcpguard audit recount`: what it counts is what a guard has counted, and it says what to do where it cannot."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mcpguard.guard.audit.call_counter import CallCounter
from tests.cli.command import mcpguard, refusal
from tests.world import World

TABLES = ("counted_calls", "counted_durations", "counted_until")


def counts(database: Path) -> dict[str, list[Any]]:
    with closing(sqlite3.connect(database)) as connection:
        return {table: sorted(connection.execute(f"SELECT * FROM {table}")) for table in TABLES}


def test_numbers_that_somebody_changed_are_counted_anew_and_the_log_stays_whole(lived: Path) -> None:
    database = lived / "mcpguard.db"
    done = mcpguard("audit", "recount", "--data-dir", lived, "-o", "json")
    assert (done.exit_code, done.stderr) == (0, "")
    right = counts(database)
    ((_, reached),) = right["counted_until"]
    assert json.loads(done.stdout) == {"records": reached}
    assert right["counted_calls"]
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("UPDATE counted_calls SET calls = 7 + calls")
        connection.execute("DELETE FROM counted_durations")
        connection.commit()
    assert counts(database) != right
    again = mcpguard("audit", "recount", "--data-dir", lived)
    assert again.stdout == f"the calls of {reached:,} records were counted anew\n"
    assert counts(database) == right
    assert mcpguard("audit", "verify", "--data-dir", lived).exit_code == 0


@pytest.mark.anyio
async def test_a_running_guard_counts_by_itself(guard: World) -> None:
    await guard.call()
    await CallCounter(guard.now.store, guard.now.ledger, guard.clock).catch_up()
    before = counts(guard.database)
    sentence = refusal(mcpguard("audit", "recount", "--data-dir", guard.now.settings.data_dir))
    assert "stop it and try again" in sentence
    assert counts(guard.database) == before


def test_a_folder_without_a_log_stays_as_it_is(tmp_path: Path) -> None:
    assert "nothing has been recorded yet" in refusal(mcpguard("audit", "recount", "--data-dir", tmp_path / "none"))
    assert not (tmp_path / "none").exists()


def test_an_older_schema_is_to_be_upgraded_first(lived: Path) -> None:
    with closing(sqlite3.connect(lived / "mcpguard.db")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0016'")
        connection.commit()
    assert "mcpguard db upgrade" in refusal(mcpguard("audit", "recount", "--data-dir", lived))
