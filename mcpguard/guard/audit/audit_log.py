"""The audit log for readers: records that match a filter, one record, one call, or a signed checkpoint.

The checkpoint is meant to be kept elsewhere.

Rules kept here:
1. Everything is shown as stored. Records that were pruned, or that the guard did not write, are shown as such.
2. A search takes no longer than `PATIENCE`, or `GLANCE` on a page; the client continues from where it stopped. Counting
   takes no longer than `COUNTING`, and reports how far it came.
"""

import base64
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from mcpguard.domain.clock import Clock
from mcpguard.domain.decisions import Actor
from mcpguard.domain.errors import GuardError
from mcpguard.domain.filters import ALL_RECORDS, Filter, FilterKey
from mcpguard.guard.audit.call_context import CallContext, call_context
from mcpguard.guard.audit.histogram import Histogram, grain, histogram
from mcpguard.guard.audit.log_pages import LogPage, log_page
from mcpguard.guard.audit.record_json import body_json, json_object, record_json
from mcpguard.ledger.checkpoints import CheckpointCause, SignedCheckpoint
from mcpguard.ledger.ledger import Ledger
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.store import Store
from mcpguard.store.rows import callers, checkpoints, records
from mcpguard.store.rows.checkpoints import StoredCheckpoint
from mcpguard.store.search import record_counts, record_search

PATIENCE: Final = 0.5
GLANCE: Final = 0.08
COUNTING: Final = 0.05
LATELY: Final = 100_000
"""The newest records, from which the time span is estimated that can be counted."""


class RecordUnknown(GuardError):
    """There is no such record, or nothing is recorded of such a call."""


@dataclass(frozen=True, slots=True)
class RecordPage:
    """A page of records, in the requested order. `last`: where the next page starts; `more`: whether there may be
    one."""

    records: tuple[dict[str, Any], ...]
    last: int
    more: bool


class AuditLog:
    """Reads the hash chain that this guard writes."""

    def __init__(self, store: Store, ledger: Ledger, clock: Clock) -> None:
        self._store = store
        self._ledger = ledger
        self._clock = clock

    async def page(
        self, wanted: Filter = ALL_RECORDS, start: int | None = None, limit: int = 100, *, newest_first: bool = False
    ) -> RecordPage:
        """The records that match, starting after this number. Raises StoreUnavailable."""
        # A filter that matches nothing would otherwise read the whole log, and hold a reader all the while.
        until = self._clock.monotonic() + PATIENCE
        look = partial(
            record_search.search,
            chain=self._ledger.chain.id,
            wanted=wanted,
            start=start,
            limit=limit,
            newest_first=newest_first,
            patience=lambda: self._clock.monotonic() < until,
        )
        found = await self._store.readers.run(look)
        return RecordPage(tuple(map(record_json, found.records)), found.reached, not found.ended)

    async def calls(
        self, wanted: Filter = ALL_RECORDS, start: int | None = None, limit: int = 100, *, newest_first: bool = True
    ) -> LogPage:
        """The calls and other records that match, each call once, starting after this number. Raises
        StoreUnavailable."""
        until = self._clock.monotonic() + GLANCE
        look = partial(
            log_page,
            chain=self._ledger.chain.id,
            wanted=wanted,
            start=start,
            limit=limit,
            newest_first=newest_first,
            patience=lambda: self._clock.monotonic() < until,
        )
        return await self._store.readers.run(look)

    async def histogram(self, wanted: Filter = ALL_RECORDS) -> Histogram:
        """How many records match, over time. Raises StoreUnavailable."""
        chain, now = self._ledger.chain.id, self._clock.now()
        until = self._clock.monotonic() + COUNTING

        def look(connection: Connection) -> Histogram:
            fine = grain(_extent(connection, chain, wanted, now))
            counted = record_counts.count(connection, chain, wanted, fine, lambda: self._clock.monotonic() < until)
            terms = _with_labels(connection, counted.terms)
            return histogram(replace(counted, terms=terms), fine, wanted, now)

        return await self._store.readers.run(look)

    async def record(self, seq: int) -> dict[str, Any]:
        """One record with its body, its previous hash and its checkpoint. Raises RecordUnknown and StoreUnavailable."""
        return await self._store.readers.run(partial(_whole, chain=self._ledger.chain.id, seq=seq))

    async def call(self, entry: str) -> list[dict[str, Any]]:
        """All records of one call, with their bodies. Raises RecordUnknown and StoreUnavailable."""
        chain = self._ledger.chain.id

        def look(connection: Connection) -> list[dict[str, Any]]:
            found = record_search.call_records(connection, chain, entry)
            return [{**record_json(one), "body": body_json(connection, chain, one.seq)} for one in found]

        found = await self._store.readers.run(look)
        if not found:
            raise RecordUnknown("the audit log has no call with this id")
        return found

    async def context(self, opening: dict[str, Any]) -> CallContext:
        """What surrounds the call that this record opens. Raises StoreUnavailable."""
        until = self._clock.monotonic() + GLANCE
        content, seq = opening["content"] or {}, opening["seq"]

        def look(connection: Connection) -> CallContext:
            return call_context(
                connection, self._ledger.chain.id, content, seq, lambda: self._clock.monotonic() < until
            )

        return await self._store.readers.run(look)

    async def checkpoint(self, by: Actor) -> SignedCheckpoint:
        """A checkpoint of all that is recorded at this moment: signed now, or the newest where nothing came after it.
        It adds no record, which it could not cover. Raises Lapsed and LedgerUnavailable."""
        by.check()
        return await self._ledger.checkpoint(CheckpointCause.EXPORT)


def _with_labels(
    connection: Connection, terms: Mapping[tuple[FilterKey, str], int]
) -> Mapping[tuple[FilterKey, str], int]:
    """The terms, with the labels of callers in place of their ids."""
    labels = callers.labels_of(connection, [value for key, value in terms if key is FilterKey.CALLER])
    named = Counter[tuple[FilterKey, str]]()
    for (key, value), number in terms.items():
        named[key, labels.get(value, value) if key is FilterKey.CALLER else value] += number
    return named


def _extent(connection: Connection, chain: str, wanted: Filter, now: int) -> int:
    """Roughly the time span of the records that match, as far as they can be counted."""
    last = records.last_record(connection, chain)
    number = last[0] if last else 0
    first = record_counts.made_at(connection, chain, 1) if wanted.since is None else wanted.since
    lately = record_counts.made_at(connection, chain, max(1, number - LATELY))
    end = now if wanted.until is None else wanted.until
    times = (end - (now if first is None else first), 4 * (now - (now if lately is None else lately)))
    return max(0, min(times))


def _whole(connection: Connection, chain: str, seq: int) -> dict[str, Any]:
    found = record_search.record_at(connection, chain, seq)
    if found is None:
        raise RecordUnknown("the audit log has no record with this number")
    previous = records.hash_of(connection, chain, seq - 1) if seq > 1 else None
    signed = checkpoints.covering_checkpoint(connection, chain, seq)
    return {
        **record_json(found),
        "previous": previous.hex() if previous else None,
        "body": body_json(connection, chain, seq),
        "checkpoint": None if signed is None else _statement(signed),
    }


def _statement(signed: StoredCheckpoint) -> dict[str, Any]:
    return {"content": json_object(signed.content), "signature": base64.b64encode(signed.signature).decode()}
