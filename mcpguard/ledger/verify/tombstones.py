"""Checks that a later record of the same chain accounts for everything that was pruned.

A `pruned` record names a stretch and, for records, a digest over the hashes that remain. The record is written before
the stretch is emptied, so parts of it may still exist after a crash or while the guard prunes.
"""

import hashlib
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

from mcpguard.ledger.format import parse_content
from mcpguard.ledger.verify import succession
from mcpguard.ledger.verify.report import ChainReport, Tampering
from mcpguard.store.rows.pruning import NEVER
from mcpguard.store.rows.records import StoredRecord

_BECAUSE = {
    "age": "because they were older than the retention settings keep them",
    "count": "because there were more than the retention settings keep",
    "size": "because the database was larger than the retention settings allow",
}


MOST: Final = 250_000
"""Pruning records that are checked. A guard that prunes every hour writes so many in fourteen years."""
_DIGEST: Final = 64
"""Characters of a digest."""


class PruneClaim(NamedTuple):
    """The stretch that one `pruned` record accounts for."""

    seq: int
    first: int
    last: int
    hashes: str


class Tombstones:
    """Matches every tombstone with the `pruned` record that accounts for it. Records are taken in ascending order."""

    def __init__(self, pruned: Iterable[StoredRecord], report: ChainReport) -> None:
        self.keys: set[str] = set()
        """The keys that pruned records announced, which the records about the prunings repeat."""
        self._report = report
        self._records: list[PruneClaim] = []
        self._bodies: list[PruneClaim] = []
        for record in pruned:
            if len(self._records) + len(self._bodies) == MOST:
                sentence = f"there are more than {MOST:,} pruning records, so this one is not checked"
                report.add_problem(record.seq, Tampering.INCONSISTENT, sentence)
                break
            self._read(record)
        # By their beginning, so that one pass over the chain meets them in order.
        self._records.sort(key=lambda claim: claim.first)
        self._bodies.sort(key=lambda claim: claim.first)
        self._at = self._at_body = self._bodies_upto = 0
        self._seen, self._next = hashlib.sha256(), 0
        self._excused_below = 0
        # Two claims on one record: one of them is a forgery, or was copied.
        for one, other in zip(self._records, self._records[1:], strict=False):
            if other.first <= one.last:
                sentence = f"it says that record {other.first} was pruned, and so does record {one.seq}"
                report.add_problem(other.seq, Tampering.INCONSISTENT, sentence)

    def reach(self, seq: int, said: Mapping[str, Any], signed: int) -> None:
        """The walk comes to a pruning record. `signed`: up to which record the checkpoints before it reach."""
        claim = _claim(seq, said)
        # Records that no checkpoint covered could be removed and replaced before they were pruned.
        if claim is not None and claim.last > signed:
            sentence = f"it says that records up to {claim.last} were pruned, but no earlier checkpoint covers them"
            self._report.add_problem(seq, Tampering.INCONSISTENT, sentence)

    def pass_record(self, seq: int, stored_hash: bytes, *, kind: object = None) -> None:
        """Take any record, pruned or not. `kind`: the kind that it says it is."""
        claim = self._claim(seq)
        if claim is not None:
            self._seen.update(stored_hash)
            self._next = seq + 1
            # A forged claim over these would hide rotations, losses, or other prunings.
            if kind in NEVER:
                sentence = f"record {claim.seq} says that it was pruned, but records of this kind never are"
                self._report.add_problem(seq, Tampering.INCONSISTENT, sentence)

    def record(self, seq: int) -> None:
        """Take a pruned record, after `pass_record`."""
        claim = self._claim(seq)
        if claim is None:
            self._unrecorded(seq, "content is")
        else:
            self._excused_below = max(self._excused_below, claim.seq)

    def body(self, seq: int) -> None:
        """Take a pruned body of a record that is there."""
        while self._at_body < len(self._bodies) and self._bodies[self._at_body].first <= seq:
            self._bodies_upto = max(self._bodies_upto, self._bodies[self._at_body].last)
            self._at_body += 1
        if seq > self._bodies_upto:
            self._unrecorded(seq, "body is")

    def pass_plain(self, last: int, emptied: Iterable[int]) -> bool:
        """Take records up to `last` that are all there, and of them those whose bodies were pruned. Return False, and
        take nothing, if one of them needs to be looked at by itself."""
        if self._at < len(self._records) and self._records[self._at].first <= last:
            return False
        at, upto = self._at_body, self._bodies_upto
        for seq in emptied:
            while at < len(self._bodies) and self._bodies[at].first <= seq:
                upto = max(upto, self._bodies[at].last)
                at += 1
            if seq > upto:
                return False
        self._at_body, self._bodies_upto = at, upto
        return True

    def excuses(self, seq: int) -> bool:
        """Tell whether the opening of an entry may have been pruned. What was open at a pruning was never pruned."""
        return seq < self._excused_below

    def finish(self) -> None:
        while self._at < len(self._records):
            self._leave()

    def compare(self, claim: PruneClaim) -> None:
        """Compare a claim with the hashes of its stretch, all of which were passed."""
        # The hashes stay: whoever adds, removes or edits tombstones changes their digest.
        if self._next != claim.last + 1 or self._seen.hexdigest() != claim.hashes:
            self._report.add_problem(
                claim.first,
                Tampering.EDITED,
                f"record {claim.seq} says that records {claim.first} to {claim.last} were pruned, "
                "but the hashes left of them do not match it",
            )

    def _read(self, record: StoredRecord) -> None:
        said = parse_content(record.content)
        claim = _claim(record.seq, said)
        match said.get("what"):
            case "records" if claim is not None:
                self._records.append(claim)
            case "bodies" if claim is not None:
                self._bodies.append(claim)
            case _:
                sentence = "it accounts for no earlier record"
                self._report.add_problem(record.seq, Tampering.INCONSISTENT, sentence)
                return
        self._announced(str(said.get("keys", "")).split())
        self._report.add_notice("pruned", _told(claim, said))

    def _announced(self, keys: list[str]) -> None:
        """Take these keys, at most one more than are allowed: that shows that there are too many."""
        new = (key for key in keys if len(key) <= succession.LONGEST and key not in self.keys)
        self.keys.update(islice(new, succession.MOST + 1 - len(self.keys)))

    def _leave(self) -> None:
        self.compare(self._records[self._at])
        self._at += 1
        self._seen, self._next = hashlib.sha256(), 0

    def _claim(self, seq: int) -> PruneClaim | None:
        """The claim that accounts for this number, if there is one."""
        while self._at < len(self._records) and self._records[self._at].last < seq:
            self._leave()
        claim = self._records[self._at] if self._at < len(self._records) else None
        return claim if claim is not None and claim.first <= seq else None

    def _unrecorded(self, seq: int, what: str) -> None:
        self._report.add_problem(
            seq, Tampering.PRUNED_UNRECORDED, f"its {what} gone, and no later record accounts for it"
        )


def _claim(seq: int, said: Mapping[str, Any]) -> PruneClaim | None:
    first, last = said.get("first"), said.get("last")
    if type(first) is not int or type(last) is not int or not 1 <= first <= last < seq:
        return None
    return PruneClaim(seq, first, last, str(said.get("hashes", ""))[: _DIGEST + 1])


def _told(claim: PruneClaim, said: Mapping[str, Any]) -> str:
    """A pruning in a sentence: what, how many, why, and who requested it."""
    count = said.get("count")
    many = f" ({count:,} of them)" if type(count) is int and said.get("what") == "bodies" else ""
    stretch = f"{claim.first:,} to {claim.last:,}" if claim.last > claim.first else f"{claim.first:,}"
    what = "contents of the records" if said.get("what") == "records" else "bodies of the records"
    told = f"record {claim.seq}: the {what} {stretch}{many} were pruned"
    if said.get("why") == "asked":
        process = f", {said['process']}" if "process" in said else ""
        return f'{told}; requested by {said.get("by")} ({said.get("via")}{process}): "{said.get("words", "")}"'
    why = _BECAUSE.get(str(said.get("why")))
    return f"{told}, {why}" if why else told
