"""Counts the calls of the audit log: in the background of a running guard, or all anew.

Rules kept here:
1. What is counted was read from the log after its commit. No call waits for it, and whatever a crash left uncounted is
   counted after the next start.
2. A reader reads some records, and a transaction of its own stores what they change, with the number of the last one.
3. Counts outlive the records that they were counted from. Counting anew keeps the slots whose records were pruned.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import structlog

from mcpguard.domain.calls.counted_calls import CallChanges, Grain
from mcpguard.domain.clock import Clock
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.guard.audit.call_counting import changes_of
from mcpguard.ledger.ledger import Ledger
from mcpguard.store.counts.call_rows import call_rows, pruned_until
from mcpguard.store.counts.count_rows import (
    counted_until_record,
    forget_counts,
    kept_since,
    remove_older,
    store_changes,
)
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.store import Store
from mcpguard.store.rows import records

EVERY_SECONDS: Final = 5.0
REMOVES_EVERY: Final = 3600.0
AT_ONCE: Final = 2000
"""Records that are read at once: it takes a few milliseconds, in which calls have half of the processor."""
log = structlog.get_logger("mcpguard.ledger")


@dataclass(frozen=True, slots=True)
class UncountedPart:
    """The next records that are not counted yet: after `before`, up to `upto`. `more`: there are further ones."""

    before: int
    upto: int
    changes: CallChanges
    more: bool


class CallCounter:
    """Keeps the counts of the chain that this guard writes."""

    def __init__(self, store: Store, ledger: Ledger, clock: Clock) -> None:
        self._store = store
        self._ledger = ledger
        self._clock = clock
        self._seen = 0
        """The number up to which all is counted, as far as this guard knows."""

    async def run(self) -> None:
        """Count what is recorded and remove what is too old, until this is cancelled."""
        removed = self._clock.monotonic() - REMOVES_EVERY
        while True:
            try:
                await self.catch_up()
                if self._clock.monotonic() - removed >= REMOVES_EVERY:
                    removed = self._clock.monotonic()
                    await self._remove_older()
            except StoreUnavailable as error:
                log.warning("ledger.not_counted", why=str(error))  # tried again the next time
            await self._clock.sleep(EVERY_SECONDS)

    async def catch_up(self) -> None:
        """Count all records that are stored now. Raises StoreUnavailable."""
        stored = self._ledger.chain.acknowledged
        more = stored is not None and stored.seq != self._seen
        while more and self._ledger.outage is None:
            part = await self._store.readers.run(partial(_uncounted, chain=self._ledger.chain.id))
            if part.upto > part.before:
                since = kept_since(self._clock.now())
                await self._store.writer.submit(partial(_store, self._ledger.chain.id, part, since))
            self._seen, more = part.upto, part.more

    async def _remove_older(self) -> None:
        remove = partial(remove_older, chain=self._ledger.chain.id, now=self._clock.now())
        while await self._store.writer.submit(remove):
            pass


def count_anew(connection: Connection, chain: str, now: int, told: Callable[[int], None]) -> int:
    """Count all records anew, in the transaction of the connection. Return their number.

    Slots whose records were pruned, in part or as a whole, are only brought up to date.
    """
    since = kept_since(now)
    gone = pruned_until(connection, chain)
    if gone is not None:
        _count_rest(connection, chain, since, told)
    kept = 0 if gone is None else gone + 1
    forget_counts(connection, chain, kept)
    return _count_rest(connection, chain, {grain: max(start, kept) for grain, start in since.items()}, told)


def _count_rest(connection: Connection, chain: str, since: Mapping[Grain, int], told: Callable[[int], None]) -> int:
    more, upto = True, 0
    while more:
        part = _uncounted(connection, chain)
        _store(chain, part, since, connection)
        upto, more = part.upto, part.more
        told(upto)
    return upto


def _uncounted(connection: Connection, chain: str) -> UncountedPart:
    before, last = counted_until_record(connection, chain), records.last_record(connection, chain)
    end = before if last is None else max(before, last[0])
    upto = min(before + AT_ONCE, end)
    return UncountedPart(before, upto, changes_of(call_rows(connection, chain, before + 1, upto)), upto < end)


def _store(chain: str, part: UncountedPart, since: Mapping[Grain, int], connection: Connection) -> None:
    store_changes(connection, chain, (part.before, part.upto), part.changes, since)
