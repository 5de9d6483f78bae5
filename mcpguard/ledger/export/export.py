"""Records of a chain as bytes, some at a time, so that memory does not grow with the chain.

Rules kept here:
1. A number names where an export stands: whoever has all to that number goes on after it, and nothing comes twice or is
   left out.
2. Reading holds nobody up who writes: each page is a transaction of its own, and numbers never change.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import orjson

from mcpguard.ledger.export.line import ExportForm, ExportLine
from mcpguard.ledger.export.selection import EVERYTHING, SelectedRecord, Selection
from mcpguard.ledger.format import GENESIS
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import records

TOGETHER: Final = 500
"""Records that are read and written at once: as many as a walk reads in one page."""
_GZIP: Final = 31
_LEVEL: Final = 3
"""Nearly three times as fast as the usual 6, and a sixth larger."""


@dataclass(frozen=True, slots=True)
class ExportSpan:
    """What is exported of a chain: of the records after one number, to another, those that were chosen."""

    chain: str
    after: int
    upto: int
    selection: Selection = EVERYTHING


def batches(connection: Connection, span: ExportSpan) -> Iterator[Sequence[ExportLine]]:
    """The records of a span, some at a time."""
    walk = span.selection.walk(connection, span.chain, span.after, span.upto)
    before: SelectedRecord | None = None
    while some := list(islice(walk, TOGETHER)):
        yield _lines(connection, span.chain, some, before)
        before = some[-1]


def next_batch(connection: Connection, span: ExportSpan) -> Sequence[ExportLine]:
    """The first of them, for whoever comes back for more."""
    return next(batches(connection, span), ())


class Tape:
    """What was read, in one form, compressed or not."""

    def __init__(self, form: ExportForm, *, packed: bool) -> None:
        self._form = form
        self._gzip = zlib.compressobj(_LEVEL, wbits=_GZIP) if packed else None
        self.plain = 0
        """Bytes so far, before they are compressed."""

    def begin(self) -> bytes:
        return self.add(self._form.head())

    def take(self, some: Sequence[ExportLine]) -> bytes:
        """These, after those that were taken before. What is compressed may come later."""
        return self.add(b"".join(map(self._form.line, some)))

    def add(self, plain: bytes) -> bytes:
        """Something else, in its place between them."""
        self.plain += len(plain)
        return plain if self._gzip is None else self._gzip.compress(plain)

    def mark(self) -> bytes:
        """What completes everything that was given so far, so that it can be read by itself and be gone on from."""
        if self._gzip is None:
            return b""
        rest, self._gzip = self._gzip.flush(), zlib.compressobj(_LEVEL, wbits=_GZIP)
        return rest


def _lines(
    connection: Connection, chain: str, some: Sequence[SelectedRecord], before: SelectedRecord | None
) -> Sequence[ExportLine]:
    """Each with the hash of the one before, which is looked up where that was not chosen."""
    hashes = {record.seq: _bytes(record.hash) for record in (before, *some) if record is not None}
    missing = [record.seq - 1 for record in some if record.seq - 1 not in hashes]
    hashes |= {0: GENESIS} | {seq: _bytes(each) for seq, each in records.hashes(connection, chain, missing).items()}
    return [
        ExportLine(chain, record.seq, hashes[record.seq], raw, _said(raw), hashes.get(record.seq - 1))
        for record in some
        for raw in (None if record.content is None else _bytes(record.content),)
    ]


def _bytes(stored: object) -> bytes:
    """SQLite lets a cell hold any type: what mcpguard never wrote must be told as that, and end no export."""
    return stored if type(stored) is bytes else repr(stored).encode(errors="replace")


def _said(content: bytes | None) -> Mapping[str, Any]:
    if content is None:
        return {}
    try:
        said = orjson.loads(content)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
