"""Checkpoints held against the chain, both in order.

A checkpoint in the same store, by a key known to be the guard's, shows that nobody without that key rewrote what it
covers. By a key that only the log names, it shows only that the log agrees with itself.
"""

from collections.abc import Iterator

from mcpguard.ledger.checkpoints import BadCheckpoint, Checkpoint
from mcpguard.ledger.verify.report import ChainReport, Tampering
from mcpguard.ledger.verify.succession import KeySuccession
from mcpguard.store.rows.checkpoints import StoredCheckpoint


class Signatures:
    """Matches checkpoints with records."""

    def __init__(
        self,
        stored: Iterator[StoredCheckpoint],
        keys: KeySuccession,
        report: ChainReport,
        previous: int | None = 0,
    ) -> None:
        """`previous`: the number that the first checkpoint says is that of the one before; None where that is not
        known."""
        self.keys = keys
        self._stored = stored
        self._next = next(stored, None)
        self._report = report
        self._previous = previous

    def take(self, seq: int, stored_hash: bytes) -> None:
        while self._next is not None and self._next.seq <= seq:
            self._compare(self._next, seq, stored_hash)
            self._next = next(self._stored, None)

    def finish(self) -> None:
        """What speaks of records that are not there speaks of a tail that was cut."""
        last = self._report.last_seq
        while self._next is not None:
            checkpoint = self._opened(self._next)
            if checkpoint is not None:
                self._report.cut(last, checkpoint.seq, "a checkpoint")
            self._next = next(self._stored, None)

    def _compare(self, stored: StoredCheckpoint, seq: int, stored_hash: bytes) -> None:
        checkpoint = self._opened(stored)
        if checkpoint is None:
            return
        if stored.seq != seq:
            self._found(stored.seq, Tampering.CHECKPOINT_FORGED, "the checkpoint speaks of a record that never was")
        elif checkpoint.hash != stored_hash.hex():
            self._found(seq, Tampering.REWRITTEN, "the checkpoint signed after this record names another hash")
        elif self.keys.counts(checkpoint.key):
            self._report.signed_to = seq
            self._report.signers.add(checkpoint.key)
        else:
            self._report.earlier_to = seq

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
        if fault := self.keys.fault(checkpoint.key, checkpoint.seq):
            self._found(stored.seq, Tampering.CHECKPOINT_FORGED, f"the checkpoint is signed {fault}")
            return None
        if self._previous is not None and checkpoint.previous != self._previous:
            self._found(
                checkpoint.previous, Tampering.CHECKPOINT_REMOVED, f"the checkpoint before {checkpoint.seq} is missing"
            )
        self._previous = checkpoint.seq
        return checkpoint

    def _found(self, seq: int, tampering: Tampering, sentence: str) -> None:
        self._report.found(seq, tampering, sentence)
