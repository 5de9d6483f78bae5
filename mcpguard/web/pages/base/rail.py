"""The rail beside every page: its places, what needs review there, and the state of the audit log."""

from dataclasses import dataclass
from typing import Final

from mcpguard.domain.people import Principal, Right
from mcpguard.guard.guard import Guard


@dataclass(frozen=True, slots=True)
class RailPlace:
    """A place in the rail. `urgent` says that something there expires."""

    word: str
    name: str
    path: str
    right: Right = Right.LOOK
    gap: bool = False
    urgent: bool = False
    count: int = 0


@dataclass(frozen=True, slots=True)
class ChainState:
    """The state of the audit log, in a word and a short sentence."""

    word: str
    said: str
    at: int | None
    broken: bool = False


PLACES: Final = (
    RailPlace("overview", "Overview", "/overview", Right.AUDIT),
    RailPlace("inbox", "Inbox", "/"),
    RailPlace("held", "Held calls", "/held", Right.AUDIT, urgent=True),
    RailPlace("servers", "Servers", "/servers", gap=True),
    RailPlace("findings", "Findings", "/findings"),
    RailPlace("audit", "Audit log", "/audit", Right.AUDIT),
    RailPlace("callers", "Agents", "/callers", Right.AUDIT, gap=True),
    RailPlace("policy", "Policy", "/policy", Right.AUDIT),
    RailPlace("search", "Search", "/search"),
    RailPlace("settings", "Settings", "/settings"),
)


def rail(guard: Guard, me: Principal) -> tuple[RailPlace, ...]:
    """Return the places that a reader may go to, with their counts."""
    counts = rail_counts(guard, me)
    return tuple(
        RailPlace(each.word, each.name, each.path, each.right, each.gap, each.urgent, counts.get(each.word, 0))
        for each in PLACES
        if me.may(each.right)
    )


def rail_counts(guard: Guard, me: Principal) -> dict[str, int]:
    """Return the counts in the rail, of what the reader may see."""
    servers = guard.inbox.tally()
    held = guard.held.waiting if me.may(Right.AUDIT) else 0
    counts = {"inbox": servers.waiting + held, "servers": servers.all, "findings": servers.findings}
    if me.may(Right.AUDIT):
        counts |= {"held": held, "callers": guard.granting.count}
    return counts


def chain(guard: Guard) -> ChainState:
    """Return the state of the audit log."""
    if not guard.readiness().ready:
        return ChainState("Audit log: not recording", "Calls are blocked", None)
    depth, last = guard.depth(), guard.verifying.last
    if last is not None and last.finished:
        if last.whole:
            return ChainState("Audit log: verified", f"Verified up to record {last.to:,}", last.ended_at)
        where = f"Broken at record {last.first.seq:,}, detected" if last.first else "The log cannot be read, detected"
        return ChainState("Audit log: FAILED", where, last.ended_at, broken=True)
    if depth.signed_at is None:
        return ChainState("Audit log: recording", f"{depth.records:,} records, none signed yet", None)
    return ChainState(
        "Audit log: recording", f"{depth.records:,} records, signed up to {depth.signed_to:,}", depth.signed_at
    )
