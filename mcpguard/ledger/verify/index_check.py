"""Compares the index of searches with the records: what it does not name, a search does not find.

Rules kept here:
1. Only the index of records that are right themselves is checked: what is wrong in a record is told about the record.
2. As much is held in memory as one span of the index, whatever the store holds.
3. What a guard adds meanwhile is not looked at.
"""

from collections.abc import Iterator

from mcpguard.ledger.verify.report import ChainReport, Tampering
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import records
from mcpguard.store.search.search_index import (
    BLOCK,
    SPAN,
    IndexedBlocks,
    edge,
    found_in_records,
    stored_in_index,
    stray_values,
)


def check_index(connection: Connection, report: ChainReport) -> None:
    """Report every block of the chain of which the index does not say what the records say."""
    end = edge(connection, report.chain)
    newest = records.last_record(connection, report.chain)
    if end > (newest[0] if newest else 0) + 1:
        _found(report, end // BLOCK - 1, "it names a block that is not complete")
        return
    if stray_values(connection, report.chain):
        _found(report, 0, "it names values of blocks that it does not have")
    for first in range(0, end, BLOCK * SPAN):
        last = min(first + BLOCK * SPAN, end) - 1
        there = stored_in_index(connection, report.chain, first // BLOCK, last // BLOCK)
        connection.rollback()  # as in a walk: the writer is not blocked
        for block in sorted(_different(there, found_in_records(connection, report.chain, first, last))):
            _found(report, block, "it does not name what these records say")


def _different(there: IndexedBlocks, right: IndexedBlocks) -> Iterator[int]:
    blocks = {value.block for value in there.values ^ right.values}
    yield from blocks | {block for block, _ in there.times.items() ^ right.times.items()}


def _found(report: ChainReport, block: int, what: str) -> None:
    first, last = max(1, block * BLOCK), block * BLOCK + BLOCK - 1
    sentence = f"the index of searches is not right for the records {first} to {last}: {what}"
    report.add_problem(first, Tampering.COLUMNS_EDITED, sentence)
