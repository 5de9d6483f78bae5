"""The rows of the list of servers: what was found, how it is used, and what went wrong; and the order of the list.

A server that was not inspected is of unknown risk. It stands before those with high findings, and never as harmless.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from mcpguard.domain.calls.counted_calls import Grain
from mcpguard.domain.findings import Severity
from mcpguard.guard.audit.call_sums import DayOfServers, ServerDay
from mcpguard.guard.guard import Guard
from mcpguard.guard.review.inbox import severities
from mcpguard.guard.servers.registry import ServerState
from mcpguard.guard.servers.status import ServerStatus
from mcpguard.web.pages.numbers.charts import in_milliseconds
from mcpguard.web.pages.servers.one_server import path_of

HOURS: Final = 24
MANY_ERRORS: Final = 0.04
"""The share of failed calls from which on it is shown as a problem."""
ORDERS: Final = ("risk", "name", "status", "calls", "errors", "p95", "last")
USUAL: Final = "-risk"
_HIGH: Final = 18
_STATUSES: Final = ("quarantined", "approved", "disabled", "blocked")
_UNKNOWN: Final = Severity.HIGH.rank + 0.5
Connection = Literal["disabled", "ready", "error", "starting", "connecting", "stopped"]


@dataclass(frozen=True, slots=True)
class HourBar:
    """The calls of one hour in a row's little chart, 24 units high."""

    x: int
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class ServerUse:
    """How a server was used in the last 24 hours. `errors`: the share of failed calls among those that were sent, in
    words; `many`: that it is a problem; `last`: when it was called last.
    """

    calls: int = 0
    errors: str = ""
    many: bool = False
    share: float = -1.0
    p95: int | None = None
    took: str = ""
    last: int | None = None
    bars: tuple[HourBar, ...] = ()
    busiest: int = 0


@dataclass(frozen=True, slots=True)
class ServerRow:
    """A server in the list. `error`: the last that is known, of its connection or its inspection."""

    known: ServerState
    status: ServerStatus
    path: str
    severities: Sequence[tuple[str, int]]
    waits: bool
    connection: Connection
    error: str
    use: ServerUse


def server_row(guard: Guard, known: ServerState, day: DayOfServers | None, *, waits: bool) -> ServerRow:
    """Return the row of a server. `day`: how all servers were used, None for a reader who may not see that."""
    status = guard.servers.status_of(known)
    used = day.servers.get(known.name) if day else None
    running = known.upstream.standing.value == "approved" and day is not None
    failed = status.failed_inspection
    return ServerRow(
        known,
        status,
        f"/servers/{known.name}/activity" if running else path_of(known.name),
        severities([found for _, found in known.findings_by_part()]),
        waits,
        _connection(known, status.state),
        status.error or (failed.error if failed else ""),
        _use(used, day.since) if used and day else ServerUse(),
    )


def in_order(rows: Sequence[ServerRow], by: str) -> list[ServerRow]:
    """Return the rows in one of `ORDERS`; a minus before it turns the order round. Equals are sorted by name."""
    key = {
        "risk": lambda row: (_worst(row), row.status.risk),
        "name": lambda row: row.status.name,
        "status": lambda row: _STATUSES.index(status_word(row)),
        "calls": lambda row: row.use.calls,
        "errors": lambda row: row.use.share,
        "p95": lambda row: row.use.p95 or 0,
        "last": lambda row: row.use.last or 0,
    }[by.removeprefix("-")]
    named = sorted(rows, key=lambda row: row.status.name)
    return sorted(named, key=key, reverse=by.startswith("-"))


def status_word(row: ServerRow) -> str:
    """Return the status of a server in one word."""
    approved_off = row.status.standing == "approved" and not row.status.enabled
    return "disabled" if approved_off else row.status.standing


def order_links(by: str) -> Mapping[str, str]:
    """Return the order that each heading leads to: the same again turns it round."""
    return {each: _turned(each, by) for each in ORDERS}


def _turned(order: str, by: str) -> str:
    first = order if order in ("name", "status") else f"-{order}"
    if by != first:
        return first
    return first.removeprefix("-") if first.startswith("-") else f"-{first}"


def _worst(row: ServerRow) -> float:
    if row.severities:
        return Severity(row.severities[0][0]).rank
    return -1.0 if row.status.inspected else _UNKNOWN


def _use(day: ServerDay, since: int) -> ServerUse:
    sent = day.calls - day.refused
    share = day.failed / sent if sent else -1.0
    by_hour = {(hour.at - since) // Grain.HOUR: hour.calls for hour in day.hours}
    busiest = max(by_hour.values(), default=0)
    bars = tuple(_hour_bar(place, calls, busiest) for place, calls in sorted(by_hour.items()) if 0 <= place < HOURS)
    return ServerUse(
        day.calls,
        f"{100 * share:.1f} %" if sent else "",
        share >= MANY_ERRORS,
        share,
        day.p95,
        in_milliseconds(day.p95) if day.p95 else "",
        day.last,
        bars,
        busiest,
    )


def _hour_bar(place: int, calls: int, busiest: int) -> HourBar:
    height = round(max(1.0, _HIGH * calls / busiest), 1)
    return HourBar(4 * place, round(20 - height, 1), height)


def _connection(known: ServerState, state: str) -> Connection:
    if not known.enabled:
        return "disabled"
    if not known.runs:
        return "stopped"
    match state:
        case "ready" | "error" | "starting":
            return state
        case _:
            return "connecting"
