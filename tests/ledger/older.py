"""The store of a guard as an older version would have kept it."""

import sqlite3
from contextlib import closing
from pathlib import Path

from mcpguard.store.engine.schema import upgrade
from mcpguard.store.engine.sqlite import SQLite
from tests.store import scripts_up_to


def older_store(lived: Path, folder: Path, schema: str) -> Path:
    """A new file with that schema, in a new folder, with whatever the store of a guard says that has been stopped."""
    folder.mkdir(mode=0o700)
    file = folder / "older.db"
    backend = SQLite(file, busy_timeout=1)
    assert upgrade(backend, scripts_up_to(folder / "scripts", schema)).after == schema
    backend.dispose()
    with closing(sqlite3.connect(file, isolation_level=None)) as older:
        older.execute("ATTACH ? AS newer", [str(lived)])
        names = older.execute("SELECT name FROM main.sqlite_master WHERE type = 'table' AND name <> 'alembic_version'")
        for (table,) in names.fetchall():
            columns = ", ".join(f'"{row[1]}"' for row in older.execute(f"PRAGMA main.table_info({table})"))
            older.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM newer.{table}")
    return file
