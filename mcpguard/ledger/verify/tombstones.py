"""What was pruned must be said to have been pruned, by a later record of the same chain.

A `pruned` record names a stretch, and for records a digest over the hashes that were left standing in it. It comes
first, and then it goes: some of the stretch may still be there, after a crash or while the guard is at it.
"""

import hashlib
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

from mcpguard.ledger.format import parsed
from mcpguard.ledger.verify import succession
from mcpguard.ledger.verify.report import ChainReport, Tampering
from mcpguard.store.rows.pruning import NEVER
from mcpguard.store.rows.records import StoredRecord

_BECAUSE = {
    "age": "as they were older than the settings keep them",
    "count": "as there were more than the settings keep",
    "size": "as the database took more than the settings let it",
}


MOST: Final = 250_000
"""Records of this kind that are followed. A guard that prunes every hour needs fourteen years for so many."""
_DIGEST: Final = 64
"""Characters of a digest."""


class PruneClaim(NamedTuple):
    """What one `pruned` record accounts for."""

    seq: int
    first: int
    last: int
    hashes: str


class Tombstones:
    """Holds every tombstone against the `pruned` record that accounts for it. Asked with rising numbers."""

    def __init__(self, pruned: Iterable[StoredRecord], report: ChainReport) -> None:
        self.keys: set[str] = set()
        """Those that what was pruned announced, as the records about it repeat."""
        self._report = report
        self._records: list[PruneClaim] = []
        self._bodies: list[PruneClaim] = []
        for record in pruned:
            if len(self._records) + len(self._bodies) == MOST:
                sentence = f"more than {MOST:,} records say that something was pruned, so this one is not followed"
                report.found(record.seq, Tampering.INCONSISTENT, sentence)
                break
            self._read(record)
        self._records.sort(key=lambda claim: claim.first)
        self._bodies.sort(key=lambda claim: claim.first)
        self._at = self._at_body = self._bodies_upto = 0
        self._seen, self._next = hashlib.sha256(), 0
        self._excused_below = 0
        for one, other in zip(self._records, self._records[1:], strict=False):
            if other.first <= one.last:
                sentence = f"it says that {other.first} was pruned, and record {one.seq} says so too"
                report.found(other.seq, Tampering.INCONSISTENT, sentence)

    def reach(self, seq: int, said: Mapping[str, Any], signed: int) -> None:
        """The walk comes to what accounts for something. `signed`: to where checkpoints were found before this."""
        claim = _claim(seq, said)
        if claim is not None and claim.last > signed:
            sentence = f"it says that records to {claim.last} were pruned, and no checkpoint before it covers them"
            self._report.found(seq, Tampering.INCONSISTENT, sentence)

    def passed(self, seq: int, stored_hash: bytes, *, kind: object = None) -> None:
        """A record that is there, whether it says anything or not. `kind`: what it says it is."""
        claim = self._claim(seq)
        if claim is not None:
            self._seen.update(stored_hash)
            self._next = seq + 1
            if kind in NEVER:
                sentence = f"record {claim.seq} says that it was pruned, and records of this kind never are"
                self._report.found(seq, Tampering.INCONSISTENT, sentence)

    def record(self, seq: int) -> None:
        """A record that says nothing any more; it was passed before."""
        claim = self._claim(seq)
        if claim is None:
            self._unrecorded(seq, "records")
        else:
            self._excused_below = max(self._excused_below, claim.seq)

    def body(self, seq: int) -> None:
        """A body that is not there any more, of a record that is."""
        while self._at_body < len(self._bodies) and self._bodies[self._at_body].first <= seq:
            self._bodies_upto = max(self._bodies_upto, self._bodies[self._at_body].last)
            self._at_body += 1
        if seq > self._bodies_upto:
            self._unrecorded(seq, "bodies")

    def excuses(self, seq: int) -> bool:
        """Whether what an entry began with may have been pruned before this: whatever was open then was left."""
        return seq < self._excused_below

    def finish(self) -> None:
        while self._at < len(self._records):
            self._leave()

    def compare(self, claim: PruneClaim) -> None:
        """All that is left of what it accounts for was passed."""
        if self._next != claim.last + 1 or self._seen.hexdigest() != claim.hashes:
            self._report.found(
                claim.first,
                Tampering.EDITED,
                f"record {claim.seq} says that {claim.first} to {claim.last} were pruned, "
                "but what was left of them is not what it describes",
            )

    def _read(self, record: StoredRecord) -> None:
        said = parsed(record.content)
        claim = _claim(record.seq, said)
        match said.get("what"):
            case "records" if claim is not None:
                self._records.append(claim)
            case "bodies" if claim is not None:
                self._bodies.append(claim)
            case _:
                sentence = "it accounts for nothing that lies before it"
                self._report.found(record.seq, Tampering.INCONSISTENT, sentence)
                return
        self._announced(str(said.get("keys", "")).split())
        self._report.noticed("pruned", _told(claim, said))

    def _announced(self, keys: list[str]) -> None:
        """One more than are known is enough to show that there are too many."""
        new = (key for key in keys if len(key) <= succession.LONGEST and key not in self.keys)
        self.keys.update(islice(new, succession.MOST + 1 - len(self.keys)))

    def _leave(self) -> None:
        self.compare(self._records[self._at])
        self._at += 1
        self._seen, self._next = hashlib.sha256(), 0

    def _claim(self, seq: int) -> PruneClaim | None:
        """The one that accounts for this number."""
        while self._at < len(self._records) and self._records[self._at].last < seq:
            self._leave()
        claim = self._records[self._at] if self._at < len(self._records) else None
        return claim if claim is not None and claim.first <= seq else None

    def _unrecorded(self, seq: int, what: str) -> None:
        self._report.found(seq, Tampering.PRUNED_UNRECORDED, f"its {what} are gone, and no later record says why")


def _claim(seq: int, said: Mapping[str, Any]) -> PruneClaim | None:
    first, last = said.get("first"), said.get("last")
    if type(first) is not int or type(last) is not int or not 1 <= first <= last < seq:
        return None
    return PruneClaim(seq, first, last, str(said.get("hashes", ""))[: _DIGEST + 1])


def _told(claim: PruneClaim, said: Mapping[str, Any]) -> str:
    """For a person: what, how many, why, and who wanted it."""
    count = said.get("count")
    many = f" ({count:,} of them)" if type(count) is int and said.get("what") == "bodies" else ""
    stretch = f"{claim.first:,} to {claim.last:,}" if claim.last > claim.first else f"{claim.first:,}"
    what = "contents of the records" if said.get("what") == "records" else "bodies of the records"
    told = f"record {claim.seq}: the {what} {stretch}{many} were pruned"
    if said.get("why") == "asked":
        process = f", {said['process']}" if "process" in said else ""
        return f'{told}; {said.get("by")} ({said.get("via")}{process}) asked for it: "{said.get("words", "")}"'
    why = _BECAUSE.get(str(said.get("why")))
    return f"{told}, {why}" if why else told
