"""What was pruned must be said to have been pruned, by a later record of the same chain.

A `pruned` record names a range, and for records a digest over the hashes that were left standing in it.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from mcpguard.ledger.verify.report import ChainReport, Tampering
from mcpguard.store.records import StoredRecord


@dataclass(slots=True)
class _Claim:
    """What one `pruned` record accounts for, and how far that has been found to be so."""

    seq: int
    what: str
    first: int
    last: int
    hashes: str
    keys: tuple[str, ...]
    seen: "hashlib._Hash" = field(default_factory=hashlib.sha256)
    next: int = 0

    def covers(self, seq: int) -> bool:
        return self.first <= seq <= self.last < self.seq


class Tombstones:
    """Holds every tombstone against the `pruned` record that accounts for it."""

    def __init__(self, pruned: Iterable[StoredRecord], report: ChainReport) -> None:
        self._report = report
        self._claims = [claim for record in pruned if (claim := _read(record)) is not None]
        for claim in self._claims:
            report.keys.update(claim.keys)
            report.notices.append(
                f"record {claim.seq} says that the {claim.what} {claim.first} to {claim.last} were pruned"
            )

    def record(self, seq: int, stored_hash: bytes) -> None:
        claim = self._claim(seq, "records")
        if claim is not None:
            claim.seen.update(stored_hash)
            claim.next = seq + 1

    def body(self, seq: int) -> None:
        self._claim(seq, "bodies")

    def finish(self) -> None:
        for claim in self._claims:
            if claim.what != "records":
                continue
            if claim.next != claim.last + 1 or claim.seen.hexdigest() != claim.hashes:
                self._report.found(
                    claim.first,
                    Tampering.EDITED,
                    f"record {claim.seq} says that {claim.first} to {claim.last} were pruned, "
                    "but what was left of them is not what it describes",
                )

    def _claim(self, seq: int, what: str) -> _Claim | None:
        for claim in self._claims:
            if claim.what == what and claim.covers(seq):
                return claim
        self._report.found(seq, Tampering.PRUNED_UNRECORDED, f"its {what} are gone, and no later record says why")
        return None


def _read(record: StoredRecord) -> _Claim | None:
    """None for what cannot be read: the walk over all records reports that."""
    try:
        said: Mapping[str, Any] = orjson.loads(record.content or b"")
        return _Claim(
            seq=record.seq,
            what=str(said["what"]),
            first=int(said["first"]),
            last=int(said["last"]),
            hashes=str(said.get("hashes", "")),
            keys=tuple(str(said.get("keys", "")).split()),
        )
    except (ValueError, KeyError, TypeError):
        return None
