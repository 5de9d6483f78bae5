"""Adds up counted calls: by bar, verdict and outcome, by tool and caller, by reason, and how long they took."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from sqlalchemy import BigInteger, ColumnElement, Connection, Table, case, cast, func, select

from mcpguard.domain.calls.counted_calls import CountDetail, CountFilter, Grain
from mcpguard.domain.calls.outcomes import OutcomeKind
from mcpguard.store.rows.statements import SQLITE
from mcpguard.store.rows.tables import counted_calls, counted_durations

_ITS: Final = counted_calls.c
_TOOK: Final = counted_durations.c


def _sum(of: ColumnElement[int]) -> ColumnElement[int]:
    return cast(func.sum(of), BigInteger)  # PostgreSQL's own sum of such numbers is a decimal


def _with(outcome: OutcomeKind) -> ColumnElement[int]:
    return _sum(case((_ITS.outcome == outcome.value, _ITS.calls), else_=0))


_CALLS: Final = _sum(_ITS.calls)
_FAILED: Final = _with(OutcomeKind.FAILED)
_REFUSED: Final = _with(OutcomeKind.REFUSED)


def see_one_state(connection: Connection) -> None:
    """Have all that is read until the transaction ends be of one moment."""
    is_sqlite = connection.dialect.name == SQLITE
    connection.exec_driver_sql("BEGIN" if is_sqlite else "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")


class CountedSpan:
    """The counts of a chain from one slot on and before another, as far as they pass a filter."""

    def __init__(
        self, connection: Connection, chain: str, grain: Grain, span: tuple[int, int], wanted: CountFilter
    ) -> None:
        self._connection = connection
        self._chain = chain
        self._grain = int(grain)
        self._span = span
        self._detail = CountDetail.SERVER if wanted.name is None and wanted.caller is None else CountDetail.TOOL
        self._wanted = {name: value for name, value in asdict(wanted).items() if value is not None}

    def has_more_rows_than(self, most: int) -> bool:
        """Whether there are more rows than so many, whether they pass the filter or not."""
        some = select(_ITS.slot).where(*self._slots(counted_calls, CountDetail.TOOL)).limit(most + 1).subquery()
        return int(self._connection.scalar(select(func.count()).select_from(some)) or 0) > most

    def by_verdict(self, width: int) -> Sequence[Any]:
        """The number of calls by bar (so many microseconds wide), verdict and outcome."""
        by = (_ITS.slot // width).label("bar"), _ITS.verdict, _ITS.outcome
        return self._all(select(*by, _CALLS).where(*self._mine()).group_by(*by))

    def by_tool_and_caller(self) -> Sequence[Any]:
        """By server, name and caller: calls, failed and refused ones. Those that a slot had no room for are without
        name and caller."""
        by = _ITS.server, _ITS.name, _ITS.caller
        mine = *self._slots(counted_calls, CountDetail.TOOL), *self._fits(counted_calls)
        return self._all(select(*by, _CALLS, _FAILED, _REFUSED).where(*mine).group_by(*by))

    def by_reason(self) -> Sequence[Any]:
        """The number of refused calls by reason, the most frequent first."""
        refused = *self._mine(), _ITS.outcome == OutcomeKind.REFUSED.value
        by = select(_ITS.reason, _CALLS).where(*refused).group_by(_ITS.reason)
        return self._all(by.order_by(_CALLS.desc(), _ITS.reason))

    def durations(self, width: int) -> Sequence[Any]:
        """The number of durations by bar and bucket; none if the filter has keys that are not kept of them."""
        if not self._wanted.keys() <= {*_TOOK.keys()}:
            return ()
        by = (_TOOK.slot // width).label("bar"), _TOOK.bucket
        mine = *self._slots(counted_durations, self._detail), *self._fits(counted_durations)
        return self._all(select(*by, _sum(_TOOK.calls)).where(*mine).group_by(*by))

    def by_server(self) -> Sequence[Any]:
        """Of each server and slot: calls, failed and refused ones."""
        by = _ITS.server, _ITS.slot
        return self._all(select(*by, _CALLS, _FAILED, _REFUSED).where(*self._mine()).group_by(*by))

    def durations_by_server(self) -> Sequence[Any]:
        """The number of durations by server and bucket."""
        by = _TOOK.server, _TOOK.bucket
        mine = self._slots(counted_durations, CountDetail.SERVER)
        return self._all(select(*by, _sum(_TOOK.calls)).where(*mine).group_by(*by))

    def last_by_server(self) -> Sequence[Any]:
        """The last slot of each server."""
        by = select(_ITS.server, func.max(_ITS.slot)).where(*self._mine()).group_by(_ITS.server)
        return self._all(by)

    def _mine(self) -> Sequence[ColumnElement[bool]]:
        return *self._slots(counted_calls, self._detail), *self._fits(counted_calls)

    def _slots(self, table: Table, detail: CountDetail) -> Sequence[ColumnElement[bool]]:
        its, (since, until) = table.c, self._span
        return (
            its.chain == self._chain,
            its.grain == self._grain,
            its.detail == int(detail),
            its.slot >= since,
            its.slot < until,
        )

    def _fits(self, table: Table) -> Sequence[ColumnElement[bool]]:
        return [table.c[name] == value for name, value in self._wanted.items() if name in table.c]

    def _all(self, query: Any) -> Sequence[Any]:  # noqa: ANN401 - a query of any columns
        return self._connection.execute(query).all()


def first_slot(connection: Connection, chain: str) -> int | None:
    """The start of the first minute, or else hour or day, that is counted."""
    mine = _ITS.chain == chain, _ITS.detail == int(CountDetail.SERVER)
    found = [connection.scalar(select(func.min(_ITS.slot)).where(*mine, _ITS.grain == int(grain))) for grain in Grain]
    return min((slot for slot in found if slot is not None), default=None)
