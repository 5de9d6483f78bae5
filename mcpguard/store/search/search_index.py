"""The index of searches: which values occur in which block of records.

It repeats what the columns of records say, and is made after their commit, many blocks at a time.

Rules kept here:
1. A block is 64 numbers. The blocks of a chain are indexed in order, and only once all of their records are stored.
   What is behind the last indexed block is not in the index, and a search reads it record by record.
2. The index only says where to look: a search compares every record with its filter. A value that is missing in the
   index would hide records, so verifying compares it with the records.
3. What the records of a block do not say any more, after a pruning, the index does not say either.
4. A span is as many blocks as are compared at once. Values are found by span, so that old ones cost a search for new
   records nothing.
"""

import sqlite3
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final, NamedTuple

import structlog
from sqlalchemy import ColumnElement, Connection, delete, func, or_, select

from mcpguard.store.rows import pruning
from mcpguard.store.rows.pages import batches
from mcpguard.store.rows.statements import Statement
from mcpguard.store.rows.tables import search_blocks, search_values

BLOCK: Final = 64
SPAN: Final = 1024
AT_ONCE: Final = 4
"""Blocks that one transaction indexes: it takes about a millisecond, for which calls wait."""
FIELDS: Final = ("kind", "caller", "server", "name", "effect", "verdict", "outcome", "reason", "by", "parent")
"""The columns of records whose values are indexed."""
_PAGE: Final = 64 * BLOCK
"""Records that are read at once."""
Fits = Callable[[ColumnElement[Any]], ColumnElement[bool]]
"""Makes the condition that a column fits."""
_COLUMNS: Final = ", ".join(f'"{name}"' for name in ("seq", "at", *FIELDS))
_READ: Final = Statement(
    f"SELECT {_COLUMNS} FROM records "  # noqa: S608 - our own names
    "WHERE chain = ? AND seq BETWEEN ? AND ? AND content IS NOT NULL ORDER BY seq LIMIT ?"
)
_LAST: Final = Statement("SELECT max(block) FROM search_blocks WHERE chain = ?")
_ADD_BLOCK: Final = Statement(
    "INSERT INTO search_blocks (chain, block, first_at, last_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
_ADD_VALUE: Final = Statement(
    "INSERT INTO search_values (chain, span, field, value, block) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
_REMOVE_VALUE: Final = Statement(
    "DELETE FROM search_values WHERE chain = ? AND span = ? AND field = ? AND value = ? AND block = ?"
)
log = structlog.get_logger("mcpguard.store")


class IndexedValue(NamedTuple):
    """A value of a column that occurs in a block."""

    span: int
    field: str
    value: str
    block: int


class IndexedBlocks(NamedTuple):
    """What the index says of some records: the first and the last time of each block, and the values in it."""

    times: dict[int, tuple[int | None, int | None]]
    values: set[IndexedValue]


def index_of(rows: Iterable[Sequence[Any]]) -> IndexedBlocks:
    """Return what the index has to say of rows with number, time and `FIELDS`: all of whole blocks with content."""
    blocks: dict[int, list[Sequence[Any]]] = {}
    for row in rows:
        blocks.setdefault(row[0] // BLOCK, []).append(row)
    found = IndexedBlocks({}, set())
    for block, its in blocks.items():
        _, ats, *columns = zip(*its, strict=True)
        # Whatever else a cell holds was not written by mcpguard, and verifying reports it.
        times = [at for at in ats if type(at) is int]
        found.times[block] = (min(times), max(times)) if times else (None, None)
        for field, values in zip(FIELDS, columns, strict=True):
            found.values.update(
                IndexedValue(block // SPAN, field, value, block) for value in {*values} if isinstance(value, str)
            )
    return found


def edge(connection: Connection, chain: str) -> int:
    """Return the first number behind the indexed blocks."""
    last = _LAST.first(connection, (chain,))
    return (last[0] + 1) * BLOCK if last is not None and isinstance(last[0], int) else 0


def extend(connection: Connection, chain: str, upto: int) -> tuple[int, bool]:
    """Index the next blocks of the records up to this number. Return up to which number all is indexed that can be now,
    and whether there is more."""
    first, end = edge(connection, chain), (upto + 1) // BLOCK * BLOCK
    if first >= end:
        return end - 1, False
    most = AT_ONCE * BLOCK
    try:
        rows = _read(connection, chain, first, end - 1, most)
    except sqlite3.Error as error:  # somebody wrote what cannot be read; the others in this transaction must not suffer
        log.warning("store.not_indexed", why=str(error))
        return end - 1, False
    more = len(rows) == most
    if more and rows[-1][0] % BLOCK != BLOCK - 1:  # numbers are missing: the last block may have more rows
        cut = rows[-1][0] // BLOCK
        rows = [row for row in rows if row[0] // BLOCK < cut]
    _add(connection, chain, index_of(rows))
    return end - 1, more


def empty_records(connection: Connection, chain: str, first: int, last: int) -> None:
    """Remove the content of these records, and from the index what only they said."""
    end = min(last, edge(connection, chain) - 1)
    blocks = (first // BLOCK * BLOCK, end // BLOCK * BLOCK + BLOCK - 1)
    before = index_of(_read(connection, chain, *blocks)) if first <= end else IndexedBlocks({}, set())
    pruning.empty(connection, chain, first, last)
    if not before.times:
        return
    now = index_of(_read(connection, chain, *blocks))
    _REMOVE_VALUE.run(connection, [(chain, *value) for value in before.values - now.values])
    for block in (block for block, times in before.times.items() if now.times.get(block) != times):
        connection.execute(delete(search_blocks).where(search_blocks.c.chain == chain, search_blocks.c.block == block))
        if block in now.times:
            _ADD_BLOCK.run(connection, [(chain, block, *now.times[block])])


def blocks_with(
    connection: Connection,
    chain: str,
    field: str,
    fits: Fits,
    blocks: tuple[int, int],
    only: Collection[int] | None = None,
) -> set[int]:
    """Return those of these blocks, given by the first and the last, in which a value of this column fits; of `only`
    a few of them, if these are given."""
    its = search_values.c
    spans: Sequence[int] = range(blocks[0] // SPAN, blocks[1] // SPAN + 1)
    among = its.block.between(*blocks)
    if only is not None:
        spans, among = sorted({block // SPAN for block in only}), its.block.in_(only)
    found: set[int] = set()
    for some in batches(spans):
        mine = its.chain == chain, its.span.in_(some), its.field == field, among
        found.update(connection.scalars(select(its.block).where(*mine, fits(its.value))))
    return found


def blocks_at(connection: Connection, chain: str, since: int | None, until: int | None) -> tuple[int, int] | None:
    """Return the first and the last of the indexed blocks with a time from `since` on and before `until`."""
    its = search_blocks.c
    mine = [its.chain == chain]
    mine += [] if since is None else [its.last_at >= since]
    mine += [] if until is None else [its.first_at < until]
    first, last = connection.execute(select(func.min(its.block), func.max(its.block)).where(*mine)).one()
    return None if first is None else (first, last)


def stored_in_index(connection: Connection, chain: str, first: int, last: int) -> IndexedBlocks:
    """Return what is stored in the index of these blocks, which are of one span."""
    its, named = search_blocks.c, search_values.c
    mine = its.chain == chain, its.block.between(first, last)
    times = connection.execute(select(its.block, its.first_at, its.last_at).where(*mine)).all()
    values = select(named.span, named.field, named.value, named.block).where(
        named.chain == chain, named.span == first // SPAN, named.block.between(first, last)
    )
    return IndexedBlocks(
        {block: (first_at, last_at) for block, first_at, last_at in times},
        {IndexedValue(*row) for row in connection.execute(values)},
    )


def found_in_records(connection: Connection, chain: str, first: int, last: int) -> IndexedBlocks:
    """Return what the index has to say of the records with these numbers, page by page."""
    found = IndexedBlocks({}, set())
    for begin in range(first, last + 1, _PAGE):
        some = index_of(_read(connection, chain, begin, min(begin + _PAGE - 1, last)))
        connection.rollback()
        found.times.update(some.times)
        found.values.update(some.values)
    return found


def stray_values(connection: Connection, chain: str) -> bool:
    """Tell whether the index has a value of a block that it does not have, or that cannot be, or in the wrong span."""
    its = search_values.c
    blocks = select(search_blocks.c.block).where(search_blocks.c.chain == chain, search_blocks.c.block >= 0)
    # One statement, because a guard may add blocks meanwhile.
    wrong = or_(its.block.not_in(blocks), its.span != its.block // SPAN)
    return connection.scalar(select(its.block).where(its.chain == chain, wrong).limit(1)) is not None


def _add(connection: Connection, chain: str, found: IndexedBlocks) -> None:
    # In the order of the key, so that each page is touched once.
    _ADD_VALUE.run(connection, [(chain, *value) for value in sorted(found.values)])
    _ADD_BLOCK.run(connection, [(chain, block, *times) for block, times in found.times.items()])


def _read(connection: Connection, chain: str, first: int, last: int, most: int = 2**62) -> Sequence[Any]:
    return _READ.all(connection, (chain, first, last, most))
