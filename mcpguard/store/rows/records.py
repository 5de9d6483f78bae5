"""Maps records and their bodies to rows.

The ledger defines what the columns mean.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from mcpguard.domain.errors import NotWhole
from mcpguard.store.rows.pages import batches, page_rows
from mcpguard.store.rows.statements import Statement
from mcpguard.store.rows.tables import ONCE, OTHERWISE, bodies, checkpoints, records, search_blocks, search_values

COLUMNS = (
    "chain", "seq", "at", "kind", "entry", "caller", "server", "capability", "name", "effect", "verdict", "outcome",
    "reason", "by", "parent",
)  # fmt: skip
"""The columns that repeat fields of a record's content."""

TOGETHER = 50
"""Rows per statement: an old SQLite takes 999 values at once."""
_KIND = COLUMNS.index("kind")
_NAMES = ("hash", "content", *COLUMNS)
_COLUMNS = ", ".join(f'"{name}"' for name in _NAMES)
ADD = Statement(f"INSERT INTO records ({_COLUMNS}) VALUES ({', '.join('?' * len(_NAMES))})")  # noqa: S608 - our own names
"""Adds records. A row has the hash, the content, and the values of `COLUMNS`."""
ADD_BODY = Statement("INSERT INTO bodies (chain, seq, salt, content) VALUES (?, ?, ?, ?)")
"""Adds bodies."""
_BARE = (records.c.seq, records.c.hash, records.c.content)
WHOLE = (records.c.hash, records.c.content, *(records.c[name] for name in COLUMNS))
"""The columns of a query whose rows `stored_record` turns into `StoredRecord`s."""


class StoredRecord(NamedTuple):
    """A record as it is stored. `content` is None if it was pruned. A tuple, because there are millions."""

    seq: int
    hash: bytes
    content: bytes | None
    columns: tuple[str | int | None, ...]
    """The values of `COLUMNS`, in that order."""

    @property
    def kind(self) -> str | int | None:
        return self.columns[_KIND]


class BareRecord(NamedTuple):
    """A record without its columns, for walks over millions that do not need them."""

    seq: int
    hash: bytes
    content: bytes | None


@dataclass(frozen=True, slots=True)
class StoredBody:
    """A body as it is stored. `salt` and `content` are None if it was pruned."""

    seq: int
    salt: bytes | None
    content: bytes | None


def last_record(connection: Connection, chain: str) -> tuple[int, bytes] | None:
    """Return number and hash of the newest record."""
    found = connection.execute(
        select(records.c.seq, records.c.hash).where(records.c.chain == chain).order_by(records.c.seq.desc()).limit(1)
    ).first()
    return None if found is None else (found.seq, found.hash)


def hash_of(connection: Connection, chain: str, seq: int) -> bytes | None:
    found: bytes | None = connection.scalar(
        select(records.c.hash).where(records.c.chain == chain, records.c.seq == seq)
    )
    return found


def open_entries(connection: Connection, chain: str, since: int = 0) -> list[str]:
    """Return the entries opened after `since` without a closing, the oldest first, in one pass over the records."""
    both = records.c.kind.in_(("opened", "closed"))
    return list(
        connection.scalars(
            select(records.c.entry)
            .where(records.c.chain == chain, records.c.seq > since, both)
            .group_by(records.c.entry)
            .having(func.min(records.c.kind) == "opened")
            .order_by(func.min(records.c.seq))
        )
    )


def open_runs(connection: Connection, chain: str, since: int = 0) -> list[bytes]:
    """Return the contents of the records of runs begun after `since` whose end is not recorded, the oldest first."""
    both = records.c.kind.in_(("ran", "ended_run")) & OTHERWISE
    found = connection.execute(
        select(records.c.entry, records.c.kind, records.c.content)
        .where(records.c.chain == chain, records.c.seq > since, both)
        .order_by(records.c.seq)
    )
    begun: dict[str, bytes] = {}
    for row in found:
        if row.kind == "ran":
            begun[row.entry] = bytes(row.content)
        else:
            begun.pop(row.entry, None)
    return [*begun.values()]


