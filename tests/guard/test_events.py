"""How long each part of a call took, and who took it."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.guard.traffic.events import OF_OTHERS, CallEvents, CallStage, EndedCall
from mcpguard.ledger.entries import unconditionally
from tests.clock import FakeClock
from tests.world import World

pytestmark = pytest.mark.anyio


@given(st.lists(st.tuples(st.sampled_from(CallStage), st.integers(0, 50)), max_size=12), st.integers(0, 50))
def test_the_parts_are_the_whole_and_the_rest_is_the_guards_own(steps: list[tuple[CallStage, int]], last: int) -> None:
    clock, told = FakeClock(), list[EndedCall]()
    events = CallEvents(clock)
    events.subscribe(told.append)
    course = events.begin_course("")
    spent = dict.fromkeys(CallStage, 0)
    now = CallStage.JUDGING
    for stage, seconds in [*steps, (None, last)]:
        clock._elapsed += seconds
        spent[now] += seconds
        if stage is not None:
            course.enter(stage)
            now = stage
    events.publish_end(course, None, "", Outcome.answer())  # type: ignore[arg-type]
    (ended,) = told
    assert ended.took == sum(spent.values())
    assert ended.own == sum(seconds for stage, seconds in spent.items() if stage not in OF_OTHERS)
    parts = list(ended.parts())
    for stage in CallStage:
        assert sum(part.ended - part.began for part in parts if part.stage is stage) == spent[stage]
    assert all(one.ended == other.began for one, other in pairwise(parts))


async def test_a_call_that_the_ledger_refuses_is_told_too(guard: World) -> None:
    """Through the ledger alone, which says to whoever made a call how it ended when its work breaks."""
    told: list[Outcome] = []

    async def breaks(_: object) -> Outcome:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await guard.now.ledger.record(guard.opening(), breaks, unconditionally, broken=told.append)
    assert [(each.kind, each.reason) for each in told] == [("refused", "guard:error")]
    assert [each["outcome"] for each in guard.said() if each["kind"] == "closed"] == ["refused"]
