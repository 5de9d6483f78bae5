"""Pruning: records which parts of the log are to be removed, and then removes them in small steps.

Rules kept here:
1. First one transaction records which stretches will be emptied; it is on the disk before anything is removed. Then
   short jobs empty them from the first record on, with calls served in between.
2. A pruning that this run or an earlier one left unfinished is completed before the next one begins. So only the most
   recently recorded ones can be unfinished, and the search for them stops at the first complete one.
3. Only one pruning runs at a time, and calls continue meanwhile. While the ledger cannot write, nothing is pruned.
4. Removed content must not remain in the database's own log either. If a reader prevents truncating that log, this is
   retried before the next pruning, and whenever the retention settings are applied.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

import anyio
import structlog
from anyio import to_thread

from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.clock import Clock
from mcpguard.domain.errors import LedgerUnavailable
from mcpguard.ledger.format import Fields
from mcpguard.ledger.ledger import Append, Ledger
from mcpguard.ledger.pruning_survey import PruningSurvey
from mcpguard.ledger.prunings import PrunedPart, PruningCause, Stretch, Unsound, first_unpruned, unfinished_prunings
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.durability import Durability
from mcpguard.store.engine.store import Store
from mcpguard.store.rows import checkpoints, pruning
from mcpguard.store.search import search_index

FEWEST: Final = 10
FIRST: Final = 50
MOST: Final = 1000
JOB_SECONDS: Final = 0.003
"""Seconds that one job should take: every call waits for it."""
NOBODY: Final[Fields] = {}
log = structlog.get_logger("mcpguard.ledger")


class Pruner:
    """Empties the stretches that a survey has found."""

    def __init__(self, store: Store, ledger: Ledger, clock: Clock) -> None:
        self.survey = PruningSurvey(store.readers, ledger)
        self._store = store
        self._ledger = ledger
        self._clock = clock
        self._alone = anyio.Lock()
        self._clean = False
        self._forgotten = False
        self._at_once = FIRST

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Hold off other prunings, after completing those that were interrupted.

        Raises LedgerUnavailable or StoreUnavailable.
        """
        async with self._alone:
            if not self._clean:
                await self._finish()
            await self._forget()
            yield

    async def prune(self, stretches: Sequence[Stretch], why: PruningCause, asked: Fields = NOBODY) -> list[int]:
        """Record these prunings and carry them out. Returns the numbers of the records. The caller must hold `alone`.

        Raises LedgerUnavailable or StoreUnavailable: then a part is done, and the next run completes it.
        """
        self._clean = False
        # Synced before anything is removed: a crash must leave a record of what is missing.
        numbers = await self._ledger.transact(partial(self._announced, stretches, why, asked))
        for stretch in stretches:
            log.info("ledger.pruned", what=stretch.what.value, first=stretch.first, last=stretch.last, why=why.value)
            await self._empty(stretch)
        self._clean = True
        await self._forget()
        return numbers

    async def prune_bodies_of(self, numbers: Iterable[int], asked: Fields) -> list[int]:
        """Record and carry out the pruning of a few bodies in one transaction. Returns the numbers of the records."""
        stretches = [Stretch(PrunedPart.BODIES, number, number, 1) for number in numbers]
        chain = self._ledger.chain.id

        def work(connection: Connection, append: Append) -> list[int]:
            recorded = self._announced(stretches, PruningCause.ASKED, asked, connection, append)
            for stretch in stretches:
                # In the transaction of the record: few bodies need no resumption.
                pruning.empty_bodies(connection, chain, stretch.first, stretch.last)
            return recorded

        self._forgotten = False
        recorded = await self._ledger.transact(work)
        await self._forget()
        return recorded

    def _announced(
        self, stretches: Sequence[Stretch], why: PruningCause, asked: Fields, connection: Connection, append: Append
    ) -> list[int]:
        """Record all of them one after the other, so that later prunings have one gap for them, and not many."""
        # Asked again in the transaction: a pruning that no checkpoint covers could be told from tampering by nobody.
        newest = checkpoints.last_checkpoint(connection, self._ledger.chain.id)
        needed = max(stretch.last + (stretch.what is PrunedPart.RECORDS) for stretch in stretches)
        if newest is None or newest.seq < needed:
            raise Unsound("the checkpoint that covered these records is gone")
        return [append(RecordKind.PRUNED, stretch.fields(why, asked)) for stretch in stretches]

    async def _finish(self) -> None:
        for stretch, _ in await self.survey.run(unfinished_prunings):
            log.info("ledger.pruning_goes_on", what=stretch.what.value, first=stretch.first, last=stretch.last)
            await self._empty(stretch)
        self._clean = True

    async def _forget(self) -> None:
        if not self._forgotten:
            # SQLite's WAL keeps what was removed until it is emptied, and a reader may be in the way of that.
            self._forgotten = await to_thread.run_sync(self._store.forget)
            if not self._forgotten:
                log.info("ledger.forgets_later")

    async def _empty(self, stretch: Stretch) -> None:
        self._forgotten = False
        at = await self.survey.run(first_unpruned, stretch)
        while at is not None:
            # While nothing can be recorded, nothing is removed; the next run completes this one.
            if self._ledger.outage is not None:
                raise LedgerUnavailable(self._ledger.outage.why)
            upto = min(at + self._at_once - 1, stretch.last)
            took = await self._store.writer.submit(partial(self._slice, stretch.what, at, upto), Durability.COMMITTED)
            self._adapt(took)
            at = upto + 1 if upto < stretch.last else None

    def _slice(self, what: PrunedPart, first: int, last: int, connection: Connection) -> float:
        began = self._clock.monotonic()
        empty = search_index.empty_records if what is PrunedPart.RECORDS else pruning.empty_bodies
        empty(connection, self._ledger.chain.id, first, last)
        return self._clock.monotonic() - began

    def _adapt(self, took: float) -> None:
        if took > JOB_SECONDS:
            # Down quickly and up slowly: a call that waits matters more than a pruning that takes longer.
            self._at_once = max(FEWEST, self._at_once // 2)
        elif took < JOB_SECONDS / 2:
            self._at_once = min(MOST, self._at_once + FEWEST)
