"""The numbers of calls are those of the log, over any span, in bars of which each call is in one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.calls.counted_calls import KEPT, CountFilter, Grain
from mcpguard.domain.calls.outcomes import Outcome, OutcomeKind
from mcpguard.domain.calls.verdicts import Deny, Hold
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.filters import BadFilter
from mcpguard.domain.reasons import Reason
from mcpguard.guard.audit.call_counter import CallCounter
from mcpguard.guard.audit.call_numbers import FRESH_SECONDS, slot_plans
from mcpguard.guard.audit.call_sums import SpanNumbers
from mcpguard.ledger.entries import unconditionally
from tests.clock import START
from tests.world import World

pytestmark = pytest.mark.anyio
YEARS = 2 * 365 * Grain.DAY


async def counted(guard: World) -> None:
    """Have everything counted that is recorded."""
    await CallCounter(guard.now.store, guard.now.ledger, guard.clock).catch_up()


async def day(guard: World, wanted: CountFilter | None = None) -> SpanNumbers:
    now = guard.clock.now()
    return await guard.now.guard.call_numbers.span(now - Grain.DAY, now, wanted or CountFilter())


async def mixed(guard: World) -> None:
    """Three that are answered, one that fails, one that is denied, one that no server has, one that is held."""
    for _ in range(3):
        await guard.call()
    await guard.call(outcome=Outcome.failure())
    await guard.call(guard.opening(Deny(Reason.SCOPE_EFFECT), Effect.WRITE))
    await guard.call(guard.opening(Deny(Reason.CAPABILITY_UNKNOWN), None))
    await guard.now.ledger.open(guard.opening(Hold(Reason.HOLD_WAITING)), unconditionally).__aenter__()


async def test_a_day_is_told_by_verdict_outcome_tool_caller_and_reason(guard: World) -> None:
    await mixed(guard)
    await counted(guard)
    found = await day(guard)
    assert found.sums.verdicts == {"allow": 4, "hold": 1, "deny": 2}
    ended = {"answered": 3, "failed": 1, "refused": 2, "held": 1}
    assert found.sums.outcomes == dict.fromkeys([*OutcomeKind, "open"], 0) | ended
    assert (found.sums.calls, found.sums.failed, found.unnamed) == (7, 1, 0)
    assert [(one.server, one.name, one.calls, one.failed, one.refused) for one in found.tools] == [
        ("files", "read_file", 6, 1, 1)
    ]
    assert [(one.caller, one.calls, one.failed, one.refused) for one in found.callers] == [("caller-1", 7, 1, 2)]
    assert found.refused == {"capability:unknown": 1, "scope:effect": 1}
    assert (found.before and found.before.calls, found.counted.behind) == (0, 0)
    assert found.took.p50 is not None
    assert found.took.p95 is not None


async def test_every_call_is_in_one_bar(guard: World) -> None:
    for _ in range(30):
        await guard.call()
        guard.clock.jump(2400)
    await counted(guard)
    found = await day(guard)
    assert len({bar.at for bar in found.bars}) == len(found.bars) >= 36
    assert [bar.at for bar in found.bars] == [found.bars[0].at + at * found.width for at in range(len(found.bars))]
    assert sum(bar.sums.calls for bar in found.bars) == found.sums.calls == 30


async def test_a_filter_leaves_the_rest_out(guard: World) -> None:
    await mixed(guard)
    await counted(guard)
    numbers = {
        CountFilter(server="files"): 6,
        CountFilter(server="mail"): 0,
        CountFilter(name="read_file"): 6,
        CountFilter(caller="caller-1"): 7,
        CountFilter(server="files", name="read_file", caller="caller-1", effect="write"): 1,
        CountFilter(verdict="hold"): 1,
        CountFilter(outcome="failed"): 1,
        CountFilter(reason="scope:effect"): 1,
    }
    for wanted, calls in numbers.items():
        found = await day(guard, wanted)
        assert found.sums.calls == calls, wanted
        assert (found.took.p50 is None) == (calls == 0 or bool(wanted.verdict or wanted.outcome or wanted.reason)) or (
            wanted.effect is not None
        ), wanted


async def test_the_day_before_is_told_too(guard: World) -> None:
    await guard.call()
    guard.clock.jump(25 * 3600)
    await guard.call()
    await guard.call()
    await counted(guard)
    found = await day(guard)
    assert found.before is not None
    assert (found.sums.calls, found.before.calls) == (2, 1)


async def test_what_is_not_counted_yet_is_said(guard: World) -> None:
    assert (await day(guard)).counted.since is None
    await guard.call()
    await counted(guard)
    await guard.call()
    guard.clock.jump(Grain.MINUTE / 1e6)
    found = await day(guard)
    assert (found.sums.calls, found.counted.behind) == (1, 2)
    assert found.counted.since is not None
    assert found.counted.since <= START


async def test_the_same_question_gets_the_same_answer_for_a_moment(guard: World) -> None:
    first = await day(guard)
    await guard.call()
    await counted(guard)
    assert await day(guard) is first
    guard.clock.jump(FRESH_SECONDS)
    assert (await day(guard)).sums.calls == 1


async def test_every_server_is_told_by_hour(guard: World) -> None:
    await mixed(guard)
    guard.clock.jump(3 * 3600)
    await guard.call()
    await counted(guard)
    found = await guard.now.guard.call_numbers.servers()
    assert {*found.servers} == {"files"}, "none is told of which it is not known whether it exists"
    files = found.servers["files"]
    assert [hour.calls for hour in files.hours] == [6, 1]
    assert [hour.at for hour in files.hours] == [START // Grain.HOUR * Grain.HOUR, files.hours[0].at + 3 * Grain.HOUR]
    assert (files.calls, files.failed, files.refused) == (7, 1, 1)
    assert files.p95 is not None
    assert files.last == guard.clock.now() // Grain.MINUTE * Grain.MINUTE


@given(length=st.integers(1, YEARS), ago=st.integers(0, YEARS))
def test_bars_are_few_and_made_of_whole_slots_that_are_kept(length: int, ago: int) -> None:
    until = START - ago
    plans = slot_plans(until - length, until, START)
    assert [plan.grain for plan in plans] == sorted({plan.grain for plan in plans})
    for plan in plans:
        assert plan.since <= until - length < until <= plan.until
        assert plan.width % plan.grain == plan.since % plan.grain == plan.until % plan.grain == 0
        assert (plan.until - plan.since) // plan.width <= 62
        assert plan.compared == (START - (until - 2 * length) <= KEPT[plan.grain])


def test_an_hour_a_day_and_a_week_have_enough_bars_and_can_be_compared() -> None:
    for length, grain, bars in (
        (Grain.HOUR, Grain.MINUTE, 60),
        (Grain.DAY, Grain.MINUTE, 48),
        (7 * Grain.DAY, Grain.HOUR, 56),
    ):
        plan = slot_plans(START - length, START, START)[0]
        assert (plan.grain, length // plan.width, plan.compared) == (grain, bars, True)


def test_a_span_that_cannot_be_counted_is_refused() -> None:
    for since, until, sentence in ((2, 1, "ends before it begins"), (0, 3 * YEARS, "shorter span")):
        with pytest.raises(BadFilter, match=sentence):
            slot_plans(since, until, START)
