"""The walk over one chain, from its first record to its last.

For every record, in this order (only the first problem of a record is reported):
1. its number follows the previous one: a gap means that records were removed;
2. its content has the number and chain of its row: otherwise it was moved;
3. its hash is that of the previous hash and its content: otherwise one of them was edited;
4. its columns repeat the content: otherwise they were edited, and searches would give wrong results;
5. the checkpoint made after it has its hash: otherwise everything up to this record was rewritten;
6. its body matches its fields; its entry is opened once and closed once.

A segment whose records were found right by themselves is only joined to what came before it. That finds the same, in
the same order, as checking its records one by one, or does not happen.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mcpguard.ledger.format import GENESIS, link, parse_content
from mcpguard.ledger.keys import display_name
from mcpguard.ledger.verify.bodies import BodyCheck
from mcpguard.ledger.verify.call_entries import CallEntries
from mcpguard.ledger.verify.plain_segment import HASH_BYTES, PlainSegment
from mcpguard.ledger.verify.report import ChainReport, Tampering
from mcpguard.ledger.verify.signatures import Signatures
from mcpguard.ledger.verify.tombstones import Tombstones
from mcpguard.store.rows.records import COLUMNS, StoredRecord

_SAID_ANYWAY = {"chain", "seq"}
Progress = Callable[[int], None]
TOLD_EVERY = 1000
"""Records after which progress is reported."""


class Walk:
    """The state of a walk: where it is and what hash the next record must follow."""

    def __init__(self, report: ChainReport, signatures: Signatures, tombstones: Tombstones, progress: Progress) -> None:
        self._report = report
        self._signatures = signatures
        self._tombstones = tombstones
        self._entries = CallEntries(report, tombstones)
        self._progress = progress
        self._previous: bytes | None = GENESIS
        self._signer: object = None
        """The key that was announced last."""

    def begin_after(self, seq: int, stored_hash: bytes | None) -> None:
        """Start in the middle of the chain, after this record, whose hash may not be known."""
        self._report.last_seq, self._previous = seq, stored_hash
        self._entries.expect_lost_openings()

    def run(self, records: Iterable[StoredRecord], bodies: BodyCheck) -> None:
        """Check these records one by one, each with its body, and then which bodies are left of these."""
        for stored in records:
            self._step(stored, bodies)
        bodies.finish()

    def join(self, plain: PlainSegment) -> bool:
        """Check how a segment follows what came before it. Return False, and take nothing, if its records need to be
        checked one by one."""
        report = self._report
        follows = plain.first == report.last_seq + 1 and self._previous is not None
        if not follows or link(self._previous or b"", plain.content) != plain.hashes[:HASH_BYTES]:
            return False
        if not self._entries.may_pass(plain.paired, plain.opened):
            return False
        if not self._tombstones.pass_plain(plain.last, plain.emptied):
            return False
        for seq, record in plain.steps:
            self._sign(plain, seq - 1)
            report.last_seq = seq
            self._note(seq, record)
        self._sign(plain, plain.last)
        report.records += plain.last - plain.first + 1
        report.bodies += plain.bodies
        report.last_seq = plain.last
        report.last_at = report.last_at if plain.last_at is None else plain.last_at
        self._previous = plain.hashes[-HASH_BYTES:]
        self._progress(plain.last)
        return True

    def finish(self) -> None:
        """Check what is left of prunings and checkpoints after the last record."""
        self._tombstones.finish()
        self._signatures.finish()

    def _sign(self, plain: PlainSegment, upto: int) -> None:
        """Take the checkpoints of a segment's records up to this one."""
        while (due := self._signatures.due) is not None:
            seq = max(due, plain.first)  # one of an earlier number is of a record that does not exist
            if seq > upto:
                return
            at = (seq - plain.first) * HASH_BYTES
            self._signatures.take(seq, plain.hashes[at : at + HASH_BYTES])

    def _step(self, stored: StoredRecord, bodies: BodyCheck) -> None:
        seq, report = stored.seq, self._report
        if seq < 1:
            self._found(seq, Tampering.ADDED, "no chain has a record with this number")
            return
        # Numbers are given without gaps, so one means that records were removed.
        if seq > report.last_seq + 1:
            self._missing(report.last_seq + 1, seq - 1)
        report.records += 1
        report.last_seq = seq
        if stored.content is None:
            self._take_tombstone(stored, bodies)
        else:
            self._take_record(stored, stored.content, bodies)
        self._previous = stored.hash
        if report.records % TOLD_EVERY == 0:
            self._progress(seq)

    def _missing(self, first: int, last: int) -> None:
        gone = f"record {first} is" if first == last else f"records {first} to {last} are"
        self._found(first, Tampering.REMOVED, f"{gone} missing")
        self._previous = None  # the next hash has nothing to be checked against

    def _take_tombstone(self, stored: StoredRecord, bodies: BodyCheck) -> None:
        self._report.pruned += 1
        columns = zip(COLUMNS, stored.columns, strict=True)
        # A pruned record keeps its number and its hash, and nothing else.
        if any(value is not None and name not in _SAID_ANYWAY for name, value in columns):
            self._found(stored.seq, Tampering.EDITED, "its content was removed, but its columns were not")
        self._tombstones.pass_record(stored.seq, stored.hash)
        self._tombstones.record(stored.seq)
        bodies.skip(stored.seq)
        self._signatures.take(stored.seq, stored.hash)

    def _take_record(self, stored: StoredRecord, content: bytes, bodies: BodyCheck) -> None:
        seq = stored.seq
        record = parse_content(content)
        if record.get("seq", seq) != seq or record.get("chain", self._report.chain) != self._report.chain:
            where = f"record {record.get('seq')} of chain {record.get('chain')}"
            self._found(seq, Tampering.REORDERED, f"the content stored here says that it is {where}")
        # The stored hash goes on as the next previous one: a single edit is one problem, and not one for all that
        # follow.
        elif self._previous is not None and link(self._previous, content) != stored.hash:
            self._found(seq, Tampering.EDITED, "its content or its hash is not what was written")
        # Searching uses the columns, which no hash covers.
        elif stored.columns != (said := tuple(map(record.get, COLUMNS))):
            pairs = zip(COLUMNS, stored.columns, said, strict=True)
            different = ", ".join(name for name, lies, was in pairs if lies != was)
            self._found(seq, Tampering.COLUMNS_EDITED, f"columns differ from the recorded content: {different}")
        self._tombstones.pass_record(seq, stored.hash, kind=record.get("kind"))
        self._note(seq, record)
        self._signatures.take(seq, stored.hash)
        bodies.take(seq, record)

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
                report.add_notice(
                    "rotated",
                    f"record {seq}: the signing key was rotated; from here on {display_name(record.get('key'))} signs",
                )
            case "lost":
                self._entries.expect_lost_openings()
                report.add_notice("lost", f"record {seq}: {_lost(record)}")
            case "rolled_back":
                report.add_notice("rolled_back", f"record {seq}: {_rolled_back(record)}")
            case "resumed":
                refused = f"{record.get('refused')} records were refused"
                report.add_notice("resumed", f"record {seq}: the audit log could not be written for a time; {refused}")
            case _:
                pass

    def _started(self, seq: int, key: object) -> None:
        # Not tampering: an operator may lose a key. But nobody vouches for the new one, so the reader must know.
        if self._signer not in (None, key):
            exchanged = "without a rotation: the key file was replaced or lost while no guard was running"
            self._report.add_notice(
                "started", f"record {seq}: from here on another key signs, {display_name(key)}, {exchanged}"
            )
        self._signer = key
        self._signatures.keys.announce(str(key))

    def _found(self, seq: int, tampering: Tampering, sentence: str) -> None:
        self._report.add_problem(seq, tampering, sentence)


def _lost(record: Mapping[str, Any]) -> str:
    return (
        f"the guard found the chain ending at {record.get('found')} after it had acknowledged "
        f"{record.get('acknowledged')}; the records between are lost"
    )


def _rolled_back(record: Mapping[str, Any]) -> str:
    return (
        f"the guard started with a store that ended at {record.get('found')}, while the anchor file has a checkpoint "
        f"of record {record.get('anchored')}: the store had been rolled back or rewritten"
    )
