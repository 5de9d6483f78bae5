"""Pages of the audit log on which every call is one row, with what tells how it went."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mcpguard.domain.filters import Filter
from mcpguard.guard.audit.record_json import record_json
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import records
from mcpguard.store.search.call_search import FoundRow, search_calls

LARGEST_REPLY: Final = 16_384
"""Bytes of the response of a failed call that are read for its row."""


@dataclass(frozen=True, slots=True)
class LogRow:
    """A call or another record. `record`: the first record that matches; `call`: of a call, what tells how it went, by
    kind; `reply`: the response of a call that failed, if it is kept and short."""

    record: Mapping[str, Any]
    call: Mapping[str, Mapping[str, Any]]
    reply: str = ""


@dataclass(frozen=True, slots=True)
class LogPage:
    """A page of calls and other records, as `RecordPage` of records. `went_on`: of a page of newer ones, earlier calls
    of which there are new records."""

    rows: tuple[LogRow, ...]
    last: int
    more: bool
    went_on: tuple[LogRow, ...] = ()


def log_page(
    connection: Connection,
    chain: str,
    wanted: Filter,
    *,
    start: int | None,
    limit: int,
    newest_first: bool,
    patience: Callable[[], bool],
) -> LogPage:
    """The calls and other records that match, starting after this number."""
    found = search_calls(
        connection, chain, wanted, start=start, limit=limit, newest_first=newest_first, patience=patience
    )
    rows, went_on = (log_rows(connection, chain, some) for some in (found.rows, found.went_on))
    return LogPage(rows, found.reached, not found.ended, went_on)


def log_rows(connection: Connection, chain: str, found: Sequence[FoundRow]) -> tuple[LogRow, ...]:
    """What was found as rows, with the responses of failed calls."""
    calls = [{kind: record_json(each) for kind, each in row.call.items()} for row in found]
    failed = [call["closed"]["seq"] for call in calls if _failed(call)]
    replies = {body.seq: body.content for body in records.bodies_of(connection, chain, failed)} if failed else {}
    return tuple(
        LogRow(record_json(row.record), call, _text(replies.get(call["closed"]["seq"]) if "closed" in call else None))
        for row, call in zip(found, calls, strict=True)
    )


def _failed(call: Mapping[str, Mapping[str, Any]]) -> bool:
    """Tell whether a call failed with a response that is short enough to be read."""
    closing = (call["closed"]["content"] or {}) if "closed" in call else {}
    size = closing.get("body_size")
    return closing.get("outcome") == "failed" and isinstance(size, int) and size <= LARGEST_REPLY


def _text(content: bytes | None) -> str:
    return "" if content is None else content.decode(errors="replace")
