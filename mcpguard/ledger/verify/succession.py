"""Which keys a chain may be signed with, and from where to where: keys follow each other by records.

Rules kept here:
1. A key is followed once and follows once. What it signs lies behind the record by which it came, and not behind the
   one by which it went: a key that was stolen after that is worth nothing.
2. Where keys were given, those that are joined to them by records are believed too. Only the given ones and those that
   follow them count for what an answer rests on: whoever was before may be anybody's invention.
3. Where none was given, the log's own announcements are believed.
"""

from collections.abc import Callable, Iterable
from typing import Final

from mcpguard.ledger.format import GENESIS
from mcpguard.ledger.rotations import BadRotation, Rotation
from mcpguard.ledger.verify.report import ChainReport, KeySource, KeyTrust, Tampering
from mcpguard.store.rows.records import StoredRecord

MOST: Final = 10_000
"""Keys of one chain that are known, and records that join them. No guard has so many, and anybody can write more."""
LONGEST: Final = 100
"""Characters; a public key has fewer."""


class KeySuccession:
    """The keys of one chain, as its records and the verifier's own knowledge have them."""

    def __init__(
        self,
        rotated: Iterable[StoredRecord],
        hash_of: Callable[[int], bytes | None],
        trust: KeyTrust,
        report: ChainReport,
    ) -> None:
        """The keys of checkpoints that were kept elsewhere are believed too. An answer rests on them only where nobody
        has named a key."""
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
            if len(self._right) + len(self._wrong) >= MOST:
                self._forged(record.seq, f"there are more than {MOST:,} of its kind")
                break
            self._read(record)
        if self._given:
            self._join()

    def announce(self, key: str) -> None:
        """The log says that this key signs it from here on."""
        known = self._report.keys
        if len(key) > LONGEST:
            return  # no key is so long, so nothing is signed by it
        if key not in known and len(known) >= MOST:
            seq = max(self._report.last_seq, 1)
            self._report.found(seq, Tampering.KEY_FORGED, f"more than {MOST:,} keys are said to sign this chain")
            return
        known.add(key)
        if not self._given:
            self._believed.add(key)
            self._counting.add(key)

    def reach(self, seq: int) -> None:
        """The walk comes to a record that says that a key follows."""
        rotation = self._right.get(seq)
        if rotation is None:
            self._forged(seq, self._wrong.get(seq, "its columns do not say what it is"))
        elif rotation.previous not in self._believed:
            self._forged(seq, "nobody vouches for either key")
        else:
            self._report.rotations += 1
            self.announce(rotation.key)

    def fault(self, key: str, seq: int) -> str:
        """Why a checkpoint by this key after this record cannot be believed; empty where it can."""
        if key not in self._believed:
            return "by a key not to be believed"
        if seq <= self._came.get(key, 0):
            return f"by a key that came only with record {self._came[key]}"
        if seq > self._went.get(key, seq):
            return f"by a key that was retired with record {self._went[key]}"
        return ""

    def retired(self, key: str) -> int | None:
        """The number of the record by which this key went."""
        return self._went.get(key)

    def counts(self, key: str) -> bool:
        """Whether an answer may rest on what this key signed."""
        return key in self._counting

    def _read(self, record: StoredRecord) -> None:
        try:
            rotation = Rotation.verified(record.content or b"")
        except BadRotation as error:
            self._wrong[record.seq] = str(error)
            return
        if (rotation.chain, rotation.seq) != (self._report.chain, record.seq):
            self._wrong[record.seq] = "it was signed for another place"
        elif rotation.after != (self._before(record.seq) or rotation.after):
            self._wrong[record.seq] = "it was signed for another history"
        elif rotation.previous in self._went:
            self._wrong[record.seq] = f"the old key was retired with record {self._went[rotation.previous]}"
        elif rotation.key in self._came or rotation.key in self._went:
            self._wrong[record.seq] = "the new key is not new"
        else:
            self._right[record.seq] = rotation
            self._went[rotation.previous] = self._came[rotation.key] = record.seq

    def _before(self, seq: int) -> str:
        """The hash before a record; empty where that is missing, which is told elsewhere."""
        stored = GENESIS if seq == 1 else self._hash_of(seq - 1)
        return stored.hex() if stored else ""

    def _join(self) -> None:
        """Forward for what counts; both ways for what is believed."""
        forward = [self._right[seq] for seq in sorted(self._right)]
        for rotation in forward:
            if rotation.previous in self._counting and self._before(rotation.seq):
                self._counting.add(rotation.key)
            if rotation.previous in self._believed:
                self._believed.add(rotation.key)
        for rotation in reversed(forward):
            if rotation.key in self._believed:
                self._believed.add(rotation.previous)

    def _forged(self, seq: int, why: str) -> None:
        self._report.found(
            seq, Tampering.KEY_FORGED, f"it says that another key follows, and cannot be believed: {why}"
        )
