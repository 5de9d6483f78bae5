"""Reads the calls that were opened or closed among some records, to count them.

The database finds the opening of each closing: that takes a fraction of the time that it would take here. Cells of a
SQLite file that somebody else wrote can hold anything.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, select

from mcpguard.store.rows.statements import Statement
from mcpguard.store.rows.tables import records

_NEVER: Final = 2**62
_OPENING: Final = "o.at, o.server, o.name, o.caller, o.capability, o.effect, o.verdict, o.reason"
# The condition of the index stands beside the one that implies it: SQLite compares them word by word.
_ENDED: Final = Statement(
    f"SELECT o.seq < ?, c.content, {_OPENING}, c.outcome, c.reason "  # noqa: S608 - our own names
    "FROM records c JOIN records o ON o.entry = c.entry AND o.kind IN ('opened', 'closed') AND o.kind = 'opened' "
    "WHERE c.chain = ? AND c.seq BETWEEN ? AND ? AND c.kind = 'closed' AND o.chain = c.chain ORDER BY c.seq"
)
_OPEN: Final = Statement(
    f"SELECT {_OPENING} FROM records o WHERE o.chain = ? AND o.seq BETWEEN ? AND ? AND o.kind = 'opened' "  # noqa: S608
    "AND NOT EXISTS (SELECT 1 FROM records c WHERE c.entry = o.entry "
    "AND c.kind IN ('opened', 'closed') AND c.kind = 'closed' AND c.seq <= ?) ORDER BY o.seq"
)


class CallRows(NamedTuple):
    """The calls that were closed among some records, and those that were opened and are open at their end, in order.

    A row of `open` has time, server, name, caller, kind of capability, effect, verdict and reason of the opening. A row
    of `ended` says, before these, whether the call was opened before the records, and has the content of the closing;
    after these, outcome and reason of the closing. Calls whose opening was pruned are left out.
    """

    ended: Sequence[Sequence[Any]]
    open: Sequence[Sequence[Any]]


def call_rows(connection: Connection, chain: str, first: int, last: int) -> CallRows:
    """The calls that were opened or closed among these records."""
    ended = _ENDED.all(connection, (first, chain, first, last))
    return CallRows(ended, _OPEN.all(connection, (chain, first, last, last)))


def pruned_until(connection: Connection, chain: str) -> int | None:
    """The time of the first opening that was not pruned, the end of time if all were; None where nothing was pruned."""
    mine = records.c.chain == chain, records.c.kind == "opened"
    its = select(records.c.seq, records.c.at).where(*mine)
    first = connection.execute(its.order_by(records.c.seq).limit(1)).first()
    seq, at = (_NEVER, _NEVER) if first is None else first
    gone = records.c.chain == chain, records.c.seq < seq, records.c.kind.is_(None)
    found = connection.scalar(select(records.c.seq).where(*gone).order_by(records.c.seq).limit(1))
    return None if found is None else int(at)
