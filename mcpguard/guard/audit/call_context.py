"""What surrounds a call in the audit log: who decided about its hold, and what its caller did before and after."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcpguard.domain.filters import Filter, FilterKey, FilterTerm
from mcpguard.guard.audit.log_pages import LogRow, log_page
from mcpguard.guard.audit.record_json import record_json
from mcpguard.store.engine.backend import Connection
from mcpguard.store.search import record_search

AROUND: Final = 4
"""Calls of the caller on either side."""
LOOKED_THROUGH: Final = 100
"""Decisions about calls of the same caller to the same server, among which that about this one is."""
Said = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CallContext:
    """`decisions`: the records of what was decided about its hold; `before` and `after`: the nearest calls of its
    caller, in order."""

    decisions: tuple[dict[str, Any], ...] = ()
    before: tuple[LogRow, ...] = ()
    after: tuple[LogRow, ...] = ()


def call_context(
    connection: Connection, chain: str, opening: Said, seq: int, patience: Callable[[], bool]
) -> CallContext:
    """The context of the call with this opening, which is the record with this number."""
    caller, ticket = opening.get("caller"), opening.get("ticket")
    if not isinstance(caller, str):
        return CallContext()
    mine = FilterTerm(FilterKey.CALLER, (caller,))
    opened = Filter((mine, FilterTerm(FilterKey.KIND, ("opened",))))
    before, after = (
        log_page(connection, chain, opened, start=seq, limit=AROUND, newest_first=newest_first, patience=patience).rows
        for newest_first in (True, False)
    )
    if not isinstance(ticket, str):
        return CallContext((), before[::-1], after)
    decided = Filter((mine, FilterTerm(FilterKey.KIND, ("decided", "moved"))))
    # What a held call waits for comes after its opening; an approval that a call uses came before.
    found = record_search.search(
        connection,
        chain,
        decided,
        start=seq,
        limit=LOOKED_THROUGH,
        newest_first=opening.get("verdict") != "hold",
        patience=patience,
    )
    about = map(record_json, found.records)
    decisions = [each for each in about if (each["content"] or {}).get("ticket") == ticket]
    return CallContext(tuple(sorted(decisions, key=lambda each: each["seq"])), before[::-1], after)
