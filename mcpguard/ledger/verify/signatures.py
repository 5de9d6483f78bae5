"""Checkpoints held against the chain, both in order; and one that was kept elsewhere.

A checkpoint in the same store, by a key known to be the guard's, shows that nobody without that key rewrote what it
covers. By a key that only the log names, it shows only that the log agrees with itself. One kept elsewhere shows that
nobody rewrote it.
"""

from collections.abc import Collection, Iterator

from mcpguard.ledger.checkpoints import BadCheckpoint, Checkpoint
from mcpguard.ledger.verify.report import ChainReport, Tampering
from mcpguard.store.checkpoints import StoredCheckpoint


class Signatures:
    """Matches checkpoints with records."""

    def __init__(
        self,
        stored: Iterator[StoredCheckpoint],
        anchor: Checkpoint | None,
        trusted: Collection[str],
        report: ChainReport,
    ) -> None:
        self._stored = stored
        self._next = next(stored, None)
        self._anchor = anchor
        self._anchor_stored = False
        self._trusted = {*trusted, anchor.key} if anchor is not None else {*trusted}
        self._report = report
        self._previous = 0

    def announce(self, key: str) -> None:
        """A key that the log itself says signs it."""
        self._report.keys.add(key)

    def take(self, seq: int, stored_hash: bytes) -> None:
        while self._next is not None and self._next.seq <= seq:
            self._compare(self._next, seq, stored_hash)
            self._next = next(self._stored, None)
        if self._anchor is not None and self._anchor.seq == seq:
            if self._anchor.hash == stored_hash.hex():
                self._report.anchored_to = seq
            else:
                self._found(seq, Tampering.REWRITTEN, "the checkpoint kept elsewhere names another hash")

    def finish(self) -> None:
        """What speaks of records that are not there speaks of a tail that was cut."""
        last = self._report.last_seq
        while self._next is not None:
            checkpoint = self._opened(self._next)
            if checkpoint is not None:
                self._cut(last, checkpoint.seq, "a checkpoint")
            self._next = next(self._stored, None)
        if self._anchor is None:
            return
        if self._anchor.seq > last:
            self._cut(last, self._anchor.seq, "the checkpoint kept elsewhere")
        elif not self._anchor_stored:
            self._found(
                self._anchor.seq, Tampering.CHECKPOINT_REMOVED, "the checkpoint kept elsewhere is not in the store"
            )

    def _compare(self, stored: StoredCheckpoint, seq: int, stored_hash: bytes) -> None:
        checkpoint = self._opened(stored)
        if checkpoint is None:
            return
        if stored.seq != seq:
            self._found(stored.seq, Tampering.CHECKPOINT_FORGED, "the checkpoint speaks of a record that never was")
        elif checkpoint.hash != stored_hash.hex():
            self._found(seq, Tampering.REWRITTEN, "the checkpoint signed after this record names another hash")
        else:
            self._report.signed_to = seq

    def _opened(self, stored: StoredCheckpoint) -> Checkpoint | None:
        """The statement, if it is one of this chain and follows the one before."""
        try:
            checkpoint = Checkpoint.verified(stored.content, stored.signature)
        except BadCheckpoint as error:
            self._found(stored.seq, Tampering.CHECKPOINT_FORGED, f"the checkpoint cannot be believed: {error}")
            return None
        self._report.checkpoints += 1
        if checkpoint.seq != stored.seq or checkpoint.chain != self._report.chain:
            self._found(stored.seq, Tampering.CHECKPOINT_FORGED, "the checkpoint speaks of another record or chain")
            return None
        if not self._known(checkpoint.key):
            self._found(stored.seq, Tampering.CHECKPOINT_FORGED, "the checkpoint is signed by a key not to be believed")
            return None
        self._anchor_stored = self._anchor_stored or checkpoint == self._anchor
        if checkpoint.previous != self._previous:
            self._found(
                checkpoint.previous, Tampering.CHECKPOINT_REMOVED, f"the checkpoint before {checkpoint.seq} is missing"
            )
        self._previous = checkpoint.seq
        return checkpoint

    def _known(self, key: str) -> bool:
        return key in (self._trusted or self._report.keys)

    def _cut(self, last: int, seq: int, what: str) -> None:
        self._found(last + 1, Tampering.TAIL_CUT, f"records {last + 1} to {seq} are missing: {what} vouches for them")

    def _found(self, seq: int, tampering: Tampering, sentence: str) -> None:
        self._report.found(seq, tampering, sentence)
