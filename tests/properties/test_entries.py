"""Whatever happens inside an entry, and whatever the store does meanwhile: one opening, one closing, and they are true.

Calls of every kind run side by side: allowed, denied, held; their work returns, refuses, claims what cannot be, raises,
is cancelled; and between any two steps the database may begin to refuse writes, for real.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcpguard.domain.calls.bodies import KeptBody
from mcpguard.domain.calls.outcomes import Executed, Outcome, OutcomeKind
from mcpguard.domain.calls.verdicts import Allow, Deny, Hold, Verdict
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.errors import EntryMisused, StoreUnavailable
from mcpguard.domain.reasons import Reason
from mcpguard.ledger.entries import Entry, unconditionally
from tests.recording import record
from tests.tiers import examples
from tests.world import World, world

VERDICTS: list[Verdict] = [Allow(), Allow(), Deny(Reason.SCOPE_EFFECT), Hold(Reason.HOLD_WAITING)]
RAISED: dict[str, type[BaseException]] = {"error": ZeroDivisionError, "interrupt": KeyboardInterrupt}
ENDS: list[Outcome | str] = [
    Outcome.answer(KeptBody(b"reply")),
    Outcome.failure(),
    Outcome.refusal(Reason.SERVER_UNREACHABLE),
    Outcome.hold(Reason.HOLD_WAITING),
    Outcome.unknown(Reason.REPLY_TIMEOUT),
    *RAISED,
    "cancel",
]
STEPS = ["permit", "release", "deny", "pause", "break"]


@dataclass
class Play:
    """One call as it will go, and what was seen of it."""

    verdict: Verdict
    effect: Effect
    steps: list[str]
    end: Outcome | str
    entry: str = ""
    permitted: bool = False
    told: Outcome | None = None
    raised: list[str] = field(default_factory=list)


plays = st.builds(
    Play,
    st.sampled_from(VERDICTS),
    st.sampled_from(Effect),
    st.lists(st.sampled_from(STEPS), max_size=4),
    st.sampled_from(ENDS),
)


@settings(max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(plays, min_size=1, max_size=6))
def test_one_opening_and_one_closing_and_they_are_true(calls: list[Play]) -> None:
    with TemporaryDirectory() as folder:
        anyio.run(act, Path(folder), calls)


async def act(folder: Path, calls: list[Play]) -> None:
    async with world(folder) as guard:
        async with anyio.create_task_group() as tasks:
            for call in calls:
                tasks.start_soon(perform, guard, call)
        if not guard.now.guard.readiness().ready:
            await guard.recovered()
        await guard.clock.advance(2)
        await guard.settle()
        judge(guard, calls)


async def perform(guard: World, call: Play) -> None:
    opening = guard.opening(call.verdict, call.effect)
    call.entry = opening.entry
    with anyio.CancelScope() as scope:
        try:
            call.told = await record(guard.now.ledger, opening, work_of(guard, call, scope))
        except tuple(RAISED.values()) as error:
            call.raised.append(type(error).__name__)


def work_of(guard: World, call: Play, scope: anyio.CancelScope) -> Callable[[Entry], Awaitable[Outcome]]:
    async def work(entry: Entry) -> Outcome:
        for name in call.steps:
            with suppress(EntryMisused):
                await step(guard, call, entry, name)
        if isinstance(call.end, Outcome):
            return call.end
        if call.end in RAISED:
            raise RAISED[call.end]
        scope.cancel()
        await anyio.sleep_forever()
        raise AssertionError

    return work


async def step(guard: World, call: Play, entry: Entry, name: str) -> None:
    match name:
        case "permit":
            entry.permit()
            assert stored_verdicts(guard, entry.id) == ["allow"], "a permit without a stored verdict"
            call.permitted = True
        case "release":
            await entry.release(Allow(), unconditionally)
        case "deny":
            await entry.release(Deny(Reason.HOLD_DENIED), unconditionally)
        case "break":
            with suppress(StoreUnavailable):
                await guard.now.store.writer.submit(lambda c: c.exec_driver_sql("PRAGMA query_only=ON").close())
        case _:
            await anyio.lowlevel.checkpoint()


def stored_verdicts(guard: World, entry: str) -> list[object]:
    return [record["verdict"] for record in guard.said() if record.get("entry") == entry and "verdict" in record][-1:]


def judge(guard: World, calls: list[Play]) -> None:
    records = guard.said()
    kinds = Counter((record["entry"], record["kind"]) for record in records if "entry" in record)
    closings = {record["entry"]: record for record in records if record["kind"] == "closed"}
    for call in calls:
        opened, closed = kinds[call.entry, "opened"], kinds[call.entry, "closed"]
        assert opened == closed, call
        assert opened <= 1
        if opened == 0:
            assert not call.permitted
            assert call.told == Outcome.refusal(Reason.LEDGER_UNAVAILABLE)
            continue
        closing = closings[call.entry]
        if not call.permitted:
            assert closing["executed"] != "yes", call
        if closing["outcome"] in ("refused", "held"):
            assert not call.permitted, call
            assert closing["executed"] == "no"
        if call.told is not None:
            assert call.told.kind == closing["outcome"], call
            assert call.told.executed == closing["executed"]
            unrecorded = {Reason.LEDGER_UNAVAILABLE, Reason.LEDGER_OUTCOME_UNRECORDED}
            assert call.told.reason in unrecorded or (call.told.reason or None) == closing.get("reason")
        elif call.raised:
            assert closing["reason"] == "guard:error"
        else:
            assert closing["outcome"] == OutcomeKind.CANCELLED
            assert closing["executed"] == (Executed.UNKNOWN if call.permitted else Executed.NO)
    report = guard.verified()
    assert report.whole, report.chains[0].problems
    assert report.chains[0].open_entries == set()
    assert guard.now.ledger.open_entries == 0
