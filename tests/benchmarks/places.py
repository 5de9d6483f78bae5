"""Where a measurement writes: its own folder, and on PostgreSQL its own database. Both are gone afterwards."""

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql
from sqlalchemy import make_url

from mcpguard.settings.model import Settings
from tests.world import settings_for


@contextmanager
def fresh(folder: Path, server: str | None) -> Iterator[Settings]:
    """Settings of a guard that has never run: on SQLite, or on the server with this URL."""
    with tempfile.TemporaryDirectory(prefix="mcpguard-benchmark-", dir=folder) as own:
        if server is None:
            yield settings_for(Path(own))
            return
        with _database(server) as url:
            yield settings_for(Path(own), store__url=url)


@contextmanager
def _database(server: str) -> Iterator[str]:
    name = f"mcpguard_benchmark_{secrets.token_hex(4)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield make_url(server).set(database=name).render_as_string(hide_password=False)
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
