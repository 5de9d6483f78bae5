"""Emptying records and bodies, and what has to be known for it. What may go is the ledger's business.

Rules kept here:
1. Of a record its number and its hash stay; only what it says goes. The rows of bodies go with their record.
2. Whatever is asked or done is about a stretch of numbers, so that no statement takes long.
3. A record that says what was pruned, or which key signs from now on, is never emptied.
4. What is emptied is removed and what stays is added anew: SQLite gives no room back where rows only grow shorter.
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
"""The kinds of record that stay as they are."""
ROW_BYTES: Final = 300
"""What a row takes beside its content, with its part of the indexes; where it is not known better."""
_FULL: Final = records.c.content.is_not(None)
_FULL_BODY: Final = or_(bodies.c.content.is_not(None), bodies.c.salt.is_not(None))


def said(connection: Connection, chain: str) -> list[tuple[int, bytes]]:
    """Number and content of every record that says what was pruned, the oldest first."""
    mine = records.c.chain == chain, records.c.kind == "pruned", OTHERWISE
    wanted = select(records.c.seq, records.c.content).where(*mine).order_by(records.c.seq)
    return [(row.seq, row.content or b"") for row in connection.execute(wanted)]


def empty(connection: Connection, chain: str, first: int, last: int) -> None:
    """What these records say goes, and their bodies."""
    mine = and_(_within(records, chain, first, last), _FULL, records.c.kind.not_in(sorted(NEVER)))
    _anew(connection, records, mine, "hash")
    connection.execute(delete(bodies).where(_within(bodies, chain, first, last)))


def empty_bodies(connection: Connection, chain: str, first: int, last: int) -> None:
    """What the bodies of these records say goes."""
    _anew(connection, bodies, and_(_within(bodies, chain, first, last), _FULL_BODY))


def first_full(connection: Connection, chain: str, first: int, last: int) -> int | None:
    """The first of these records that still says something and is not to stay."""
    kept = records.c.kind.not_in(sorted(NEVER))
    return _first(connection, select(records.c.seq).where(_within(records, chain, first, last), _FULL, kept), records)


def first_full_body(connection: Connection, chain: str, first: int, last: int) -> int | None:
    """The first of these numbers under which a body still says something."""
    return _first(connection, select(bodies.c.seq).where(_within(bodies, chain, first, last), _FULL_BODY), bodies)


def count_full(connection: Connection, chain: str, first: int, last: int) -> int:
    """How many of these records still say something and are not to stay."""
    kept = records.c.kind.not_in(sorted(NEVER))
    mine = select(func.count()).select_from(records).where(_within(records, chain, first, last), _FULL, kept)
    return int(connection.scalar(mine) or 0)


def count_full_bodies(connection: Connection, chain: str, first: int, last: int) -> int:
    """Under how many of these numbers a body still says something."""
    mine = select(func.count()).select_from(bodies).where(_within(bodies, chain, first, last), _FULL_BODY)
    return int(connection.scalar(mine) or 0)


def full_bodies(connection: Connection, chain: str, first: int, last: int, limit: int) -> list[int]:
    """The numbers of these bodies that still say something, at most so many."""
    mine = select(bodies.c.seq).where(_within(bodies, chain, first, last), _FULL_BODY)
    return list(connection.scalars(mine.order_by(bodies.c.seq).limit(limit)))


def with_body(connection: Connection, chain: str, first: int, last: int) -> list[int]:
    """Those of these numbers under which there is a row of a body, whether it says anything or not."""
    return list(connection.scalars(select(bodies.c.seq).where(_within(bodies, chain, first, last))))


def times(connection: Connection, chain: str, after: int, upto: int, limit: int) -> list[tuple[int, int]]:
    """Number and time of the records that follow, which still say something."""
    mine = select(records.c.seq, records.c.at).where(_within(records, chain, after + 1, upto), _FULL)
    return [(row.seq, row.at) for row in connection.execute(mine.order_by(records.c.seq).limit(limit))]


def of_entry(connection: Connection, chain: str, entry: str, first: int, last: int) -> list[int]:
    """The numbers of an entry's records among these."""
    mine = select(records.c.seq).where(_within(records, chain, first, last), records.c.entry == entry)
    return list(connection.scalars(mine.order_by(records.c.seq)))


def naming(
    connection: Connection, chain: str, entries: Sequence[str], first: int, last: int
) -> list[tuple[str, bytes]]:
    """Entry and content of every opening among these whose content has the id of one of these entries anywhere in it,
    its own or another."""
    sqlite = connection.dialect.name == "sqlite"
    at = func.instr if sqlite else func.pg_catalog.position
    has = (at(records.c.content, entry.encode()) > 0 for entry in entries)
    mine = _within(records, chain, first, last), records.c.kind == "opened", or_(*has)
    rows = connection.execute(select(records.c.entry, records.c.content).where(*mine).order_by(records.c.seq))
    return [(row.entry, bytes(row.content)) for row in rows]


def newest_until(connection: Connection, chain: str, seq: int) -> int | None:
    """The time of the newest record up to this number that says something."""
    mine = records.c.chain == chain, records.c.seq <= seq, _FULL
    at: int | None = connection.scalar(select(records.c.at).where(*mine).order_by(records.c.seq.desc()).limit(1))
    return at


def file_bytes(connection: Connection) -> int | None:
    """What a SQLite file takes, without the pages that are free in it; None on a server.

    There the size of a table says nothing of what is in it: what is removed leaves room and makes no file smaller.
    """
    if connection.dialect.name != "sqlite":
        return None
    pragmas = ("page_count", "freelist_count", "page_size")
    pages, free, size = (int(connection.scalar(text(f"PRAGMA {pragma}")) or 0) for pragma in pragmas)
    return (pages - free) * size


def content_bytes(connection: Connection, chain: str, first: int, last: int) -> int:
    """How long the contents of these records and their bodies are."""
    of_records = select(func.sum(func.length(records.c.content))).where(_within(records, chain, first, last))
    of_bodies = select(func.sum(func.length(bodies.c.content))).where(_within(bodies, chain, first, last))
    return sum(int(connection.scalar(each) or 0) for each in (of_records, of_bodies))


def _anew(connection: Connection, table: Table, mine: ColumnElement[bool], *kept: str) -> None:
    """Of these rows the key stays, and what is named."""
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