def never_released(connection: Connection, chain: str, entries: Sequence[str]) -> set[str]:
    """Return those of these entries that were held and never allowed."""
    if not entries:
        return set()
    found: dict[str, str] = {}
    said = select(records.c.entry, records.c.verdict).where(
        records.c.chain == chain, records.c.kind.in_(("opened", "released"))
    )
    for begin in range(0, len(entries), TOGETHER):
        some = entries[begin : begin + TOGETHER]
        rows = connection.execute(said.where(records.c.entry.in_(some)).order_by(records.c.seq))
        found |= {row.entry: row.verdict for row in rows}
    return {entry for entry, verdict in found.items() if verdict != "allow"}


def openings(connection: Connection, chain: str, entries: Sequence[str]) -> dict[str, bytes]:
    """Return the contents of the openings of these entries, by entry."""
    found: dict[str, bytes] = {}
    said = select(records.c.entry, records.c.content).where(records.c.chain == chain, records.c.kind == "opened", ONCE)
    for some in batches(entries):
        found |= {row.entry: bytes(row.content) for row in connection.execute(said.where(records.c.entry.in_(some)))}
    return found


def last_of_kind(connection: Connection, chain: str, kind: str) -> int:
    """Return the number of the newest record of a kind other than opened and closed, 0 if there is none."""
    found: int | None = connection.scalar(
        select(records.c.seq)
        .where(records.c.chain == chain, records.c.kind == kind, OTHERWISE)
        .order_by(records.c.seq.desc())
        .limit(1)
    )
    return found or 0


def newest_of_kind(connection: Connection, chain: str, kind: str, limit: int) -> list[StoredRecord]:
    """Return the newest records of a kind other than opened and closed, the oldest of them first."""
    mine = records.c.chain == chain, records.c.kind == kind, OTHERWISE
    query = select(*WHOLE).where(*mine).order_by(records.c.seq.desc()).limit(limit)
    return [stored_record(row) for row in connection.execute(query)][::-1]


def walk(connection: Connection, chain: str, upto: int, page: int = 500) -> Iterator[StoredRecord]:
    """Yield every record up to `upto`, in order."""
    return map(stored_record, page_rows(connection, select(*WHOLE), records, chain, upto, page))


def walk_bare(connection: Connection, chain: str, after: int, upto: int, page: int = 500) -> Iterator[BareRecord]:
    """Yield every record after `after` and up to `upto`, in order."""
    return starmap(BareRecord, page_rows(connection, select(*_BARE), records, chain, upto, page, after))


def hashes(connection: Connection, chain: str, seqs: Sequence[int]) -> dict[int, bytes]:
    """Return the hashes of those of these records that exist."""
    found: dict[int, bytes] = {}
    for some in batches(seqs):
        query = select(records.c.seq, records.c.hash).where(records.c.chain == chain, records.c.seq.in_(some))
        found |= {row.seq: row.hash for row in connection.execute(query)}
        connection.rollback()  # as in a walk: the writer is not blocked
    return found


def walk_bodies(connection: Connection, chain: str, upto: int, page: int = 50) -> Iterator[StoredBody]:
    """Yield every body up to `upto`, in order."""
    wanted = select(bodies.c.seq, bodies.c.salt, bodies.c.content)
    return (
        StoredBody(row.seq, row.salt, row.content) for row in page_rows(connection, wanted, bodies, chain, upto, page)
    )


def bodies_of(connection: Connection, chain: str, seqs: Sequence[int]) -> list[StoredBody]:
    """Return the existing bodies of these records, in order."""
    query = select(bodies.c.seq, bodies.c.salt, bodies.c.content).where(bodies.c.chain == chain)
    rows = connection.execute(query.where(bodies.c.seq.in_(seqs)).order_by(bodies.c.seq)).all()
    connection.rollback()
    return [StoredBody(row.seq, row.salt, row.content) for row in rows]


