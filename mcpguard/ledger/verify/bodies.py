"""Compares stored bodies with the records that describe them, in a single pass over both."""

from collections.abc import Iterator, Mapping
from typing import Any

from mcpguard.domain.calls.bodies import KEYED
from mcpguard.ledger.format import SALT_BYTES, body_digest
from mcpguard.ledger.verify.report import ChainReport, Tampering
from mcpguard.ledger.verify.tombstones import Tombstones
from mcpguard.store.rows.records import StoredBody

_SAYS = ("body_size", "body_digest", "body_kept")


class BodyCheck:
    """Matches stored bodies with records. Records are taken in ascending order."""

    def __init__(self, stored: Iterator[StoredBody], report: ChainReport, tombstones: Tombstones) -> None:
        self._stored = stored
        self._next = next(stored, None)
        self._report = report
        self._tombstones = tombstones

    def take(self, seq: int, record: Mapping[str, Any]) -> None:
        """Compare what `record` says of its body with the stored body."""
        body = self._at(seq)
        # Else a record could claim a digest and no body, or the other way round, and nobody would look.
        if not holds_together(record):
            self._found(seq, Tampering.INCONSISTENT, "its fields about its body contradict each other")
        if not record.get("body_kept"):
            if body is not None:
                self._found(seq, Tampering.BODY_ADDED, "a body is stored for it, but the record has none")
        elif body is None:
            self._found(seq, Tampering.BODY_REMOVED, "the record has a body, but none is stored")
        else:
            self._compare(seq, record, body)

    def skip(self, seq: int) -> None:
        """Take a pruned record, whose body must be gone too."""
        if self._at(seq) is not None:
            self._found(seq, Tampering.BODY_ADDED, "the record was pruned, but its body was not")

    def finish(self) -> None:
        """Report the stored bodies that are left after the last record."""
        self._drop_below(2**63)

    def _compare(self, seq: int, record: Mapping[str, Any], body: StoredBody) -> None:
        # Emptied by pruning. Whether that was recorded, the tombstones say.
        if body.content is None and body.salt is None:
            self._tombstones.body(seq)
            return
        content, salt = body.content or b"", body.salt or b""
        sizes = (len(salt), len(content))  # the digest does not say where the salt ends
        if record.get("body_digest") != body_digest(salt, content) or sizes != (SALT_BYTES, record.get("body_size")):
            self._found(seq, Tampering.BODY_EDITED, "its body is not the one that was recorded")
            return
        self._report.bodies += 1

    def _at(self, seq: int) -> StoredBody | None:
        self._drop_below(seq)
        body = self._next
        # Both are in order, so a body that is not next is not there.
        if body is None or body.seq != seq:
            return None
        self._next = next(self._stored, None)
        return body

    def _drop_below(self, seq: int) -> None:
        while self._next is not None and self._next.seq < seq:
            self._found(self._next.seq, Tampering.BODY_ADDED, "a body is stored here that belongs to no record")
            self._next = next(self._stored, None)

    def _found(self, seq: int, tampering: Tampering, sentence: str) -> None:
        self._report.add_problem(seq, tampering, sentence)


def holds_together(record: Mapping[str, Any]) -> bool:
    """Tell whether the fields of a record about its body are one of the forms that the ledger writes."""
    get = record.get
    keyed, large, digest = get("body_hmac"), get("body_too_large"), get("body_digest")
    if digest is None and not any(name in record for name in _SAYS):
        return keyed is None and large is None
    size, kept = get("body_size"), get("body_kept")
    if type(size) is not int or not isinstance(digest, str) or not isinstance(kept, bool):
        return False
    if kept:
        return digest.startswith("sha256:") and large is None and (keyed is None or _is_keyed(keyed))
    return _is_keyed(digest) and keyed is None and large in (None, True)


def _is_keyed(digest: object) -> bool:
    return isinstance(digest, str) and KEYED.fullmatch(digest) is not None
