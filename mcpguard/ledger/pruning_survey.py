"""Determines what can be pruned, page by page, on read-only connections.

Rules kept here:
1. Only records before the newest signed checkpoint, and before the oldest call that is open or held, may be pruned. So
   every call that was opened before a pruned record was also closed before it.
2. Records about prunings and key rotations, and the one with which this guard started, are always kept: a stretch ends
   before them.
3. The records to be removed are verified first (`soundness`). If they were tampered with, nothing is removed.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

from mcpguard.domain.calls.records import RecordKind
from mcpguard.ledger.format import GENESIS
from mcpguard.ledger.ledger import Ledger
from mcpguard.ledger.prunings import CoveredNumbers, PrunedPart, Stretch, Unsound, pruned_up_to, recorded_prunings
from mcpguard.ledger.soundness import check_alone, check_bodies, sound
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.readers import Readers
from mcpguard.store.rows import checkpoints, holds, pruning, records
from mcpguard.store.rows.pages import batches
from mcpguard.store.rows.records import StoredRecord

PAGE: Final = 500
"""Records that are read at once."""
MOST: Final = 25_000
"""Records, or bodies, that are pruned at once: as many as take a few seconds."""
MOST_STRETCHES: Final = 200
_FAR: Final = 50_000
T = TypeVar("T")


class PruningSurvey:
    """Finds what could be pruned in the chain that this guard writes."""

    def __init__(self, readers: Readers, ledger: Ledger) -> None:
        self._readers = readers
        self._ledger = ledger

    async def horizon(self) -> int:
        """The number of the last record that may be pruned."""
        # The newest checkpoint stays verifiable: its own record is not pruned.
        signed = await self.signed_up_to()
        # Read after `signed`: a call that is opened later lies beyond it, and one that is open now is in here.
        unsettled = self._ledger.unsettled_entries
        return min(signed, await self.run(partial(_oldest, unsettled=unsettled), signed)) - 1

    async def signed_up_to(self) -> int:
        """The number of the record that the newest checkpoint covers; 0 if there is none."""
        return await self.run(_signed)

    async def pruned_up_to(self, what: PrunedPart) -> int:
        """Up to which number all records, or all bodies, were pruned."""
        return pruned_up_to(await self.run(recorded_prunings), what)

    async def older(self, after: int, upto: int, before: int, now: int) -> int:
        """The last of these records up to which all are older than a moment. Times in the future are ignored, as clocks
        are set."""
        last = after
        while after < upto:
            page = await self.run(pruning.times, after, upto, PAGE)
            for seq, at in page:
                # A record from the future is from a clock that was set wrong; it must not keep the older ones for ever.
                if before <= at <= now:
                    return last
                last = seq if at < before else last
            if len(page) < PAGE:
                return last
            after = page[-1][0]
        return last

    async def bytes_taken(self, after: int, upto: int) -> int:
        """The size of the database file; of a server, an estimate from its records and bodies."""
        found = await self._readers.run(pruning.file_bytes)
        if found is not None:
            return found
        size = upto * pruning.ROW_BYTES
        for first in range(after + 1, upto + 1, _FAR):
            size += await self.run(pruning.content_bytes, first, min(first + _FAR - 1, upto))
        return size

    async def count(self, what: PrunedPart, after: int, upto: int) -> int:
        """How many records, or bodies, after one number and up to another could be pruned."""
        look = pruning.count_full if what is PrunedPart.RECORDS else pruning.count_full_bodies
        found = 0
        for first in range(after + 1, upto + 1, _FAR):
            found += await self.run(look, first, min(first + _FAR - 1, upto))
        return found - int(what is PrunedPart.RECORDS and after < self._ledger.started <= upto)

    async def records(self, after: int, upto: int) -> tuple[Stretch, ...]:
        """The stretches of records after one number and up to another that can be pruned at once. Raises Unsound."""
        walked = _SurveyWalk(
            self._ledger.started, after, CoveredNumbers(await self.run(recorded_prunings), PrunedPart.BODIES)
        )
        while walked.seq < upto and walked.count < MOST and len(walked.done) < MOST_STRETCHES:
            await self.run(walked.advance, min(PAGE, upto - walked.seq))
        return walked.finish()

    async def bodies(self, after: int, upto: int) -> tuple[Stretch, ...]:
        """The stretch of bodies after one number and up to another that can be pruned at once. Raises Unsound."""
        found = await self.run(pruning.full_bodies, after + 1, upto, MOST)
        if not found:
            return ()
        await self.check(found)
        last = upto if len(found) < MOST else found[-1]
        return (Stretch(PrunedPart.BODIES, after + 1, last, len(found)),)

    async def check(self, numbers: Sequence[int]) -> None:
        """Check that these records and their bodies are what was written. Raises Unsound."""
        for some in batches(numbers):
            await self.run(check_alone, some)

    async def run(self, work: Callable[..., T], *more: Any) -> T:  # noqa: ANN401 - what it takes
        """The result of `work` on this chain, on a connection for reading."""
        chain = self._ledger.chain.id
        return await self._readers.run(lambda connection: work(connection, chain, *more))


@dataclass(slots=True)
class _Open:
    """A stretch that is being collected."""

    first: int
    count: int = 0
    hashes: Any = field(default_factory=hashlib.sha256)
    keys: dict[str, None] = field(default_factory=dict)

    def stretch(self) -> Stretch:
        last = self.first + self.count - 1
        return Stretch(PrunedPart.RECORDS, self.first, last, self.count, self.hashes.hexdigest(), " ".join(self.keys))


class _SurveyWalk:
    """Walks over records that may go, verifies them, and collects stretches. Runs on a reader's thread."""

    def __init__(self, started: int, after: int, gone: CoveredNumbers) -> None:
        """`gone`: the numbers whose bodies were pruned before."""
        self.seq = after
        self.count = 0
        self.done: list[Stretch] = []
        self._started = started
        self._gone = gone
        self._previous: bytes | None = None
        self._open: _Open | None = None

    def advance(self, connection: Connection, chain: str, limit: int) -> None:
        """Take the next records, as many as `limit`. Raises Unsound."""
        if self._previous is None:
            self._previous = _hash(connection, chain, self.seq)
        told: dict[int, Mapping[str, Any]] = {}
        for stored in records.records_after(connection, chain, self.seq, limit):
            # A gap. What is missing is reported below, and nothing is pruned.
            if stored.seq != self.seq + 1:
                break
            said = told[stored.seq] = sound(chain, stored, self._previous)
            # Pruning these would take away what verifying needs: keys, prunings, the start of this guard.
            if said.get("kind") in pruning.NEVER or stored.seq == self._started:
                self._end()
            else:
                self._add(stored, said)
            self.seq, self._previous = stored.seq, stored.hash
        if len(told) < limit:
            raise Unsound(f"record {self.seq + 1} is missing")
        with_body = {*pruning.with_body(connection, chain, self.seq - limit + 1, self.seq)}
        speaking = {seq for seq, said in told.items() if said.get("body_kept") is True}
        check_bodies(connection, chain, {seq: told[seq] for seq in with_body | speaking}, self._gone)

    def finish(self) -> tuple[Stretch, ...]:
        self._end()
        return tuple(self.done)

    def _add(self, stored: StoredRecord, said: Mapping[str, Any]) -> None:
        if self._open is None:
            self._open = _Open(stored.seq)
        self._open.count += 1
        self._open.hashes.update(stored.hash)
        if said.get("kind") == RecordKind.STARTED:
            # Their announcement goes with the record, so the pruning record repeats it.
            self._open.keys[str(said.get("key"))] = None
        self.count += 1

    def _end(self) -> None:
        if self._open is not None:
            self.done.append(self._open.stretch())
            self._open = None


def _signed(connection: Connection, chain: str) -> int:
    newest = checkpoints.last_checkpoint(connection, chain)
    return newest.seq if newest else 0


def _oldest(connection: Connection, chain: str, most: int, unsettled: Iterable[str]) -> int:
    """The number of the first record of the calls that are open or held, at most `most`."""
    asked = [hold.id for hold in holds.list_holds(connection)]
    return min(records.opened_at(connection, chain, [*unsettled, *asked]).values(), default=most)


def _hash(connection: Connection, chain: str, seq: int) -> bytes:
    return (records.hash_of(connection, chain, seq) if seq else None) or GENESIS
