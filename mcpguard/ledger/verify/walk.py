"""One walk over one chain, from its first record to its last.

For every record, in this order (the first thing found wrong is the one reported for it):
1. its number follows the one before: a gap means that records were removed;
2. its content says the same number and chain as its place in the table: otherwise it was moved;
3. its hash is the hash of the one before and its content: otherwise one of the two was edited;
4. the columns repeat the content: otherwise they were edited, and searches would lie;
5. the checkpoint made after it names its hash: otherwise everything up to here was written anew;
6. its body is the one that it describes; its entry is opened once and closed once.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mcpguard.ledger.format import GENESIS, link, parsed
from mcpguard.ledger.keys import named
from mcpguard.ledger.verify.bodies import BodyCheck
from mcpguard.ledger.verify.calls_closed import Entries
from mcpguard.ledger.verify.report import ChainReport, Tampering
from mcpguard.ledger.verify.signatures import Signatures
from mcpguard.ledger.verify.tombstones import Tombstones
from mcpguard.store.rows.records import COLUMNS, StoredRecord

_SAID_ANYWAY = {"chain", "seq"}
Progress = Callable[[int], None]
TOLD_EVERY = 1000
"""Records after which it is told how far the walk has come."""


class Walk:
    """The state of a walk: where it is and what hash the next record must follow."""

    def __init__(
        self, report: ChainReport, signatures: Signatures, bodies: BodyCheck, tombstones: Tombstones, progress: Progress
    ) -> None:
        self._report = report
        self._signatures = signatures
        self._bodies = bodies
        self._tombstones = tombstones
        self._entries = Entries(report, tombstones)
        self._progress = progress
        self._previous: bytes | None = GENESIS
        self._signer: object = None
        """The key that was announced last."""

    def begin_after(self, seq: int, stored_hash: bytes | None) -> None:
        """The first record is not the chain's first: it follows this one, whose hash may not be known."""
        self._report.last_seq, self._previous = seq, stored_hash
        self._entries.lost()

    def over(self, records: Iterable[StoredRecord]) -> None:
        for stored in records:
            self._step(stored)
        self._bodies.finish()
        self._tombstones.finish()
        self._signatures.finish()

    def _step(self, stored: StoredRecord) -> None:
        seq, report = stored.seq, self._report
        if seq < 1:
            self._found(seq, Tampering.ADDED, "a chain has no record with this number")
            return
        if seq > report.last_seq + 1:
            self._missing(report.last_seq + 1, seq - 1)
        report.records += 1
        report.last_seq = seq
        if stored.content is None:
            self._take_tombstone(stored)
        else:
            self._take_record(stored, stored.content)
        self._previous = stored.hash
        if report.records % TOLD_EVERY == 0:
            self._progress(seq)

    def _missing(self, first: int, last: int) -> None:
        gone = f"record {first} is" if first == last else f"records {first} to {last} are"
        self._found(first, Tampering.REMOVED, f"{gone} missing")
        self._previous = None  # nothing to hold the next hash against

    def _take_tombstone(self, stored: StoredRecord) -> None:
        self._report.pruned += 1
        columns = zip(COLUMNS, stored.columns, strict=True)
        if any(value is not None and name not in _SAID_ANYWAY for name, value in columns):
            self._found(stored.seq, Tampering.EDITED, "its content is gone, but its columns are not")
        self._tombstones.passed(stored.seq, stored.hash)
        self._tombstones.record(stored.seq)
        self._bodies.skip(stored.seq)
        self._signatures.take(stored.seq, stored.hash)

    def _take_record(self, stored: StoredRecord, content: bytes) -> None:
        seq = stored.seq
        record = parsed(content)
        if record.get("seq", seq) != seq or record.get("chain", self._report.chain) != self._report.chain:
            where = f"record {record.get('seq')} of chain {record.get('chain')}"
            self._found(seq, Tampering.REORDERED, f"what lies here says that it is {where}")
        elif self._previous is not None and link(self._previous, content) != stored.hash:
            self._found(seq, Tampering.EDITED, "its content or its hash is not what was written")
        elif stored.columns != (said := tuple(map(record.get, COLUMNS))):
            pairs = zip(COLUMNS, stored.columns, said, strict=True)
            different = ", ".join(name for name, lies, was in pairs if lies != was)
            self._found(seq, Tampering.COLUMNS_EDITED, f"columns differ from what was recorded: {different}")
        self._tombstones.passed(seq, stored.hash, kind=record.get("kind"))
        self._note(seq, record)
        self._signatures.take(seq, stored.hash)
        self._bodies.take(seq, record)

    def _note(self, seq: int, record: Mapping[str, Any]) -> None:
        report = self._report
        at = record.get("at")
        report.last_at = at if isinstance(at, int) else report.last_at
        match record.get("kind"):
            case "opened" | "released" | "closed":
                self._entries.take(seq, record)
            case "started":
                self._started(seq, record.get("key"))
            case "pruned":
                self._tombstones.reach(seq, record, max(report.signed_to, report.earlier_to))
            case "rotated":
                self._signatures.keys.reach(seq)
                self._signer = record.get("key")
                report.noticed("rotated", f"record {seq}: another key signs from here on: {named(record.get('key'))}")
            case "lost":
                self._entries.lost()
                report.noticed(
                    "lost",
                    f"record {seq}: the guard found the chain ending at {record.get('found')} after it had "
                    f"acknowledged {record.get('acknowledged')}; what lay between is lost",
                )
            case "rolled_back":
                report.noticed(
                    "rolled_back",
                    f"record {seq}: the guard started with a store that ended at {record.get('found')}, and the anchor "
                    f"file spoke of record {record.get('anchored')}: it was rolled back or rewritten before",
                )
            case "resumed":
                report.noticed(
                    "resumed",
                    f"record {seq}: the guard could not record for a time and refused {record.get('refused')}",
                )
            case _:
                pass

    def _started(self, seq: int, key: object) -> None:
        if self._signer not in (None, key):
            exchanged = "without having been rotated to: the key file was exchanged or lost while no guard ran"
            self._report.noticed("started", f"record {seq}: another key signs from here on, {named(key)}, {exchanged}")
        self._signer = key
        self._signatures.keys.announce(str(key))

    def _found(self, seq: int, tampering: Tampering, sentence: str) -> None:
        self._report.found(seq, tampering, sentence)
