"""The form `jsonl`: one record per line, with exactly the bytes that were hashed.

docs/export.md specifies it.

Rules kept here:
1. The hash of a record can be computed from its line alone: it has the previous hash, and the content verbatim.
2. A record that was pruned, or that mcpguard did not write, is marked as such, and does not abort an export.
"""

import base64

import orjson

from mcpguard.ledger.export.line import ExportLine


class Jsonl:
    """The form from which the chain can be verified: JSON lines."""

    word = "jsonl"
    suffix = ".jsonl"
    media = "application/x-ndjson"

    def head(self) -> bytes:
        return b""

    def line(self, record: ExportLine) -> bytes:
        raw = record.raw
        if raw is None:
            return _told(record, pruned=True)
        # mcpguard writes no line breaks into records; one could forge a second line.
        if not record.said or b"\n" in raw:
            return _told(record, unreadable=base64.b64encode(raw).decode())
        if record.previous is None:
            return b'{"hash":"%b","record":%b}\n' % (record.hash.hex().encode(), raw)
        before = record.previous.hex().encode()
        return b'{"hash":"%b","previous":"%b","record":%b}\n' % (record.hash.hex().encode(), before, raw)


def _told(record: ExportLine, **what: object) -> bytes:
    """The line of a record whose content cannot be written verbatim."""
    said = {"chain": record.chain, "hash": record.hash.hex(), "seq": record.seq, **what}
    return orjson.dumps(said, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)
