"""Searches as `record_search` does, but finds each call once: at the first of its records that matches.

That is mostly its opening.

Rules kept here:
1. A page finds no call that another page finds, in whichever direction and however the log is cut into pages: where a
   call stands depends on the filter and on earlier records alone.
2. Work is limited: a page is made of few searches, which share one patience, and what belongs to the calls that were
   found is looked up in few queries.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import ColumnElement, Connection, TextClause, select

from mcpguard.domain.filters import Filter
from mcpguard.store.rows.pages import batches
from mcpguard.store.rows.records import COLUMNS, WHOLE, StoredRecord, stored_record
from mcpguard.store.rows.tables import ONCE, OTHERWISE, records
from mcpguard.store.search import record_search
from mcpguard.store.search.filter_conditions import Conditions

LATER: Final = frozenset({"released", "asked", "heard", "closed", "ended_run", "search_used"})
"""Kinds of records that follow the first record of a call."""
FIRST: Final = frozenset({"opened", "ran"})
_TELLING: Final = ("released", "ran", "ended_run")
"""Kinds beside opened and closed that tell how a call went."""
_ENTRY: Final = COLUMNS.index("entry")
CallRecords = Mapping[str, StoredRecord]
"""The newest record of a call of each kind."""


@dataclass(frozen=True, slots=True)
class FoundRow:
    """A record that matches. `call`: of a call, what tells how it went."""

    record: StoredRecord
    call: CallRecords = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FoundRows:
    """Rows in the requested order. `reached` and `ended` as in `FoundRecords`. `went_on`: with the oldest first,
    calls that stand elsewhere, of which later records were found."""

    rows: Sequence[FoundRow]
    reached: int
    ended: bool
    went_on: Sequence[FoundRow] = ()


def search_calls(
    connection: Connection,
    chain: str,
    wanted: Filter,
    *,
    start: int | None,
    limit: int,
    newest_first: bool,
    patience: Callable[[], bool] = lambda: True,
) -> FoundRows:
    """Return up to `limit` rows beyond the number `start`, as `record_search.search` does with records."""
    found: list[StoredRecord] = []
    later: list[StoredRecord] = []
    while True:
        page = record_search.search(
            *(connection, chain, wanted),
            start=start,
            limit=2 * (limit - len(found)),
            newest_first=newest_first,
            patience=patience,
        )
        elsewhere = _stands_earlier(connection, chain, wanted, page.records)
        first = [record for record in page.records if record.seq not in elsewhere]
        later += (record for record in page.records if record.seq in elsewhere and not newest_first)
        found, start = found + first, page.reached
        if len(found) >= limit or page.ended or not patience():
            break
    cut = found[:limit]
    reached, ended = (page.reached, page.ended) if cut == found else (cut[-1].seq, False)
    here = set(map(entry_of, cut))
    past = [*{entry_of(each): each for each in later if entry_of(each) not in here and each.seq <= reached}.values()]
    calls = calls_of(connection, chain, filter(None, map(entry_of, [*cut, *past])))
    rows, went_on = ([FoundRow(each, calls.get(entry_of(each) or "", {})) for each in some] for some in (cut, past))
    return FoundRows(rows, reached, ended, went_on)


def entry_of(record: StoredRecord) -> str | None:
    """Return the call to which a record belongs; None if to none."""
    entry = record.columns[_ENTRY]
    return entry if isinstance(entry, str) and record.kind in FIRST | LATER else None


def calls_of(connection: Connection, chain: str, entries: Iterable[str]) -> Mapping[str, CallRecords]:
    """Return the records that tell how these calls went, by call and kind."""
    found: dict[str, dict[str, StoredRecord]] = defaultdict(dict)
    telling = records.c.kind.in_(_TELLING) & OTHERWISE
    for some in batches([*dict.fromkeys(entries)]):
        for half in (ONCE, telling):
            mine = select(*WHOLE).where(records.c.chain == chain, records.c.entry.in_(some), half)
            for record in map(stored_record, connection.execute(mine.order_by(records.c.seq))):
                found[str(record.columns[_ENTRY])][str(record.kind)] = record
    return found


def _stands_earlier(connection: Connection, chain: str, wanted: Filter, found: Sequence[StoredRecord]) -> set[int]:
    """Return the numbers of those records of calls of which an earlier record matches too."""
    later = {record.seq: entry for record in found if record.kind in LATER and (entry := entry_of(record))}
    fits = [*Conditions(connection, chain, wanted).every(), records.c.kind.in_(FIRST | LATER)] if later else []
    first: dict[str, int] = {}
    for some in batches([*dict.fromkeys(later.values())]):
        for half in (ONCE, OTHERWISE):
            for numbers in batches([*_numbers(connection, records.c.entry.in_(some), half)]):
                for seq, entry in _numbers(connection, records.c.seq.in_(numbers), *fits).items():
                    first[entry] = min(seq, first.get(entry, seq))
    return {seq for seq, entry in later.items() if first.get(entry, seq) < seq}


def _numbers(connection: Connection, *where: ColumnElement[bool] | TextClause) -> dict[int, str]:
    """Return the calls of some records by number."""
    found = connection.execute(select(records.c.seq, records.c.entry).where(*where))
    return {row.seq: row.entry for row in found}
