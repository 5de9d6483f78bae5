"""Answers how many calls there were, over time and by what, from their counts and not from the records.

Rules kept here:
1. One answer is read in one transaction, from the finest slots of time that fit its bars, are kept for the span and the
   one before it, and are few enough. Fewer bars are told rather than that somebody waits.
2. The same question gets the same answer for a few seconds. Pages ask for it again and again.
"""

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar, cast

from mcpguard.domain.calls.counted_calls import ALL_CALLS, KEPT, CountFilter, Grain
from mcpguard.domain.calls.durations import quantile
from mcpguard.domain.calls.outcomes import OutcomeKind
from mcpguard.domain.calls.verdicts import Hold
from mcpguard.domain.clock import Clock
from mcpguard.domain.filters import BadFilter
from mcpguard.guard.audit.call_sums import (
    OPEN,
    OUTCOMES,
    VERDICTS,
    CallBar,
    CallSums,
    CountedCaller,
    CountedTool,
    CountedUpTo,
    DayOfServers,
    ServerDay,
    ServerHour,
    SpanNumbers,
    TookAbout,
)
from mcpguard.guard.audit.histogram import bar_width
from mcpguard.ledger.ledger import Ledger
from mcpguard.store.counts.count_rows import counted_until_record
from mcpguard.store.counts.count_sums import CountedSpan, first_slot, see_one_state
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.store import Store
from mcpguard.store.rows import records

T = TypeVar("T")
MOST_ROWS: Final = 50_000
"""Rows of a span that are added up while somebody waits; with more, longer slots are read."""
TOP: Final = 10
FRESH_SECONDS: Final = 5.0
MOST_KEPT: Final = 100
"""Answers that are kept at once."""
LONGEST_SPAN: Final = KEPT[Grain.DAY]
DAY_HOURS: Final = 24
LATELY: Final = 2 * Grain.HOUR


class SlotPlan(NamedTuple):
    """Which slots are read of a span, whose ends they share, and how wide bars are made of them. `compared`: whether
    such slots are kept of the span before it, too."""

    grain: Grain
    since: int
    until: int
    width: int
    compared: bool


@dataclass(frozen=True, slots=True)
class FreshAnswer:
    """An answer, and when it was read (monotonic seconds)."""

    at: float
    said: object


class CallNumbers:
    """Reads the counts of the chain that this guard writes."""

    def __init__(self, store: Store, ledger: Ledger, clock: Clock) -> None:
        self._store = store
        self._ledger = ledger
        self._clock = clock
        self._kept: dict[Hashable, FreshAnswer] = {}

    async def span(self, since: int, until: int, wanted: CountFilter = ALL_CALLS) -> SpanNumbers:
        """The calls that were opened from `since` on and before `until` (UTC, microseconds), and pass the filter.

        Raises BadFilter and StoreUnavailable.
        """
        plans = slot_plans(since, until, self._clock.now())
        look = partial(_numbers, chain=self._ledger.chain.id, plans=plans, wanted=wanted)
        return await self._fresh((plans, wanted), lambda: self._store.readers.run(look))

    async def servers(self) -> DayOfServers:
        """The calls of every server, by hour, in the hour that is not over and the 23 before it. Raises
        StoreUnavailable."""
        hour = self._clock.now() // Grain.HOUR * Grain.HOUR
        look = partial(_servers, chain=self._ledger.chain.id, hour=hour)
        return await self._fresh(hour, lambda: self._store.readers.run(look))

    async def _fresh(self, question: Hashable, read: Callable[[], Awaitable[T]]) -> T:
        now = self._clock.monotonic()
        kept = self._kept.get(question)
        if kept is not None and now - kept.at < FRESH_SECONDS:
            return cast("T", kept.said)
        said = await read()
        self._kept.pop(question, None)
        if len(self._kept) >= MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[question] = FreshAnswer(now, said)
        return said


def slot_plans(since: int, until: int, now: int) -> tuple[SlotPlan, ...]:
    """How to read a span, in the order in which it is tried. Raises BadFilter."""
    if until <= since:
        raise BadFilter("the span ends before it begins; give a `since` that is earlier than `until`")
    if until - since > LONGEST_SPAN:
        raise BadFilter(f"calls are counted for {LONGEST_SPAN // Grain.DAY} days; give a shorter span")
    kept = [grain for grain in Grain if 2 * since - until >= now - KEPT[grain]] or [Grain.DAY]
    fine = bar_width(until - since, Grain.MINUTE)
    # The coarsest that bars of this width can be made of, and then even coarser ones.
    best = max((grain for grain in kept if fine % grain == 0), default=kept[0])
    return tuple(_plan(grain, since, until, now) for grain in kept if grain >= best)