def bodies_behind(connection: Connection, chain: str, last: int) -> list[int]:
    """Return some numbers behind this one with a body that belongs to no record. A guard may add both meanwhile: one
    statement sees them together."""
    its = records.c.chain == bodies.c.chain, records.c.seq == bodies.c.seq
    mine = bodies.c.chain == chain, bodies.c.seq > last, ~select(records.c.seq).where(*its).exists()
    found = list(connection.scalars(select(bodies.c.seq).where(*mine).order_by(bodies.c.seq).limit(TOGETHER)))
    connection.rollback()  # as in a walk
    return found


def records_of_kind(connection: Connection, chain: str, kind: str, upto: int = 2**62) -> Iterator[StoredRecord]:
    """Yield every record of a rare kind, in order. They are read lazily: an attacker can write many."""
    wanted = select(*WHOLE).where(records.c.kind == kind, OTHERWISE)
    return map(stored_record, page_rows(connection, wanted, records, chain, upto, 500))


def body(connection: Connection, chain: str, seq: int) -> StoredBody | None:
    """Return the body of the record with this number."""
    row = connection.execute(select(bodies).where(bodies.c.chain == chain, bodies.c.seq == seq)).first()
    return None if row is None else StoredBody(row.seq, row.salt, row.content)


def opened_at(connection: Connection, chain: str, entries: Iterable[str]) -> dict[str, int]:
    """Return the numbers of the records that opened these entries, if they exist."""
    return _ends(connection, chain, entries, "opened")


def closed_at(connection: Connection, chain: str, entries: Iterable[str]) -> dict[str, int]:
    """Return the numbers of the records that closed these entries, if they exist."""
    return _ends(connection, chain, entries, "closed")


def _ends(connection: Connection, chain: str, entries: Iterable[str], kind: str) -> dict[str, int]:
    found: dict[str, int] = {}
    wanted = select(records.c.entry, records.c.seq).where(records.c.chain == chain, records.c.kind == kind, ONCE)
    for some in batches(list(entries)):
        found |= {row.entry: row.seq for row in connection.execute(wanted.where(records.c.entry.in_(some)))}
    return found


def body_of(connection: Connection, chain: str, entry: str, kind: str) -> bytes | None:
    """Return the body of an entry's record of this kind; None if none is kept."""
    here = (records.c.chain == chain) & (records.c.entry == entry) & (records.c.kind == kind)
    belongs = (bodies.c.chain == records.c.chain) & (bodies.c.seq == records.c.seq)
    found: bytes | None = connection.scalar(
        select(bodies.c.content).select_from(records).join(bodies, belongs).where(here)
    )
    return None if found is None else bytes(found)


def chains_named(connection: Connection) -> set[str]:
    """Return every chain that any row claims to belong to, by jumping along the keys instead of reading all rows, where
    a table is kept by its chain."""
    found: set[str] = set()
    for table in (records, bodies, checkpoints, search_blocks, search_values):
        chain: str | None = connection.scalar(select(func.min(table.c.chain)))
        while chain is not None:
            if not chain.isascii():
                raise NotWhole(f"the table {table.name} was modified: mcpguard never began the chain {chain!a}")
            found.add(chain)
            chain = connection.scalar(select(func.min(table.c.chain)).where(table.c.chain > chain))
    return found


def records_after(connection: Connection, chain: str, seq: int, limit: int) -> list[StoredRecord]:
    """Return the records after a number, the oldest first."""
    query = select(*WHOLE).where(records.c.chain == chain, records.c.seq > seq).order_by(records.c.seq).limit(limit)
    return [stored_record(row) for row in connection.execute(query)]


def records_numbered(connection: Connection, chain: str, seqs: Sequence[int]) -> list[StoredRecord]:
    """Return the existing records with these numbers, which are few."""
    mine = records.c.chain == chain, records.c.seq.in_(seqs)
    return [stored_record(row) for row in connection.execute(select(*WHOLE).where(*mine).order_by(records.c.seq))]


def stored_record(row: Sequence[Any]) -> StoredRecord:
    """Return the record of a row of `WHOLE`. By position: access by name would slow down a walk over millions."""
    return StoredRecord(row[3], row[0], row[1], tuple(row[2:]))
