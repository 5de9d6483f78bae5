"""Counts the calls and other records that match a filter: by time and how they went, and by the terms that would find
them.

Rules kept here:
1. Work is limited, as in `record_search`: windows of numbers, the newest first, until the time is up. The result says
   how far the count got.
2. A pruned record has no time, and is not counted.
3. A call counts once: its closing counts, which says how it ended, or, where a filter asks for what only openings say,
   its opening, which has the verdict. A text may be in either: the opening counts where it is not in the closing.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final

from sqlalchemy import ColumnElement, Connection, bindparam, func, select

from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.filters import Filter, FilterKey, FilterTerm
from mcpguard.store.rows.tables import records
from mcpguard.store.search.filter_conditions import Conditions, times
from mcpguard.store.search.record_search import pace, windows

FIRST_WINDOW: Final = 5_000
GROWS: Final = 2
_COLUMNS: Final = ("kind", "verdict", "outcome", "capability", "server", "name", "caller", "reason")
_BY: Final = tuple(records.c[name] for name in _COLUMNS)
_IN_OPENINGS: Final = frozenset({FilterKey.VERDICT, FilterKey.PARENT})
"""Keys of what a closing does not say."""
_OF_CAPABILITY: Final = {
    CapabilityKind.TOOL.value: FilterKey.TOOL,
    CapabilityKind.RESOURCE.value: FilterKey.RESOURCE,
    CapabilityKind.TEMPLATE.value: FilterKey.TEMPLATE,
    CapabilityKind.PROMPT.value: FilterKey.PROMPT,
}


@dataclass(frozen=True, slots=True)
class RecordCounts:
    """The number of matching calls and other records.

    `slots`: by slot of time (each as long as the grain) and outcome or verdict, "" for a record of no call. `terms`:
    how many of the calls a term would leave, by its key and value. `reached`: all records from this number on were
    checked; `ended`: no earlier one matches.
    """

    slots: Mapping[tuple[int, str], int]
    reached: int
    ended: bool
    terms: Mapping[tuple[FilterKey, str], int] = field(default_factory=dict)


def count(
    connection: Connection, chain: str, wanted: Filter, grain: int, patience: Callable[[], bool] = lambda: True
) -> RecordCounts:
    """Count in slots of `grain` microseconds, as long as `patience` returns True after each window."""
    fits = Conditions(connection, chain, wanted)
    lowest, highest = fits.span() or (1, 0)
    reached = highest + 1
    tally = _Tally()
    by = (records.c.at // grain).label("slot"), *_BY, *((records.c.entry,) if fits.reads_texts else ())
    within = records.c.seq.between(bindparam("first"), bindparam("last"))
    window = select(func.count(), *by).where(*fits.every(), within, *_once(wanted, fits)).group_by(*by)
    for first, last in windows(lowest, highest, *pace(fits, FIRST_WINDOW, GROWS), newest_first=True):
        if not _more(connection, chain, wanted, (lowest, reached)):
            return RecordCounts(tally.slots, reached, True, tally.terms)
        if reached <= highest and not patience():
            return RecordCounts(tally.slots, reached, False, tally.terms)
        for begin, end in fits.ranges(first, last):
            for group in connection.execute(window, {"first": begin, "last": end}):
                tally.add(*group)
        reached = first
    return RecordCounts(tally.slots, reached, True, tally.terms)


def _once(wanted: Filter, fits: Conditions) -> Iterator[ColumnElement[bool]]:
    """Yield the condition that leaves out one of both records of a call."""
    if not fits.reads_texts:
        yield func.coalesce(records.c.kind, "") != ("closed" if counts_openings(wanted) else "opened")


def counts_openings(wanted: Filter) -> bool:
    """Tell whether a filter asks for what only the opening of a call says."""
    return any(_only_openings(term) for term in wanted.terms)


def _only_openings(term: FilterTerm) -> bool:
    if term.key is FilterKey.KIND:
        return term.without is any(fnmatchcase("closed", value.replace("[", "[[]")) for value in term.values)
    return term.key in _IN_OPENINGS and not term.without


class _Tally:
    """Adds up what was counted."""

    def __init__(self) -> None:
        self.slots: Counter[tuple[int, str]] = Counter()
        self.terms: Counter[tuple[FilterKey, str]] = Counter()
        self._closed: set[str] = set()

    def add(self, number: int, slot: object, kind: object, verdict: object, outcome: object, *rest: object) -> None:
        """Add records that have the same in all columns, the newest first."""
        capability, server, name, caller, reason, *entries = rest
        if not isinstance(slot, int):  # others are pruned, or were not written by mcpguard
            return
        if kind == "closed":
            self._closed.update(entry for entry in entries if isinstance(entry, str))
        elif kind == "opened" and not self._closed.isdisjoint(entries):
            return
        key, ended = (FilterKey.OUTCOME, outcome) if kind == "closed" else (FilterKey.VERDICT, verdict)
        word = ended if kind in ("opened", "closed") and isinstance(ended, str) else ""
        self.slots[slot, word] += number
        if word:
            whole = f"{server}:{name}" if isinstance(server, str) and isinstance(name, str) else None
            called = _OF_CAPABILITY.get(str(capability), FilterKey.NAME)
            said = {key: word, FilterKey.SERVER: server, called: whole, FilterKey.CALLER: caller}
            for of, value in (said | {FilterKey.REASON: reason}).items():
                if isinstance(value, str):
                    self.terms[of, value] += number


def made_at(connection: Connection, chain: str, seq: int) -> int | None:
    """Return the time of the first record from this number on that was not pruned."""
    mine = records.c.chain == chain, records.c.seq >= seq, records.c.at.is_not(None)
    found: int | None = connection.scalar(select(records.c.at).where(*mine).order_by(records.c.seq).limit(1))
    return found


def _more(connection: Connection, chain: str, wanted: Filter, among: tuple[int, int]) -> bool:
    """Tell whether any of these records, the last one excluded, is in the filter's time. The first mostly is."""
    mine = records.c.chain == chain, records.c.seq >= among[0], records.c.seq < among[1], *times(wanted)
    return connection.scalar(select(records.c.seq).where(*mine).order_by(records.c.seq).limit(1)) is not None
