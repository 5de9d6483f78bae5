"""Looking at what could be pruned, page by page, on connections that cannot write.

Rules kept here:
1. Only what lies below the newest signed checkpoint may go, and below the oldest call that is open or that a person can
   still answer. What was opened before something was pruned was closed before it, too.
2. What says what was pruned, which key signs from now on, and with what this guard started stays, wherever it lies: a
   stretch ends before it.
3. What is about to go is verified first (`soundness`). Where it is not what was written, nothing goes.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

from mcpguard.domain.calls.records import RecordKind
from mcpguard.ledger.format import GENESIS
from mcpguard.ledger.ledger import Ledger
from mcpguard.ledger.prunings import Covered, Stretch, Unsound, What, reached, said
from mcpguard.ledger.soundness import check_alone, check_bodies, sound
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.readers import Readers
from mcpguard.store.rows import checkpoints, holds, pruning, records
from mcpguard.store.rows.pages import batched
from mcpguard.store.rows.records import StoredRecord

PAGE: Final = 500
"""Records that are read at once."""
MOST: Final = 25_000
"""Records, or bodies, that are pruned at once: as many as go in a few seconds."""
MOST_STRETCHES: Final = 200
_FAR: Final = 50_000
T = TypeVar("T")


class Surveying:
    """Reads the chain that this guard writes."""

    def __init__(self, readers: Readers, ledger: Ledger) -> None:
        self._readers = readers
        self._ledger = ledger

    async def horizon(self) -> int:
        """The last record that may go."""
        signed = await self.signed()
        # What was opened before that is in here as long as it is open; what comes later lies beyond it.
        unsettled = self._ledger.unsettled
        return min(signed, await self.run(partial(_oldest, unsettled=unsettled), signed)) - 1

    async def signed(self) -> int:
        """Up to which record the newest signed checkpoint covers."""
        return await self.run(_signed)

    async def reached(self, what: What) -> int:
        """Up to which number nothing of this is left that could be pruned."""
        return reached(await self.run(said), what)

    async def older(self, after: int, upto: int, before: int, now: int) -> int:
        """The last of these records that was made before a moment, and all before it too. Times in the future say
        nothing; clocks are set."""
        last = after
        while after < upto:
            page = await self.run(pruning.times, after, upto, PAGE)
            for seq, at in page:
                if before <= at <= now:
                    return last
                last = seq if at < before else last
            if len(page) < PAGE:
                return last
            after = page[-1][0]
        return last

    async def bytes_taken(self, after: int, upto: int) -> int:
        """What the database takes; on a server what its records and bodies do, as if they lay close together."""
        found = await self._readers.run(pruning.file_bytes)
        if found is not None:
            return found
        size = upto * pruning.ROW_BYTES
        for first in range(after + 1, upto + 1, _FAR):
            size += await self.run(pruning.content_bytes, first, min(first + _FAR - 1, upto))
        return size

    async def count(self, what: What, after: int, upto: int) -> int:
        """How many there are after one and up to another that could go."""
        look = pruning.count_full if what is What.RECORDS else pruning.count_full_bodies
        found = 0
        for first in range(after + 1, upto + 1, _FAR):
            found += await self.run(look, first, min(first + _FAR - 1, upto))
        return found - int(what is What.RECORDS and after < self._ledger.started <= upto)

    async def records(self, after: int, upto: int) -> tuple[Stretch, ...]:
        """The stretches of records after one and up to another, as many as are pruned at once. Raises Unsound."""
        walked = _Walked(self._ledger.started, after, Covered(await self.run(said), What.BODIES))
        while walked.seq < upto and walked.count < MOST and len(walked.done) < MOST_STRETCHES:
            await self.run(walked.on, min(PAGE, upto - walked.seq))
        return walked.finish()

    async def bodies(self, after: int, upto: int) -> tuple[Stretch, ...]:
        """The one stretch with the bodies after a number and up to another, as many as are pruned at once. Raises
        Unsound."""
        found = await self.run(pruning.full_bodies, after + 1, upto, MOST)
        if not found:
            return ()
        await self.check(found)
        last = upto if len(found) < MOST else found[-1]
        return (Stretch(What.BODIES, after + 1, last, len(found)),)

    async def check(self, numbers: Sequence[int]) -> None:
        """Whether these records and their bodies are what was written. Raises Unsound."""
        for some in batched(numbers):
            await self.run(check_alone, some)

    async def run(self, work: Callable[..., T], *more: Any) -> T:  # noqa: ANN401 - what it takes
        """What `work` finds in this chain."""
        chain = self._ledger.chain.id
        return await self._readers.run(lambda connection: work(connection, chain, *more))


@dataclass(slots=True)
class _Open:
    """A stretch that is being made."""

    first: int
    count: int = 0
    hashes: Any = field(default_factory=hashlib.sha256)
    keys: dict[str, None] = field(default_factory=dict)

    def done(self) -> Stretch:
        last = self.first + self.count - 1
        return Stretch(What.RECORDS, self.first, last, self.count, self.hashes.hexdigest(), " ".join(self.keys))


class _Walked:
    """A walk over records that may go. On a reader's thread."""

    def __init__(self, started: int, after: int, gone: Covered) -> None:
        """`gone`: where bodies were pruned before."""
        self.seq = after
        self.count = 0
        self.done: list[Stretch] = []
        self._started = started
        self._gone = gone
        self._previous: bytes | None = None
        self._open: _Open | None = None

    def on(self, connection: Connection, chain: str, limit: int) -> None:
        """Take the next so many. Raises Unsound."""
        if self._previous is None:
            self._previous = _hash(connection, chain, self.seq)
        told: dict[int, Mapping[str, Any]] = {}
        for stored in records.after(connection, chain, self.seq, limit):
            if stored.seq != self.seq + 1:
                break
            said = told[stored.seq] = sound(chain, stored, self._previous)
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
            self._open.keys[str(said.get("key"))] = None
        self.count += 1

    def _end(self) -> None:
        if self._open is not None:
            self.done.append(self._open.done())
            self._open = None


def _signed(connection: Connection, chain: str) -> int:
    newest = checkpoints.last(connection, chain)
    return newest.seq if newest else 0


def _oldest(connection: Connection, chain: str, most: int, unsettled: Iterable[str]) -> int:
    """The number of the first record of what is not over, or `most`."""
    asked = [hold.id for hold in holds.every(connection)]
    return min(records.opened_at(connection, chain, [*unsettled, *asked]).values(), default=most)


def _hash(connection: Connection, chain: str, seq: int) -> bytes:
    return (records.hash_of(connection, chain, seq) if seq else None) or GENESIS
