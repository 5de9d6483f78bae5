"""Both databases, empty for every test, or filled with records to look for."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, make_url

from mcpguard.store.engine.backend import Backend
from mcpguard.store.engine.durability import Durability
from mcpguard.store.engine.postgres import Postgres
from mcpguard.store.engine.schema import upgrade
from mcpguard.store.engine.sqlite import SQLite
from mcpguard.store.engine.store import Store, open_store
from mcpguard.store.search import filter_conditions, search_index
from tests.postgres import fresh_database
from tests.store.searched import fill, index
from tests.store.tally import Tally


@pytest.fixture(params=["sqlite", "postgres"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    if request.param == "sqlite":
        made: Backend = SQLite(tmp_path / "test.db", busy_timeout=0.2)
    else:
        made = Postgres(make_url(fresh_database(request.getfixturevalue("postgres_server"))), busy_timeout=1)
    yield made
    made.dispose()


@pytest.fixture
def tally() -> Tally:
    return Tally()


@pytest.fixture
async def store(backend: Backend, tally: Tally) -> AsyncIterator[Store]:
    async with open_store(backend, tally, batch=64, readers=2) as ready:
        yield ready


@pytest.fixture
async def filled(store: Store) -> list[dict[str, Any]]:
    """The records of a store that is full of them."""
    return await fill(store)


@pytest.fixture
def connection(backend: Backend) -> Iterator[Connection]:
    """A writing connection to a new store, in a transaction."""
    upgrade(backend)
    with backend.connect() as connection:
        backend.begin(connection, Durability.COMMITTED)
        yield connection


@pytest.fixture(params=[0, 60, 120], ids=lambda upto: f"indexed-{upto}")
async def indexed(
    request: pytest.FixtureRequest, store: Store, filled: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> list[dict[str, Any]]:
    """The same, where searches have an index of small blocks, of nothing, some or all of the records."""
    for module in (search_index, filter_conditions):
        monkeypatch.setattr(module, "BLOCK", 4)
    monkeypatch.setattr(search_index, "SPAN", 8)
    monkeypatch.setattr(filter_conditions, "GAP", 1)
    await index(store, request.param)
    return filled
