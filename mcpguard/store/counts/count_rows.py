"""Writes the counts of calls, together with the number of the record up to which they count.

Rules kept here:
1. Counts and that number change in one transaction, and only if nobody else has counted meanwhile: no record is counted
   twice, and none is left out.
2. A slot has at most `MOST` rows of calls with an outcome. Whatever else happens in it is counted without name and
   caller. Rows of open calls do not count: which of them were there depends on how often counts are written.
3. What is older than its grain is kept for is not written, and is removed.
"""

from collections import Counter
from collections.abc import Mapping
from itertools import product
from typing import Final, TypeVar

from sqlalchemy import Connection, Table, delete, func, select

from mcpguard.domain.calls.counted_calls import KEPT, CallChanges, CallValues, CountDetail, DurationValues, Grain
from mcpguard.store.rows.statements import Statement
from mcpguard.store.rows.tables import counted_calls, counted_durations, counted_until

MOST: Final = 2000
REMOVED_AT_ONCE: Final = 60
"""Slots that one transaction removes."""
Values = TypeVar("Values", CallValues, DurationValues)
Place = tuple[str, int, int]
"""The chain, the grain and the detail."""
Slot = tuple[str, int, int, int]
"""The same and the slot."""
Slots = Mapping[int, Mapping[Values, int]]
_HERE: Final = "chain = ? AND grain = ? AND detail = ? AND slot = ?"
_COUNTED: Final = Statement("SELECT seq FROM counted_until WHERE chain = ?")
_SET: Final = Statement(
    "INSERT INTO counted_until (chain, seq) VALUES (?, ?) ON CONFLICT (chain) DO UPDATE SET seq = excluded.seq"
)
_TAKE: Final = Statement(
    "UPDATE counted_calls SET calls = calls + ? WHERE chain = ? AND grain = ? AND detail = ? AND slot = ? "
    "AND server = ? AND name = ? AND caller = ? AND effect = ? AND verdict = ? AND outcome = ? AND reason = ?"
)
_CLEAR: Final = Statement(
    f"DELETE FROM counted_calls WHERE {_HERE} AND outcome = '' AND calls <= 0"  # noqa: S608 - our own names
)
_MANY: Final = Statement(
    f"SELECT count(*) FROM counted_calls WHERE {_HERE} AND outcome <> ''"  # noqa: S608
)
_MANY_DURATIONS: Final = Statement(f"SELECT count(*) FROM counted_durations WHERE {_HERE}")  # noqa: S608


def _adding(table: str, names: tuple[str, ...]) -> Statement:
    key = ", ".join(f'"{name}"' for name in ("chain", "grain", "detail", "slot", *names))
    values = ", ".join("?" * (len(names) + 5))
    return Statement(
        f"INSERT INTO {table} ({key}, calls) VALUES ({values}) "  # noqa: S608 - our own names
        f"ON CONFLICT ({key}) DO UPDATE SET calls = {table}.calls + excluded.calls"
    )


_ADD: Final = _adding("counted_calls", CallValues._fields)
_ADD_DURATIONS: Final = _adding("counted_durations", DurationValues._fields)


def counted_until_record(connection: Connection, chain: str) -> int:
    """The number of the last record that is counted."""
    found = _COUNTED.first(connection, (chain,))
    return 0 if found is None else int(found[0])


def store_changes(
    connection: Connection, chain: str, records: tuple[int, int], changes: CallChanges, since: Mapping[Grain, int]
) -> bool:
    """Store what the records after the first of these numbers, up to the second, change; False where the counts do not
    end at the first. `since`: the earliest slot of each grain that is written."""
    before, upto = records
    if counted_until_record(connection, chain) != before:
        return False
    for grain, detail in product(Grain, CountDetail):
        place = chain, int(grain), int(detail)
        _store_calls(connection, place, _slots(changes.calls, grain, detail, since[grain]))
        _store_durations(connection, place, _slots(changes.durations, grain, detail, since[grain]))
    _SET.run(connection, [(chain, upto)])
    return True