def _plan(grain: Grain, since: int, until: int, now: int) -> SlotPlan:
    first, end = since // grain * grain, -(-until // grain) * grain
    return SlotPlan(grain, first, end, bar_width(until - since, grain), 2 * since - until >= now - KEPT[grain])


def _numbers(connection: Connection, chain: str, plans: Sequence[SlotPlan], wanted: CountFilter) -> SpanNumbers:
    see_one_state(connection)
    for plan in plans:
        its = CountedSpan(connection, chain, plan.grain, (plan.since, plan.until), wanted)
        if plan is plans[-1] or not its.has_more_rows_than(MOST_ROWS):
            break
    before = CountedSpan(connection, chain, plan.grain, (2 * plan.since - plan.until, plan.since), wanted)
    length = plan.until - plan.since
    named = its.by_tool_and_caller()
    bars, durations = its.by_verdict(plan.width), its.durations(plan.width)
    return SpanNumbers(
        plan.since,
        plan.until,
        plan.width,
        _bars(plan, bars, durations),
        _sums(bars),
        _took(durations),
        _sums(before.by_verdict(length)) if plan.compared else None,
        _took(before.durations(length)) if plan.compared else None,
        _top(CountedTool, (((server, name), sums) for server, name, _, *sums in named if name)),
        _top(CountedCaller, (((caller,), sums) for _, _, caller, *sums in named if caller)),
        dict(map(tuple, its.by_reason())),
        sum(calls for _, name, caller, calls, *_ in named if not name and not caller),
        _counted(connection, chain),
    )


def _top(kind: Callable[..., T], rows: Iterable[tuple[tuple[str, ...], list[int]]]) -> tuple[T, ...]:
    """What was called or has called most, with calls, failed and refused ones."""
    sums = dict[tuple[str, ...], list[int]]()
    for key, its in rows:
        sums[key] = [one + more for one, more in zip(sums.get(key, [0, 0, 0]), its, strict=True)]
    most = sorted(sums.items(), key=lambda one: (-one[1][0], one[0]))[:TOP]
    return tuple(kind(*key, *its) for key, its in most)


def _servers(connection: Connection, chain: str, hour: int) -> DayOfServers:
    see_one_state(connection)
    since, until = hour - (DAY_HOURS - 1) * Grain.HOUR, hour + Grain.HOUR
    its = CountedSpan(connection, chain, Grain.HOUR, (since, until), ALL_CALLS)
    hours = defaultdict[str, list[ServerHour]](list)
    for server, *row in its.by_server():
        if server:  # else a call named no server that is known
            hours[server].append(ServerHour(*row))
    took = defaultdict[str, Counter[int]](Counter)
    for server, bucket, calls in its.durations_by_server():
        took[server][bucket] += calls
    lately = CountedSpan(connection, chain, Grain.MINUTE, (until - LATELY, until), ALL_CALLS)
    last = dict(map(tuple, lately.last_by_server()))
    servers = {
        server: ServerDay(
            tuple(sorted(its_hours, key=lambda one: one.at)),
            quantile(took[server], 0.95),
            last.get(server) or max(one.at for one in its_hours),
        )
        for server, its_hours in sorted(hours.items())
    }
    return DayOfServers(since, servers, _counted(connection, chain))


def _counted(connection: Connection, chain: str) -> CountedUpTo:
    last = records.last_record(connection, chain)
    behind = 0 if last is None else last[0] - counted_until_record(connection, chain)
    return CountedUpTo(first_slot(connection, chain), max(0, behind))


def _bars(plan: SlotPlan, calls: Iterable[Any], durations: Iterable[Any]) -> tuple[CallBar, ...]:
    by_bar, took_by_bar = defaultdict[int, list[Any]](list), defaultdict[int, list[Any]](list)
    for row in calls:
        by_bar[row[0]].append(row)
    for row in durations:
        took_by_bar[row[0]].append(row)
    drawn = range(plan.since // plan.width, -(-plan.until // plan.width))
    return tuple(CallBar(bar * plan.width, _sums(by_bar[bar]), _took(took_by_bar[bar])) for bar in drawn)


def _sums(rows: Iterable[Any]) -> CallSums:
    verdicts, outcomes = dict.fromkeys(VERDICTS, 0), dict.fromkeys(OUTCOMES, 0)
    for _, verdict, outcome, calls in rows:
        ended = outcome or (OutcomeKind.HELD.value if verdict == Hold.word else OPEN)
        if verdict in verdicts and ended in outcomes:  # else mcpguard did not write it
            verdicts[verdict] += calls
            outcomes[ended] += calls
    return CallSums(verdicts, outcomes)


def _took(rows: Iterable[Any]) -> TookAbout:
    buckets = Counter[int]()
    for _, bucket, calls in rows:
        buckets[bucket] += calls
    return TookAbout(quantile(buckets, 0.5), quantile(buckets, 0.95))
