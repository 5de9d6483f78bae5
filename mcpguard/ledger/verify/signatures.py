"""Compares the stored checkpoints with the chain, both in order.

A checkpoint in the store, signed by a key known to be the guard's, proves that nobody without that key rewrote the
records that it covers. If only the log names the key, it proves only that the log is consistent.
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
        """`previous`: the record number of the checkpoint before the first one; None if it is not known."""
        self.keys = keys
        self._stored = stored
        self._next = next(stored, None)
        self._report = report
        self._previous = previous

    @property
    def due(self) -> int | None:
        """The number of the record that the next checkpoint is of; None if there is no further one."""
        return None if self._next is None else self._next.seq

    def take(self, seq: int, stored_hash: bytes) -> None:
        while self._next is not None and self._next.seq <= seq:
            self._compare(self._next, seq, stored_hash)
            self._next = next(self._stored, None)

    def finish(self) -> None:
        """Report checkpoints after the last record: they show that the tail was cut."""
        last = self._report.last_seq
        while self._next is not None:
            checkpoint = self._opened(self._next)
            if checkpoint is not None:
                self._report.add_cut_tail(last, checkpoint.seq, "a checkpoint")
            self._next = next(self._stored, None)

    def _compare(self, stored: StoredCheckpoint, seq: int, stored_hash: bytes) -> None:
        checkpoint = self._opened(stored)
        if checkpoint is None:
            return
        # The walk has passed this number without a record.
        if stored.seq != seq:
            self._found(stored.seq, Tampering.CHECKPOINT_FORGED, "the checkpoint is for a record that does not exist")
        elif checkpoint.hash != stored_hash.hex():
            self._found(seq, Tampering.REWRITTEN, "the checkpoint signed after this record has a different hash")
        # Whoever stole a key that was rotated away can still sign: its checkpoints prove nothing.
        elif self.keys.counts(checkpoint.key):
            self._report.signed_to = seq
            self._report.signers.add(checkpoint.key)
        else:
            self._report.earlier_to = seq

    def _opened(self, stored: StoredCheckpoint) -> Checkpoint | None:
        """The verified statement, if it is of this chain and follows the checkpoint before it; otherwise None."""
        try:
            checkpoint = Checkpoint.verify(stored.content, stored.signature)
        except BadCheckpoint as error:
            self._found(stored.seq, Tampering.CHECKPOINT_FORGED, f"the checkpoint is not valid: {error}")
            return None
        # Its signature is right; what follows says whether it is of this place, and by a key that may sign here.
        self._report.checkpoints += 1
        if checkpoint.seq != stored.seq or checkpoint.chain != self._report.chain:
            self._found(stored.seq, Tampering.CHECKPOINT_FORGED, "the checkpoint is for another record or chain")
            return None
        if fault := self.keys.fault(checkpoint.key, checkpoint.seq):
            self._found(stored.seq, Tampering.CHECKPOINT_FORGED, f"the checkpoint is signed {fault}")
            return None
        # Each names the one before, so removing one shows, without a gap in the records.
        if self._previous is not None and checkpoint.previous != self._previous:
            self._found(
                checkpoint.previous, Tampering.CHECKPOINT_REMOVED, f"the checkpoint before {checkpoint.seq} is missing"
            )
        self._previous = checkpoint.seq
        return checkpoint

    def _found(self, seq: int, tampering: Tampering, sentence: str) -> None:
        self._report.add_problem(seq, tampering, sentence)
