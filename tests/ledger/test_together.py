"""What is done and the record of it are one: both are stored, or neither is."""

import pytest
from sqlalchemy import Connection

from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.errors import LedgerUnavailable, Unrecordable
from mcpguard.ledger.ledger import Append
from mcpguard.store.rows import versions
from tests.world import World

pytestmark = pytest.mark.anyio
PRINT = Fingerprint("v1:" + "a" * 64)


class Wrong(Exception):
    """Something that a caller's own work raises."""


async def kept(guard: World) -> bool:
    """Whether the row is there."""
    return bool(await guard.now.store.readers.run(lambda connection: versions.versions_of(connection, "one")))


def work(connection: Connection, append: Append) -> int:
    versions.put_seen(connection, "one", PRINT, b"{}", 0)
    return append(RecordKind.DISCLOSED, {"digest": "one"})


async def test_the_row_and_the_record_are_stored_together_and_what_was_found_is_returned(guard: World) -> None:
    number = await guard.now.ledger.transact(work)
    assert guard.said()[-1] | {"digest": "one", "seq": number} == guard.said()[-1]
    assert await kept(guard)
    assert guard.verified().whole


async def test_work_that_fails_leaves_neither_and_harms_nobody_else(guard: World) -> None:
    before = guard.said()

    def fails(connection: Connection, append: Append) -> None:
        work(connection, append)
        raise Wrong

    with pytest.raises(Wrong):
        await guard.now.ledger.transact(fails)
    assert guard.said() == before
    assert not await kept(guard)
    assert guard.now.guard.readiness().ready
    await guard.call()
    assert guard.verified().whole


async def test_what_cannot_be_recorded_is_not_done(guard: World) -> None:
    before = guard.said()

    def unrecordable(connection: Connection, append: Append) -> None:
        work(connection, append)
        append(RecordKind.DISCLOSED, {"digest": "\ud800"})

    with pytest.raises(Unrecordable):
        await guard.now.ledger.transact(unrecordable)
    assert guard.said() == before
    assert not await kept(guard)
    assert guard.now.guard.readiness().ready


async def test_while_the_ledger_cannot_write_nothing_is_done(guard: World) -> None:
    away = guard.database.with_name("away.db")
    guard.database.rename(away)
    ran = 0

    def counted(connection: Connection, append: Append) -> None:
        nonlocal ran
        ran += 1
        work(connection, append)

    for _ in range(2):  # the first one meets the outage, the second is refused because of it
        with pytest.raises(LedgerUnavailable, match="was removed or replaced"):
            await guard.now.ledger.transact(counted)
    assert ran == 0
    assert guard.now.guard.status().ledger.refused == 2
    away.rename(guard.database)
    await guard.recovered()
    assert not await kept(guard)
    assert [said["refused"] for said in guard.said() if said["kind"] == "resumed"] == [2]
    await guard.now.ledger.transact(counted)
    assert await kept(guard)
    assert guard.verified().whole
