"""Checks a segment of a chain by itself, as fast as Python can: most segments of most chains hold nothing to report.

Rules kept here:
1. Nothing is reported from here. A segment in which anything is wrong, missing or emptied is not plain, and the walk
   takes it record by record, which is the only place that says what is wrong.
2. What depends on records before the segment is left to the walk, which is told all that this needs: the first
   record's link, the entries that are open, keys, checkpoints and prunings.
3. The result is bounded by the number of records of the segment.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

from mcpguard.ledger.format import RECORD_TAG, SALT_BYTES, body_digest, parse_content
from mcpguard.ledger.verify.bodies import holds_together
from mcpguard.ledger.verify.call_entries import LONGEST, entry_id
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows.records import COLUMNS
from mcpguard.store.rows.segments import Row, Segment, Undecodable, body_rows, record_rows

HASH_BYTES: Final = 32
NOTED: Final = frozenset({"started", "pruned", "rotated", "lost", "rolled_back", "resumed"})
"""The kinds of record of which the walk takes note, apart from those of calls."""
Said = Mapping[str, Any]


class PlainSegment(NamedTuple):
    """What the walk must know of a segment whose records are in order, and each by itself what was written.

    `content`: of the first record. `hashes`: of all, one after the other. `emptied`: the records whose bodies were
    emptied. `paired`: the entries that were opened in it, and later closed in it. `steps`: the records of which the
    walk takes note.
    """

    first: int
    last: int
    content: bytes
    hashes: bytes
    last_at: int | None
    bodies: int
    emptied: Sequence[int]
    opened: int
    paired: Sequence[str]
    steps: Sequence[tuple[int, Said]]


def read_plain(connection: Connection, segment: Segment) -> PlainSegment | None:
    """Read and check a segment; None if it is not plain, or empty."""
    try:
        return _checked(record_rows(connection, segment), body_rows(connection, segment))
    except Undecodable:
        return None


def _checked(rows: Iterator[Row], bodies: Iterator[Row]) -> PlainSegment | None:
    hashes: list[bytes] = []
    matched, calls = _BodyMatch(bodies), _LocalCalls()
    first_content, previous, first, seq, last_at = b"", b"", 0, 0, None
    for row in rows:
        stored_hash, content = row[0], row[1]
        if not hashes:
            first_content, first, seq = content, row[3], row[3] - 1
            # The first one's link is checked by the walk, which counts on this length to find the others.
            if content is None or len(stored_hash) != HASH_BYTES:
                return None
        elif content is None or sha256(RECORD_TAG + previous + content).digest() != stored_hash:
            return None
        seq += 1
        record = parse_content(content)
        # The number and the chain are columns too, so this finds what was moved and what a gap precedes.
        if row[3] != seq or row[2:] != tuple(map(record.get, COLUMNS)):
            return None
        if not matched.take(seq, record) or not calls.take(seq, record):
            return None
        if isinstance(at := record.get("at"), int):
            last_at = at
        hashes.append(stored_hash)
        previous = stored_hash
    if not hashes or matched.left():
        return None
    steps = calls.steps()
    told = first_content, b"".join(hashes), last_at, matched.whole, matched.emptied, calls.opened, calls.paired
    return PlainSegment(first, seq, *told, steps)


class _BodyMatch:
    """Matches the bodies of a segment with its records."""

    def __init__(self, stored: Iterator[Row]) -> None:
        self.whole = 0
        self.emptied: list[int] = []
        self._stored = stored
        self._next = next(stored, None)

    def take(self, seq: int, record: Said) -> bool:
        """Compare what a record says of its body with the stored one; return whether they match."""
        if not holds_together(record):
            return False
        body = self._next
        if body is None or body[0] != seq:
            # A body before this one belongs to no record; the next record or `left` finds it.
            return not record.get("body_kept") and (body is None or body[0] > seq)
        if not record.get("body_kept"):
            return False
        self._next = next(self._stored, None)
        _, salt, content = body
        if content is None and salt is None:
            self.emptied.append(seq)
            return True
        salt, content = salt or b"", content or b""
        self.whole += 1
        return (
            len(salt) == SALT_BYTES
            and len(content) == record.get("body_size")
            and record.get("body_digest") == body_digest(salt, content)
        )

    def left(self) -> bool:
        """Tell whether bodies are left."""
        return self._next is not None


class _LocalCalls:
    """Follows the entries of a segment. Those that are opened and closed in it concern nobody else."""

    def __init__(self) -> None:
        self.opened = 0
        self.paired: list[str] = []
        self._open: dict[str, int] = {}
        self._ended: set[str] = set()
        self._steps: list[tuple[int, Said]] = []

    def take(self, seq: int, record: Said) -> bool:
        """Take a record; return False if an entry is opened again, which is not followed here."""
        match record.get("kind"):
            case "opened":
                entry = _entry(record)
                self.opened += 1
                if entry in self._open or entry in self._ended:
                    return False
                self._open[entry] = seq
            case "closed":
                entry = _entry(record)
                if self._open.pop(entry, None) is not None:
                    self.paired.append(entry)
                else:
                    self._steps.append((seq, {"kind": "closed", "entry": entry}))
                self._ended.add(entry)
            case "released":
                entry = _entry(record)
                if entry not in self._open:
                    self._steps.append((seq, {"kind": "released", "entry": entry}))
                    self._ended.add(entry)
            case kind if kind in NOTED:
                self._steps.append((seq, record))
            case _:
                pass
        return True

    def steps(self) -> Sequence[tuple[int, Said]]:
        """Return the records of which the walk takes note, in order: also the openings of what stays open."""
        still = ((seq, {"kind": "opened", "entry": entry}) for entry, seq in self._open.items())
        return sorted([*self._steps, *still], key=lambda step: step[0])


def _entry(record: Said) -> str:
    entry = record.get("entry")
    return entry if type(entry) is str and len(entry) <= LONGEST else entry_id(entry)
