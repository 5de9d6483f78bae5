"""Searches find what was just recorded, however far their index reaches, and both verifiers notice what hides there."""

import shutil
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import anyio
import pytest

from mcpguard.codec.filters import parse
from mcpguard.domain.calls.verdicts import Deny
from mcpguard.domain.reasons import Reason
from mcpguard.ledger.verify.report import Tampering
from mcpguard.store.search import search_index
from tests import postgres, second_verifier
from tests.ledger.older import older_store
from tests.ledger.tampering import tampering
from tests.world import World, verified, world

pytestmark = pytest.mark.anyio
CALLS = 70
HIDING = {
    "a value is removed": "DELETE FROM search_values WHERE block = 1 AND field = 'caller'",
    "a value is edited": "UPDATE search_values SET value = 'nobody' WHERE block = 0 AND field = 'server'",
    "a value is added": "INSERT INTO search_values SELECT chain, span, field, 'x', block FROM search_values LIMIT 1",
    "a value is in another span": "UPDATE search_values SET span = 9 WHERE block = 1 AND field = 'name'",
    "a value is of no block": "INSERT INTO search_values SELECT chain, 0, 'name', 'x', 500 FROM search_values LIMIT 1",
    "a value is of a block before all": "UPDATE search_values SET block = -1 WHERE block = 1 AND field = 'name'",
    "a block is removed": "DELETE FROM search_blocks WHERE block = 0",
    "a block has another time": "UPDATE search_blocks SET last_at = first_at - 1 WHERE block = 1",
    "a block has no time": "UPDATE search_blocks SET first_at = NULL WHERE block = 1",
    "what is not indexed is passed over": "INSERT INTO search_blocks SELECT chain, 70, 1, 2 FROM search_blocks LIMIT 1",
}


async def found(guard: World, text: str) -> list[int]:
    """The numbers of the newest records that match."""
    page = await guard.now.guard.auditing.page(parse(text, guard.clock.now()), newest_first=True)
    return [record["seq"] for record in page.records]


async def end(guard: World) -> int:
    """The first number behind the index."""
    return await guard.now.store.readers.run(partial(search_index.edge, chain=guard.now.ledger.chain.id))


async def indexed(guard: World) -> int:
    """Let the guard index what it can, and return how far that is."""
    await guard.clock.advance(1)
    await guard.settle()
    return await end(guard)


def copied(database: Path, folder: Path) -> Path:
    return Path(shutil.copy(database, folder / "copy.db"))


def findings(database: Path) -> list[str]:
    """What both verifiers find, who agree whether there is anything."""
    ours, theirs = verified(database), second_verifier.verify(database)
    assert ours.whole == (theirs == []), (ours.chains, theirs)
    for problem in ours.chains[0].problems:
        assert problem.tampering is Tampering.COLUMNS_EDITED, problem
    assert {finding.kind for finding in theirs} <= {"columns edited"}, theirs
    return [problem.sentence for problem in ours.chains[0].problems]


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of a guard that has indexed two blocks and was stopped."""

    async def live(folder: Path) -> Path:
        async with world(folder) as guard:
            for _ in range(CALLS):
                await guard.call()
            assert await indexed(guard) == 128
            return guard.database

    return anyio.run(live, tmp_path_factory.mktemp("lived"))


async def test_a_call_is_found_as_soon_as_it_is_recorded(tmp_path: Path) -> None:
    async with world(tmp_path) as guard:
        for number in range(CALLS):
            await guard.call()
            newest = guard.said()[-1]["seq"]
            assert (await found(guard, "server:files outcome:answered"))[0] == newest
            if number == CALLS // 2:
                assert await indexed(guard) == 64
        await guard.call(guard.opening(Deny(Reason.SCOPE_EFFECT)))
        assert await found(guard, f"reason:{Reason.SCOPE_EFFECT.value}") == [newest + 2, newest + 1]
        assert findings(guard.database) == []
        assert await indexed(guard) == 128
        assert await found(guard, f"reason:{Reason.SCOPE_EFFECT.value}") == [newest + 2, newest + 1]
        assert findings(guard.database) == []


async def test_a_start_indexes_what_a_crash_left(tmp_path: Path) -> None:
    killed, after = tmp_path / "killed", tmp_path / "next"
    async with world(tmp_path) as guard:
        for _ in range(CALLS):
            await guard.call()
        assert await end(guard) == 0
        answered = await found(guard, "outcome:answered")
        # As the folder is when the process is killed between a commit and the indexing.
        shutil.copytree(tmp_path / "data", killed / "data")
        shutil.copytree(tmp_path / "data", after / "data")
    assert findings(killed / "data" / guard.database.name) == []
    async with world(after) as guard:
        await guard.settle()
        assert await end(guard) == 128
        assert await found(guard, "outcome:answered") == answered
        assert findings(guard.database) == []


async def test_the_store_of_the_version_before_is_indexed_by_the_first_start(lived: Path, tmp_path: Path) -> None:
    shutil.copytree(lived.parent, tmp_path / "data")
    old = older_store(lived, tmp_path / "old", "0012")
    with closing(sqlite3.connect(old)) as older:
        assert "record_server" in {row[1] for row in older.execute("PRAGMA index_list(records)")}
    shutil.copy(old, tmp_path / "data" / lived.name)
    async with world(tmp_path) as guard:
        assert len(await found(guard, "outcome:answered")) == CALLS
        await guard.settle()
        assert await end(guard) == 128
        assert len(await found(guard, "outcome:answered")) == CALLS
        assert findings(guard.database) == []


@pytest.mark.parametrize("how", HIDING)
async def test_both_verifiers_find_what_would_hide_records(lived: Path, how: str, tmp_path: Path) -> None:
    database = copied(lived, tmp_path)
    assert findings(database) == []
    with tampering(database) as connection:
        assert connection.execute(HIDING[how]).rowcount > 0
    assert [sentence for sentence in findings(database) if sentence.startswith("the index of searches is not right")]


async def test_an_index_that_ends_earlier_hides_nothing(lived: Path, tmp_path: Path) -> None:
    database = copied(lived, tmp_path)
    with tampering(database) as connection:
        for table in ("search_blocks", "search_values"):
            assert connection.execute(f"DELETE FROM {table} WHERE block = 1").rowcount > 0
    assert findings(database) == []


async def test_text_that_nobody_can_read_does_not_stop_calls(tmp_path: Path) -> None:
    """Also those that share their transaction with the indexing."""
    async with world(tmp_path) as guard:
        for _ in range(CALLS):
            await guard.call()
        with tampering(guard.database) as connection:
            connection.execute("UPDATE records SET server = CAST(x'ff' AS TEXT) WHERE seq = 9")
        extend = partial(search_index.extend, chain=guard.now.ledger.chain.id, upto=2 * CALLS)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(guard.now.store.writer.submit, extend, bare=True))
            tasks.start_soon(guard.call)
        assert await end(guard) == 0
        assert guard.now.guard.readiness().ready
        assert len(await found(guard, "outcome:answered")) == CALLS + 1


async def test_a_server_indexes_too(tmp_path: Path, postgres_server: str) -> None:
    async with world(tmp_path, store__url=postgres.fresh_database(postgres_server)) as guard:
        for _ in range(CALLS):
            await guard.call()
        assert await indexed(guard) == 128
        await guard.call(guard.opening(Deny(Reason.SCOPE_EFFECT)))
        newest = guard.said()[-1]["seq"]
        assert await found(guard, f"reason:{Reason.SCOPE_EFFECT.value}") == [newest, newest - 1]
        assert len(await found(guard, "outcome:answered")) == CALLS
        assert guard.verified().whole
