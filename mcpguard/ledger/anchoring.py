"""Appends every stored checkpoint, in order, to the anchor file outside of the data directory.

Rules kept here:
1. A checkpoint is on the store's disk before it is in the file: otherwise a power failure would look like a rollback of
   the store.
2. No checkpoint is left out. One that could not be appended, or is missing because the file was changed, is appended
   from the store at the next checkpoint.
3. Problems with the file never refuse or delay a call. They are logged when the cause changes, and displayed.
4. At startup, the newest checkpoint in the file must be in the store. If it is not, the guard starts anyway and reports
   the rollback everywhere.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

import anyio
import orjson
import structlog
from anyio import to_thread

from mcpguard.codec.canonical import Scalar
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger import anchors
from mcpguard.ledger.chain import Chain
from mcpguard.ledger.checkpoints import Checkpoint, SignedCheckpoint, checkpoint_json
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.durability import Durability
from mcpguard.store.engine.store import Store
from mcpguard.store.rows import chains, checkpoints, records
from mcpguard.store.rows.checkpoints import StoredCheckpoint

PATIENCE: Final = 5.0
"""Seconds that the file may take to answer. It may be on a network."""
TOGETHER: Final = 200
"""Checkpoints that are read or appended at once."""
SILENT: Final = f"it has not answered in {PATIENCE:g} seconds"
T = TypeVar("T")
log = structlog.get_logger("mcpguard.ledger")


@dataclass(frozen=True, slots=True)
class RolledBack:
    """Says that the newest checkpoint of the file is not in the store. `found`: the last record in the store."""

    anchored: Checkpoint
    chain: str
    found: int

    def fields(self) -> dict[str, Scalar]:
        """The fields of the record about it."""
        said: dict[str, Scalar] = {
            "anchored": self.anchored.seq,
            "anchored_hash": self.anchored.hash,
            "found": self.found,
        }
        return said if self.anchored.chain == self.chain else {**said, "anchored_chain": self.anchored.chain}

    def __str__(self) -> str:
        there = f"has a checkpoint of record {self.anchored.seq:,} of chain {self.anchored.chain}"
        return f"the anchor file {there}, but the store, which ended at {self.found:,}, does not have it unchanged"


class Anchoring:
    """Appends checkpoints to the anchor file, and knows how far it has come."""

    def __init__(self, path: Path, chain: Chain, store: Store) -> None:
        self.path = path
        self.anchored = 0
        self.trouble = ""
        self.rolled_back: RolledBack | None = None
        self._chain = chain
        self._store = store
        self._file: anchors.Identity | None = None
        self._looked = False
        self._stood = ("", 0)
        self._news = anyio.Event()
        self._one = anyio.Lock()
        self._busy = threading.Lock()
        # Called on the writer's thread, so the event is set on the loop's own.
        chain.on_signed = partial(asyncio.get_running_loop().call_soon_threadsafe, self._signed)

    async def begin(self) -> None:
        """Compare the file with the store, before the guard records anything. Raises StoreUnavailable."""
        self._stood = await self._store.readers.run(_stands)
        try:
            await self._look()
        except OSError as error:
            self._failed(error)

    async def run(self) -> None:
        """Append checkpoints as they are signed. Runs until it is cancelled."""
        while True:
            await self._news.wait()
            self._news = anyio.Event()
            await self.catch_up()

    async def catch_up(self) -> None:
        """Append the checkpoints that are signed and not in the file yet."""
        async with self._one:
            try:
                await self._append()
            except StoreUnavailable:
                return  # the ledger says so; when it can write again there is a checkpoint
            except OSError as error:
                self._failed(error)
                return
            if self.trouble:
                log.warning("ledger.anchored_again", file=str(self.path), to=self.anchored)
                self.trouble = ""

    async def _append(self) -> None:
        if not self._looked:  # it did not answer at the start
            await self._look()
            if self.rolled_back is not None:
                told = partial(self._chain.append, RecordKind.ROLLED_BACK, self.rolled_back.fields())
                # The record comes late, as the file did not answer at the start; better late than never.
                await self._store.writer.submit(lambda _: told(), Durability.SYNCED)
        # Somebody replaced or changed the file: find out anew what it lacks, and append that.
        elif self._file is None or self._file != await self._aside(partial(anchors.identity, self.path)):
            await self._compare(self._chain.id)
        while waiting := await self._store.readers.run(self._waiting):
            # Sync the store first. Were the file ahead after a power failure, that would look like a rollback.
            await self._store.writer.submit(partial(chains.touch, chain=self._chain.id), Durability.SYNCED)
            lines = [orjson.dumps(checkpoint_json(each.content, each.signature)) for each in waiting]
            # Written last: if this fails, `anchored` stays, and the same checkpoints are appended again.
            self._file = await self._aside(partial(anchors.append, self.path, lines))
            self.anchored = waiting[-1].seq

    async def _look(self) -> None:
        """Compare the file with the store for the first time: was the store rolled back?"""
        chain, found = self._stood
        last = await self._compare(chain)
        self._looked = True
        # With records in the store, another chain's checkpoint is another store's. With none, the store was replaced.
        if last is not None and (last.chain == chain or not found):
            self.rolled_back = RolledBack(last, chain, found)
            log.error("ledger.rolled_back", file=str(self.path), why=str(self.rolled_back))

    async def _compare(self, chain: str) -> Checkpoint | None:
        """Find out up to where file and store agree. Returns the newest checkpoint of the file that the store lacks."""
        self.anchored, newest, other = 0, None, None
        self._file = await self._aside(partial(anchors.identity, self.path))
        if self._file is None:
            return None
        # From the end: the newest checkpoint that both have is near it, however long the file is.
        every = anchors.newest_first(self.path)
        while some := await self._aside(partial(_some, every)):
            ours = [each for each in some if each.chain == chain]
            newest, other = newest or next(iter(ours), None), other or some[0]
            held = await self._store.readers.run(partial(_held, ours))
            if held is not None:
                self.anchored = held.seq
                return None if held == newest else newest
        return newest or other

    def _waiting(self, connection: Connection) -> list[StoredCheckpoint]:
        return checkpoints.checkpoints_after(connection, self._chain.id, self.anchored, TOGETHER)

    async def _aside(self, work: Callable[[], T]) -> T:
        """Do `work` in a thread, which is abandoned if the file does not answer. Raises OSError."""
        with anyio.fail_after(PATIENCE):
            return await to_thread.run_sync(_alone, self._busy, work, abandon_on_cancel=True)

    def _signed(self) -> None:
        self._news.set()

    def _failed(self, error: OSError) -> None:
        why = (isinstance(error, TimeoutError) and SILENT) or error.strerror or str(error)
        if why != self.trouble:
            log.error("ledger.not_anchored", file=str(self.path), why=why, next="it is tried again at each checkpoint")
        self.trouble = why


def _alone(busy: threading.Lock, work: Callable[[], T]) -> T:
    # A file on a network may never answer: threads must not pile up behind it.
    if not busy.acquire(blocking=False):
        raise TimeoutError  # the abandoned thread is still at it; two would write in any order
    try:
        return work()
    finally:
        busy.release()


def _some(every: Iterator[SignedCheckpoint]) -> list[Checkpoint]:
    return [each.statement for each in islice(every, TOGETHER)]


def _stands(connection: Connection) -> tuple[str, int]:
    """The newest chain (empty if there is none) and the number of its last record."""
    chain = chains.newest(connection) or ""
    last = records.last_record(connection, chain)
    return chain, last[0] if last else 0


def _held(ours: Sequence[Checkpoint], connection: Connection) -> Checkpoint | None:
    """The first of these checkpoints that the store has, with a record of that hash; None if it has none."""
    for each in ours:
        stored = checkpoints.checkpoint_at(connection, each.chain, each.seq)
        # A checkpoint may be there although its record was replaced, so both are compared.
        there = records.hash_of(connection, each.chain, each.seq)
        if stored is not None and stored.content == each.content() and there is not None and there.hex() == each.hash:
            return each
    return None
