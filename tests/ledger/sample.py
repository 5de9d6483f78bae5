"""A small ledger that holds one of everything, made by the guard itself; pruned as the format says."""

import hashlib
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import anyio
from sqlalchemy import Connection

from mcpguard.domain.calls.bodies import DigestedBody, KeptBody
from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.calls.verdicts import Allow, Deny, Hold
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.reasons import Reason
from mcpguard.ledger.entries import Entry, unconditionally
from mcpguard.store.rows.tables import bodies, records
from tests.recording import record
from tests.world import World, world


def make(folder: Path, *, pruned: bool = False) -> Path:
    """A whole ledger in `folder`; the file."""
    return anyio.run(_make, folder, pruned)


async def _make(folder: Path, pruned: bool) -> Path:
    async with world(folder, audit__checkpoint_records=4) as guard:
        keyed = "hmac-sha256:" + "a" * 64
        arguments, large = KeptBody(b'{"path": "a"}', keyed), DigestedBody(9_000_000, keyed, too_large=True)
        await guard.call(guard.opening(arguments=arguments), Outcome.answer(KeptBody(b"contents", keyed)))
        await guard.call(guard.opening(arguments=DigestedBody(3, keyed)), Outcome.answer(large))
        await guard.call(guard.opening(Deny(Reason.SCOPE_EFFECT), Effect.WRITE))
        await _held(guard)
        await guard.call(guard.opening(arguments=KeptBody("é\x00\x7f".encode())), Outcome.failure(KeptBody(b"")))
        if pruned:
            await guard.now.store.writer.submit(_prune(guard))
        await guard.call()
        database = guard.database
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")  # one file, for tests that copy it
    return database


async def _held(guard: World) -> None:
    async def work(entry: Entry) -> Outcome:
        await entry.release(Allow(), unconditionally)
        entry.permit()
        return Outcome.unknown(Reason.REPLY_TIMEOUT)

    await record(guard.now.ledger, guard.opening(Hold(Reason.HOLD_WAITING)), work, unconditionally)


def _prune(guard: World) -> Callable[[Connection], None]:
    """Records 3 and 4 whole, and the bodies of the last call."""
    chain = guard.now.ledger.chain

    def job(connection: Connection) -> None:
        chain.flush(connection)
        hashes = connection.scalars(records.select().with_only_columns(records.c.hash).where(records.c.seq.in_((3, 4))))
        digest = hashlib.sha256(b"".join(hashes)).hexdigest()
        empty = dict.fromkeys(set(records.c.keys()) - {"chain", "seq", "hash"})
        connection.execute(records.update().where(records.c.seq.in_((3, 4))).values(empty))
        connection.execute(bodies.delete().where(bodies.c.seq.in_((3, 4))))
        chain.append(RecordKind.PRUNED, {"what": "records", "first": 3, "last": 4, "hashes": digest, "keys": ""})
        kept = connection.scalars(bodies.select().with_only_columns(bodies.c.seq).order_by(bodies.c.seq)).all()
        connection.execute(bodies.update().values(salt=None, content=None))
        chain.append(RecordKind.PRUNED, {"what": "bodies", "first": kept[0], "last": kept[-1]})

    return job
