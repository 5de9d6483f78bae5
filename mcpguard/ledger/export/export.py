"""Reads the records of a chain and writes them as bytes in small batches: memory does not grow with the chain.

Rules kept here:
1. The position of an export is a record number: an export can continue after it, and no record is exported twice or
   left out.
2. Reading never delays a writer: each page is a separate transaction, and numbers never change.
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
"""Records that are read and written at once: as many as one page of a walk."""
_GZIP: Final = 31
_LEVEL: Final = 3
"""Nearly three times as fast as the usual 6, and a sixth larger."""


@dataclass(frozen=True, slots=True)
class ExportSpan:
    """What is exported of a chain: the records after one number and up to another that match the selection."""

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
    """The first batch of a span, for clients that ask for the next one."""
    return next(batches(connection, span), ())


class Tape:
    """Writes records in one form, compressed or not."""

    def __init__(self, form: ExportForm, *, packed: bool) -> None:
        self._form = form
        self._gzip = zlib.compressobj(_LEVEL, wbits=_GZIP) if packed else None
        self.plain = 0
        """Bytes written so far, before compression."""

    def begin(self) -> bytes:
        """The bytes before the first record."""
        return self.add(self._form.head())

    def take(self, some: Sequence[ExportLine]) -> bytes:
        """The bytes of more records. Compressed ones may come later."""
        return self.add(b"".join(map(self._form.line, some)))

    def add(self, plain: bytes) -> bytes:
        """The bytes of anything else that belongs between records."""
        self.plain += len(plain)
        return plain if self._gzip is None else self._gzip.compress(plain)

    def mark(self) -> bytes:
        """The bytes that complete what was written so far, so that it can be read by itself and continued later."""
        if self._gzip is None:
            return b""
        # A new gzip member begins: members can be joined, so a resumed file is one valid gzip file.
        rest, self._gzip = self._gzip.flush(), zlib.compressobj(_LEVEL, wbits=_GZIP)
        return rest


def _lines(
    connection: Connection, chain: str, some: Sequence[SelectedRecord], before: SelectedRecord | None
) -> Sequence[ExportLine]:
    """The lines of these records, each with the previous hash, which is looked up if that record was not selected."""
    hashes = {record.seq: _bytes(record.hash) for record in (before, *some) if record is not None}
    # A filter leaves gaps: the previous record may not be in the batch.
    missing = [record.seq - 1 for record in some if record.seq - 1 not in hashes]
    hashes |= {0: GENESIS} | {seq: _bytes(each) for seq, each in records.hashes(connection, chain, missing).items()}
    return [
        ExportLine(chain, record.seq, hashes[record.seq], raw, _said(raw), hashes.get(record.seq - 1))
        for record in some
        for raw in (None if record.content is None else _bytes(record.content),)
    ]


def _bytes(stored: object) -> bytes:
    """The bytes of a stored value. In SQLite it may have any type, and one that is tampered with must end no export."""
    return stored if type(stored) is bytes else repr(stored).encode(errors="replace")


def _said(content: bytes | None) -> Mapping[str, Any]:
    if content is None:
        return {}
    try:
        said = orjson.loads(content)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
