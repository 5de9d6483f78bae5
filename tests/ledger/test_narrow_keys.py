"""A new file keeps records and bodies by their number alone; an older one keeps its key, and works as before."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mcpguard.domain.calls.bodies import KeptBody
from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.ledger.checkpoints import CheckpointCause
from mcpguard.ledger.verify.report import Tampering
from mcpguard.store.engine.sqlite import PAGE
from tests import second_verifier
from tests.guard.pruned import BY
from tests.ledger import bundling, sample
from tests.ledger.older import older_store
from tests.ledger.tampering import tampering
from tests.world import verified, world

pytestmark = pytest.mark.anyio
Begin = Callable[[Path], None]
ALL = "SELECT * FROM {} ORDER BY 1, 2"


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of a guard that was stopped, with one of everything."""
    return sample.make(tmp_path_factory.mktemp("lived"))


@pytest.fixture
def before(lived: Path, tmp_path: Path) -> Path:
    """The same, as the version before this key kept it, in the data directory of a guard."""
    shutil.copytree(lived.parent, tmp_path / "data")
    shutil.copy(older_store(lived, tmp_path / "older", "0015"), tmp_path / "data" / lived.name)
    return tmp_path / "data" / lived.name


def asked(database: Path, statement: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(statement).fetchall()


def keys(database: Path) -> dict[str, list[str]]:
    """The columns by which each of both tables is kept, and the indexes beside it that are needed for that."""
    found = {}
    for table in ("records", "bodies"):
        key = asked(database, f"SELECT name FROM pragma_table_info('{table}') WHERE pk ORDER BY pk")
        beside = asked(database, f"SELECT origin FROM pragma_index_list('{table}') WHERE origin = 'pk'")
        found[table] = [name for (name,) in (*key, *beside)]
    return found


def whole(database: Path) -> bool:
    ours, theirs = verified(database), second_verifier.verify(database)
    assert ours.whole == (theirs == []), (ours.chains, theirs)
    return ours.whole


def test_a_new_file_has_no_index_beside_its_tables_and_larger_pages(lived: Path) -> None:
    assert keys(lived) == {"records": ["seq"], "bodies": ["seq"]}
    assert asked(lived, "PRAGMA page_size") == [(PAGE,)]
    assert whole(lived)


async def test_the_store_of_the_version_before_is_upgraded_as_it_is_and_works_whole(
    before: Path, tmp_path: Path
) -> None:
    said = {table: asked(before, ALL.format(table)) for table in ("records", "bodies", "checkpoints", "chains")}
    assert said["bodies"]
    async with world(tmp_path) as guard:
        opening = guard.opening(arguments=KeptBody(b"new arguments"))
        await guard.call(opening, Outcome.answer(KeptBody(b"a new reply")))
        first = next(record for record in guard.said() if record["kind"] == "opened")
        await guard.now.ledger.checkpoint(CheckpointCause.EXPORT)
        await guard.now.guard.redacting.redact(opening.entry, BY)
        await guard.now.guard.redacting.redact(first["entry"], BY)
        assert whole(guard.database)
    assert keys(before) == {table: ["chain", "seq", "pk"] for table in ("records", "bodies")}
    records = said["records"]
    assert asked(before, ALL.format("records"))[: len(records)] == records
    (backup,) = (tmp_path / "data" / "backups").glob("*-0015.db")
    assert {table: asked(backup, ALL.format(table)) for table in said} == said
    assert whole(before)
    bundling.bundle(tmp_path / "bundle", before)
    assert bundling.checked(tmp_path / "bundle").whole


@pytest.mark.parametrize("kept", ["by number", "by chain and number"])
@pytest.mark.parametrize("table", ["records", "bodies"])
async def test_rows_of_a_chain_that_was_never_begun_are_found(
    table: str, kept: str, lived: Path, before: Path, tmp_path: Path
) -> None:
    database = before
    if kept == "by number":
        database = Path(shutil.copy(lived, before))
    else:
        async with world(tmp_path):
            pass
    assert whole(database)
    with tampering(database) as connection:
        columns = [name for (name,) in connection.execute(f"SELECT name FROM pragma_table_info('{table}')")]
        names = ", ".join(f'"{name}"' for name in columns)
        values = {"chain": "'another'", "seq": "900", "entry": "NULL"}
        other = ", ".join(values.get(name, f'"{name}"') for name in columns)
        connection.execute(f"INSERT INTO {table} ({names}) SELECT {other} FROM {table} ORDER BY seq LIMIT 1")
    assert not whole(database)
    (another,) = (chain for chain in verified(database).chains if chain.chain == "another")
    assert Tampering.INCONSISTENT in {problem.tampering for problem in another.problems}