def kept_since(now: int) -> dict[Grain, int]:
    """The earliest slot of each grain that is kept."""
    return {grain: now - kept for grain, kept in KEPT.items()}


def remove_older(connection: Connection, chain: str, now: int) -> bool:
    """Remove some of the slots that are not kept any more. Return whether there may be more."""
    more = False
    for grain, since in kept_since(now).items():
        for table in (counted_calls, counted_durations):
            its = table.c
            for detail in CountDetail:
                mine = its.chain == chain, its.grain == int(grain), its.detail == int(detail)
                oldest = connection.scalar(select(func.min(its.slot)).where(*mine))
                if oldest is not None and oldest < since:
                    upto = min(since, oldest + REMOVED_AT_ONCE * grain)
                    connection.execute(delete(table).where(*mine, its.slot < upto))
                    more = more or upto < since
    return more


def forget_counts(connection: Connection, chain: str, since: int) -> None:
    """Remove all slots that begin from `since` on, and begin to count with the first record."""
    for table in (counted_calls, counted_durations):
        for grain in Grain:
            its = table.c
            mine = its.chain == chain, its.grain == int(grain), its.slot >= since
            connection.execute(delete(table).where(*mine))
    connection.execute(delete(counted_until).where(counted_until.c.chain == chain))


def _slots(
    changes: Mapping[tuple[int, Values], int], grain: Grain, detail: CountDetail, since: int
) -> dict[int, dict[Values, int]]:
    """The changes by slot and values, in their order."""
    found: dict[int, dict[Values, int]] = {}
    for (minute, values), by in changes.items():
        slot = minute // grain * grain
        if slot >= since:
            its = found.setdefault(slot, {})
            shared = values if detail is CountDetail.TOOL else values._replace(name="", caller="")
            its[shared] = its.get(shared, 0) + by
    return found


def _store_calls(connection: Connection, place: Place, slots: Slots[CallValues]) -> None:
    for slot, changes in slots.items():
        here = *place, slot
        ended = {values: by for values, by in changes.items() if values.outcome}
        rows = _within(connection, here, ended, counted_calls, _MANY)
        rows += Counter({values: by for values, by in changes.items() if not values.outcome and by > 0})
        less = [(by, *here, *values) for values, by in changes.items() if not values.outcome and by < 0]
        if rows:
            _ADD.run(connection, [(*here, *values, by) for values, by in sorted(rows.items())])
        if less:
            _TAKE.run(connection, less)
            _CLEAR.run(connection, [here])


def _store_durations(connection: Connection, place: Place, slots: Slots[DurationValues]) -> None:
    for slot, changes in slots.items():
        here = *place, slot
        rows = _within(connection, here, changes, counted_durations, _MANY_DURATIONS)
        _ADD_DURATIONS.run(connection, [(*here, *values, by) for values, by in sorted(rows.items())])


def _within(
    connection: Connection, here: Slot, changes: Mapping[Values, int], table: Table, many: Statement
) -> Counter[Values]:
    """The same changes, those that the slot has no room for without name and caller."""
    found = many.first(connection, here)
    there = 0 if found is None else int(found[0])
    if not changes or there + len(changes) <= MOST:  # folded rows can be more than there is room for
        return Counter(changes)
    known = _stored(connection, here, table, type(next(iter(changes))))
    rows = Counter[Values]()
    for values, by in changes.items():
        kept = values if values in known or len(known) < MOST else values._replace(name="", caller="")
        known.add(kept)
        rows[kept] += by
    return rows


def _stored(connection: Connection, here: Slot, table: Table, kind: type[Values]) -> set[Values]:
    its = table.c
    mine = [its.chain == here[0], its.grain == here[1], its.detail == here[2], its.slot == here[3]]
    mine += [its.outcome != ""] if "outcome" in its else []
    return {kind(*row) for row in connection.execute(select(*(its[name] for name in kind._fields)).where(*mine))}
