"""Our own form: a record on a line, byte for byte as it was hashed. docs/export.md says how to read it.

Rules kept here:
1. From a line alone anybody can compute its hash: it has the hash of the record before, and the content verbatim.
2. A record that was pruned, or that is none of ours, is told as that; it stops nobody.
"""

import base64

import orjson

from mcpguard.ledger.export.line import ExportLine


class Jsonl:
    """JSON lines."""

    word = "jsonl"
    suffix = ".jsonl"
    media = "application/x-ndjson"

    def head(self) -> bytes:
        return b""

    def line(self, record: ExportLine) -> bytes:
        raw = record.raw
        if raw is None:
            return _told(record, pruned=True)
        if not record.said or b"\n" in raw:
            return _told(record, unreadable=base64.b64encode(raw).decode())
        if record.previous is None:
            return b'{"hash":"%b","record":%b}\n' % (record.hash.hex().encode(), raw)
        before = record.previous.hex().encode()
        return b'{"hash":"%b","previous":"%b","record":%b}\n' % (record.hash.hex().encode(), before, raw)


def _told(record: ExportLine, **what: object) -> bytes:
    """What there is to say of a record without its content."""
    said = {"chain": record.chain, "hash": record.hash.hex(), "seq": record.seq, **what}
    return orjson.dumps(said, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)
