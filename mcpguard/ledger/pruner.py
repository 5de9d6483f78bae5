"""Pruning: it is recorded what goes, and then it goes, a little at a time.

Rules kept here:
1. First one transaction records which stretches are emptied; it is on the disk before anything is gone. Then short jobs
   empty them from the first record on, with calls served between.
2. What was begun and not ended, by this run or an earlier one, is ended before anything else is pruned. So what may be
   unfinished is what was recorded last, and the search for it ends at the first that is done.
3. Nothing runs beside a pruning but calls. While the ledger cannot write, nothing is pruned.
4. What is gone must not lie in the database's own log either. Where somebody who reads is in the way of that, it is
   tried again before the next pruning, and whenever the settings are looked at.
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
from mcpguard.ledger.prunings import Cause, Stretch, Unsound, What, left, unfinished
from mcpguard.ledger.surveying import Surveying
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.durability import Durability
from mcpguard.store.engine.store import Store
from mcpguard.store.rows import checkpoints, pruning

FEWEST: Final = 10
FIRST: Final = 50
MOST: Final = 1000
JOB_SECONDS: Final = 0.003
"""What one job should take: every call waits for it."""
NOBODY: Final[Fields] = {}
log = structlog.get_logger("mcpguard.ledger")


class Pruner:
    """Empties what was looked at."""

    def __init__(self, store: Store, ledger: Ledger, clock: Clock) -> None:
        self.survey = Surveying(store.readers, ledger)
        self._store = store
        self._ledger = ledger
        self._clock = clock
        self._alone = anyio.Lock()
        self._clean = False
        self._forgotten = False
        self._at_once = FIRST

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Nothing else is pruned meanwhile, and nothing is left over from before.

        Raises LedgerUnavailable or StoreUnavailable.
        """
        async with self._alone:
            if not self._clean:
                await self._finish()
            await self._forget()
            yield

    async def prune(self, stretches: Sequence[Stretch], why: Cause, asked: Fields = NOBODY) -> list[int]:
        """Record it and do it; the numbers of the records. Whoever asks holds `alone`.

        Raises LedgerUnavailable or StoreUnavailable: then some of it is done, and the rest is when it can be.
        """
        self._clean = False
        numbers = await self._ledger.together(partial(self._announced, stretches, why, asked))
        for stretch in stretches:
            log.info("ledger.pruned", what=stretch.what.value, first=stretch.first, last=stretch.last, why=why.value)
            await self._empty(stretch)
        self._clean = True
        await self._forget()
        return numbers

    async def prune_bodies_of(self, numbers: Iterable[int], asked: Fields) -> list[int]:
        """The same at once, for the few bodies of one call."""
        stretches = [Stretch(What.BODIES, number, number, 1) for number in numbers]
        chain = self._ledger.chain.id

        def work(connection: Connection, append: Append) -> list[int]:
            recorded = self._announced(stretches, Cause.ASKED, asked, connection, append)
            for stretch in stretches:
                pruning.empty_bodies(connection, chain, stretch.first, stretch.last)
            return recorded

        self._forgotten = False
        recorded = await self._ledger.together(work)
        await self._forget()
        return recorded

    def _announced(
        self, stretches: Sequence[Stretch], why: Cause, asked: Fields, connection: Connection, append: Append
    ) -> list[int]:
        """All of them one after the other, with nothing between: whatever is pruned later has one gap for them."""
        newest = checkpoints.last(connection, self._ledger.chain.id)
        needed = max(stretch.last + (stretch.what is What.RECORDS) for stretch in stretches)
        if newest is None or newest.seq < needed:
            raise Unsound("the checkpoint that covered this is not there any more")
        return [append(RecordKind.PRUNED, stretch.fields(why, asked)) for stretch in stretches]

    async def _finish(self) -> None:
        for stretch, _ in await self.survey.run(unfinished):
            log.info("ledger.pruning_goes_on", what=stretch.what.value, first=stretch.first, last=stretch.last)
            await self._empty(stretch)
        self._clean = True

    async def _forget(self) -> None:
        if not self._forgotten:
            self._forgotten = await to_thread.run_sync(self._store.forget)
            if not self._forgotten:
                log.info("ledger.forgets_later")

    async def _empty(self, stretch: Stretch) -> None:
        self._forgotten = False
        at = await self.survey.run(left, stretch)
        while at is not None:
            if self._ledger.outage is not None:
                raise LedgerUnavailable(self._ledger.outage.why)
            upto = min(at + self._at_once - 1, stretch.last)
            took = await self._store.writer.submit(partial(self._slice, stretch.what, at, upto), Durability.COMMITTED)
            self._adapt(took)
            at = upto + 1 if upto < stretch.last else None

    def _slice(self, what: What, first: int, last: int, connection: Connection) -> float:
        began = self._clock.monotonic()
        empty = pruning.empty if what is What.RECORDS else pruning.empty_bodies
        empty(connection, self._ledger.chain.id, first, last)
        return self._clock.monotonic() - began

    def _adapt(self, took: float) -> None:
        if took > JOB_SECONDS:
            self._at_once = max(FEWEST, self._at_once // 2)
        elif took < JOB_SECONDS / 2:
            self._at_once = min(MOST, self._at_once + FEWEST)
