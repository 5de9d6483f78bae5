"""Removes the content of records and bodies, and finds what can be removed.

The ledger decides what may be.

Rules kept here:
1. The number and the hash of a record stay; only its content is removed. The rows of bodies are deleted with their
   record. What only it said is deleted from the index of searches, too (`search_index`).
2. Every statement is limited to a range of numbers, so that none takes long.
3. Records of prunings and of key rotations are never emptied.
4. A row is deleted and inserted again without its content: SQLite frees no space when rows only become shorter.
"""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Table,
    and_,
    delete,
    func,
    insert,
    or_,
    select,
    text,
)

from mcpguard.store.rows.tables import OTHERWISE, bodies, records

NEVER: Final = frozenset({"pruned", "rotated"})
"""The kinds of record that are never emptied."""
ROW_BYTES: Final = 300
"""An estimate of the size of a row without its content, with its part of the indexes."""
_FULL: Final = records.c.content.is_not(None)
_FULL_BODY: Final = or_(bodies.c.content.is_not(None), bodies.c.salt.is_not(None))


def pruned_records(connection: Connection, chain: str) -> list[tuple[int, bytes]]:
    """Return number and content of every record of a pruning, the oldest first."""
    mine = records.c.chain == chain, records.c.kind == "pruned", OTHERWISE
    wanted = select(records.c.seq, records.c.content).where(*mine).order_by(records.c.seq)
    return [(row.seq, row.content or b"") for row in connection.execute(wanted)]


def empty(connection: Connection, chain: str, first: int, last: int) -> None:
    """Remove the content of these records, and their bodies."""
    mine = and_(_within(records, chain, first, last), _FULL, records.c.kind.not_in(sorted(NEVER)))
    _reinsert(connection, records, mine, "hash")
    connection.execute(delete(bodies).where(_within(bodies, chain, first, last)))


def empty_bodies(connection: Connection, chain: str, first: int, last: int) -> None:
    """Remove the content of the bodies of these records."""
    _reinsert(connection, bodies, and_(_within(bodies, chain, first, last), _FULL_BODY))


def first_full(connection: Connection, chain: str, first: int, last: int) -> int | None:
    """Return the first of these records that has content and may be emptied."""
    kept = records.c.kind.not_in(sorted(NEVER))
    return _first(connection, select(records.c.seq).where(_within(records, chain, first, last), _FULL, kept), records)


def first_full_body(connection: Connection, chain: str, first: int, last: int) -> int | None:
    """Return the first of these numbers with a body that has content."""
    return _first(connection, select(bodies.c.seq).where(_within(bodies, chain, first, last), _FULL_BODY), bodies)


def count_full(connection: Connection, chain: str, first: int, last: int) -> int:
    """Return how many of these records have content and may be emptied."""
    kept = records.c.kind.not_in(sorted(NEVER))
    mine = select(func.count()).select_from(records).where(_within(records, chain, first, last), _FULL, kept)
    return int(connection.scalar(mine) or 0)


def count_full_bodies(connection: Connection, chain: str, first: int, last: int) -> int:
    """Return how many of these numbers have a body with content."""
    mine = select(func.count()).select_from(bodies).where(_within(bodies, chain, first, last), _FULL_BODY)
    return int(connection.scalar(mine) or 0)


def full_bodies(connection: Connection, chain: str, first: int, last: int, limit: int) -> list[int]:
    """Return the numbers of bodies with content, at most `limit`."""
    mine = select(bodies.c.seq).where(_within(bodies, chain, first, last), _FULL_BODY)
    return list(connection.scalars(mine.order_by(bodies.c.seq).limit(limit)))


def with_body(connection: Connection, chain: str, first: int, last: int) -> list[int]:
    """Return those of these numbers that have a row of a body, with or without content."""
    return list(connection.scalars(select(bodies.c.seq).where(_within(bodies, chain, first, last))))


def times(connection: Connection, chain: str, after: int, upto: int, limit: int) -> list[tuple[int, int]]:
    """Return number and time of the following records that have content."""
    mine = select(records.c.seq, records.c.at).where(_within(records, chain, after + 1, upto), _FULL)
    return [(row.seq, row.at) for row in connection.execute(mine.order_by(records.c.seq).limit(limit))]


def of_entry(connection: Connection, chain: str, entry: str, first: int, last: int) -> list[int]:
    """Return the numbers of an entry's records among these."""
    mine = select(records.c.seq).where(_within(records, chain, first, last), records.c.entry == entry)
    return list(connection.scalars(mine.order_by(records.c.seq)))


def naming(
    connection: Connection, chain: str, entries: Sequence[str], first: int, last: int
) -> list[tuple[str, bytes]]:
    """Return entry and content of every opening among these whose content contains the id of one of these entries, its
    own or another."""
    sqlite = connection.dialect.name == "sqlite"
    at = func.instr if sqlite else func.pg_catalog.position
    has = (at(records.c.content, entry.encode()) > 0 for entry in entries)
    mine = _within(records, chain, first, last), records.c.kind == "opened", or_(*has)
    rows = connection.execute(select(records.c.entry, records.c.content).where(*mine).order_by(records.c.seq))
    return [(row.entry, bytes(row.content)) for row in rows]


def newest_until(connection: Connection, chain: str, seq: int) -> int | None:
    """Return the time of the newest record up to this number that has content."""
    mine = records.c.chain == chain, records.c.seq <= seq, _FULL
    at: int | None = connection.scalar(select(records.c.at).where(*mine).order_by(records.c.seq.desc()).limit(1))
    return at


def file_bytes(connection: Connection) -> int | None:
    """Return the size of a SQLite file without its free pages; None on a server.

    On a server the size of a table says nothing about its content: deleting rows frees space inside the file only.
    """
    if connection.dialect.name != "sqlite":
        return None
    pragmas = ("page_count", "freelist_count", "page_size")
    pages, free, size = (int(connection.scalar(text(f"PRAGMA {pragma}")) or 0) for pragma in pragmas)
    return (pages - free) * size


def content_bytes(connection: Connection, chain: str, first: int, last: int) -> int:
    """Return the total length of the contents of these records and their bodies."""
    of_records = select(func.sum(func.length(records.c.content))).where(_within(records, chain, first, last))
    of_bodies = select(func.sum(func.length(bodies.c.content))).where(_within(bodies, chain, first, last))
    return sum(int(connection.scalar(each) or 0) for each in (of_records, of_bodies))


def _reinsert(connection: Connection, table: Table, mine: ColumnElement[bool], *kept: str) -> None:
    """Replace these rows by rows with only the key and the named columns."""
    names = ("chain", "seq", *kept)
    rows = connection.execute(select(*(table.c[name] for name in names)).where(mine).order_by(table.c.seq)).all()
    if rows:
        connection.execute(delete(table).where(mine))
        connection.execute(insert(table), [dict(zip(names, row, strict=True)) for row in rows])


def _within(table: Table, chain: str, first: int, last: int) -> ColumnElement[bool]:
    return and_(table.c.chain == chain, table.c.seq.between(first, last))


def _first(connection: Connection, wanted: Select[Any], table: Table) -> int | None:
    found: int | None = connection.scalar(wanted.order_by(table.c.seq).limit(1))
    return found
