"""Determines which keys may sign which records of a chain, following the records that rotate one key to the next.

Rules kept here:
1. A key is introduced once and retired once. It may sign only records after the one that introduced it and up to the
   one that retired it, so that a key stolen later is worthless.
2. If keys were given, keys that rotations link to them are accepted too. Only the given ones and their successors
   count, because an attacker can invent a predecessor.
3. If none was given, the keys that the log announces are accepted.
"""

from collections.abc import Callable, Iterable
from typing import Final

from mcpguard.ledger.format import GENESIS
from mcpguard.ledger.rotations import BadRotation, Rotation
from mcpguard.ledger.verify.report import ChainReport, KeySource, KeyTrust, Tampering
from mcpguard.store.rows.records import StoredRecord

MOST: Final = 10_000
"""Keys, and rotations, of one chain that are followed. No guard has so many, but anybody can write more."""
LONGEST: Final = 100
"""Characters of a key that are considered; a public key has fewer."""


class KeySuccession:
    """The keys of one chain, by its records and by what the verifier knows."""

    def __init__(
        self,
        rotated: Iterable[StoredRecord],
        hash_of: Callable[[int], bytes | None],
        trust: KeyTrust,
        report: ChainReport,
    ) -> None:
        """The keys of external checkpoints are accepted too. They count only if no key was given."""
        given = trust.keys | report.anchor_keys
        self._hash_of = hash_of
        self._report = report
        self._given = bool(given)
        self._believed = {*given}
        self._counting = {*trust.keys} if trust.source is KeySource.GIVEN else {*given}
        self._came: dict[str, int] = {}
        self._went: dict[str, int] = {}
        self._right: dict[int, Rotation] = {}
        self._wrong: dict[int, str] = {}
        for record in rotated:
            # Each costs two signatures: a log of millions of rotations would keep a verifier busy for ever.
            if len(self._right) + len(self._wrong) >= MOST:
                self._forged(record.seq, f"there are more than {MOST:,} rotations")
                break
            self._read(record)
        if self._given:
            self._join()

    def announce(self, key: str) -> None:
        """Take note that the log says that this key signs from here on."""
        known = self._report.keys
        if len(key) > LONGEST:
            return  # no key is so long, so nothing can be signed by it
        if key not in known and len(known) >= MOST:
            seq = max(self._report.last_seq, 1)
            self._report.add_problem(seq, Tampering.KEY_FORGED, f"more than {MOST:,} keys are announced for this chain")
            return
        known.add(key)
        if not self._given:
            self._believed.add(key)
            self._counting.add(key)

    def reach(self, seq: int) -> None:
        """The walk comes to a rotation: check it, and accept the new key."""
        rotation = self._right.get(seq)
        if rotation is None:
            self._forged(seq, self._wrong.get(seq, "its columns do not match its kind"))
        elif rotation.previous not in self._believed:
            self._forged(seq, "neither key is trusted")
        else:
            self._report.rotations += 1
            self.announce(rotation.key)

    def fault(self, key: str, seq: int) -> str:
        """Why a checkpoint of this record by this key is not valid; empty if it is."""
        if key not in self._believed:
            return "by an untrusted key"
        # A new key that signs what was before it would vouch for what it never saw.
        if seq <= self._came.get(key, 0):
            return f"by a key that was introduced only by record {self._came[key]}"
        if seq > self._went.get(key, seq):
            return f"by a key that was retired by record {self._went[key]}"
        return ""

    def retirement_of(self, key: str) -> int | None:
        """The number of the record that retired this key; None if none did."""
        return self._went.get(key)

    def counts(self, key: str) -> bool:
        """Tell whether signatures of this key count."""
        return key in self._counting

    def _read(self, record: StoredRecord) -> None:
        try:
            rotation = Rotation.verify(record.content or b"")
        except BadRotation as error:
            self._wrong[record.seq] = str(error)
            return
        if (rotation.chain, rotation.seq) != (self._report.chain, record.seq):
            self._wrong[record.seq] = "it was signed for another record or chain"
        # Signed for another history: a rotation that was copied from a log which was rewritten since.
        elif rotation.after != (self._before(record.seq) or rotation.after):
            self._wrong[record.seq] = "it was signed for a different previous record"
        # A stolen old key must not rotate to a key of the thief after it was retired.
        elif rotation.previous in self._went:
            self._wrong[record.seq] = f"the old key was already retired by record {self._went[rotation.previous]}"
        elif rotation.key in self._came or rotation.key in self._went:
            self._wrong[record.seq] = "the new key is part of an earlier rotation"
        else:
            self._right[record.seq] = rotation
            self._went[rotation.previous] = self._came[rotation.key] = record.seq

    def _before(self, seq: int) -> str:
        """The hash before a record; empty if that record is missing, which the walk reports."""
        stored = GENESIS if seq == 1 else self._hash_of(seq - 1)
        return stored.hex() if stored else ""

    def _join(self) -> None:
        """Extend the given keys by rotations: forward to those that count, both ways to those that are accepted."""
        forward = [self._right[seq] for seq in sorted(self._right)]
        for rotation in forward:
            # A rotation whose predecessor is missing is not tied to this history.
            if rotation.previous in self._counting and self._before(rotation.seq):
                self._counting.add(rotation.key)
            if rotation.previous in self._believed:
                self._believed.add(rotation.key)
        for rotation in reversed(forward):
            if rotation.key in self._believed:
                self._believed.add(rotation.previous)

    def _forged(self, seq: int, why: str) -> None:
        self._report.add_problem(seq, Tampering.KEY_FORGED, f"its key rotation is not accepted: {why}")
