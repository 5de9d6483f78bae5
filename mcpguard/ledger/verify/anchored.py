"""Checkpoints that were kept elsewhere, held against the store one by one: nobody rewrote what they cover.

Each is looked up by itself, so it does not matter how many there are, in which order they come, or whether more are
written meanwhile.
"""

from collections.abc import Collection
from typing import Final

from mcpguard.ledger.checkpoints import Checkpoint
from mcpguard.ledger.verify.report import ChainReport, Tampering
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import checkpoints, records

PAUSE: Final = 1000
"""After so many the connection lets go of what it reads, as others write to it."""


class Anchored:
    """Reports on the chains of a store what checkpoints from elsewhere say of them."""

    def __init__(self, connection: Connection, chains: Collection[str]) -> None:
        self.reports = {chain: ChainReport(chain) for chain in chains}
        self.elsewhere: dict[str, int] = {}
        self._connection = connection
        self._taken = 0

    def take(self, anchor: Checkpoint) -> None:
        report = self.reports.get(anchor.chain)
        if report is None:
            self.elsewhere[anchor.chain] = max(anchor.seq, self.elsewhere.get(anchor.chain, 0))
            return
        report.anchor_keys.add(anchor.key)
        self._compare(anchor, report)
        self._taken += 1
        if self._taken % PAUSE == 0:
            self._connection.rollback()

    def missing(self) -> None:
        """None of the chains is here: then they were."""
        for chain, seq in self.elsewhere.items():
            report = self.reports[chain] = ChainReport(chain)
            report.cut(0, seq, "a checkpoint kept elsewhere")
        self.elsewhere.clear()

    def _compare(self, anchor: Checkpoint, report: ChainReport) -> None:
        there = records.hash_of(self._connection, anchor.chain, anchor.seq)
        if there is None:
            end = records.last(self._connection, anchor.chain)
            last = end[0] if end else 0
            if anchor.seq > last:
                report.cut(last, anchor.seq, "a checkpoint kept elsewhere")
            return  # a gap is told by the walk
        if there.hex() != anchor.hash:
            report.found(anchor.seq, Tampering.REWRITTEN, "a checkpoint kept elsewhere names another hash")
            return
        report.anchored_to = max(report.anchored_to, anchor.seq)
        stored = checkpoints.at(self._connection, anchor.chain, anchor.seq)
        if stored is None or stored.content != anchor.content():
            why = "a checkpoint kept elsewhere is not in the store"
            report.found(anchor.seq, Tampering.CHECKPOINT_REMOVED, why)
