"""Compares external checkpoints with the store, one by one, to prove that the records they cover were not rewritten.

Each is looked up independently, so their number and order do not matter, nor whether records are added meanwhile.
"""

from collections.abc import Collection
from typing import Final

from mcpguard.ledger.checkpoints import Checkpoint
from mcpguard.ledger.verify.report import ChainReport, Tampering
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import checkpoints, records

PAUSE: Final = 1000
"""Checkpoints after which the read transaction ends, so that it does not get in the way of writers."""


class AnchorCheck:
    """Compares external checkpoints with the chains of a store, and writes into a report for each chain."""

    def __init__(self, connection: Connection, chains: Collection[str]) -> None:
        self.reports = {chain: ChainReport(chain) for chain in chains}
        self.elsewhere: dict[str, int] = {}
        self._connection = connection
        self._taken = 0

    def take(self, anchor: Checkpoint) -> None:
        """Compare one external checkpoint."""
        report = self.reports.get(anchor.chain)
        if report is None:
            self.elsewhere[anchor.chain] = max(anchor.seq, self.elsewhere.get(anchor.chain, 0))
            return
        report.anchor_keys.add(anchor.key)
        self._compare(anchor, report)
        self._taken += 1
        if self._taken % PAUSE == 0:
            self._connection.rollback()

    def report_missing_chains(self) -> None:
        """Report the chains of external checkpoints as removed. For a store that has none of them."""
        for chain, seq in self.elsewhere.items():
            report = self.reports[chain] = ChainReport(chain)
            report.add_cut_tail(0, seq, "an external checkpoint")
        self.elsewhere.clear()

    def _compare(self, anchor: Checkpoint, report: ChainReport) -> None:
        there = records.hash_of(self._connection, anchor.chain, anchor.seq)
        if there is None:
            end = records.last_record(self._connection, anchor.chain)
            last = end[0] if end else 0
            # Nothing in the store tells of a tail that was cut with its checkpoints: only an external one does.
            if anchor.seq > last:
                report.add_cut_tail(last, anchor.seq, "an external checkpoint")
            return  # the record is missing amid others, which the walk reports
        if there.hex() != anchor.hash:
            report.add_problem(anchor.seq, Tampering.REWRITTEN, "an external checkpoint has a different hash for it")
            return
        report.anchored_to = max(report.anchored_to, anchor.seq)
        stored = checkpoints.checkpoint_at(self._connection, anchor.chain, anchor.seq)
        # Same record, but the store lacks the checkpoint: somebody removed or replaced it.
        if stored is None or stored.content != anchor.content():
            why = "an external checkpoint is missing from the store"
            report.add_problem(anchor.seq, Tampering.CHECKPOINT_REMOVED, why)
