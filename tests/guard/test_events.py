"""How long each part of a call took, and who took it."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.guard.traffic.events import OF_OTHERS, CallCourse, CallEvents, CallStage, EndedCall
from mcpguard.ledger.entries import unconditionally
from tests.clock import FakeClock
from tests.world import World

pytestmark = pytest.mark.anyio


@given(st.lists(st.tuples(st.sampled_from(CallStage), st.integers(0, 50)), max_size=12), st.integers(0, 50))
def test_the_parts_are_the_whole_and_the_rest_is_the_guards_own(steps: list[tuple[CallStage, int]], last: int) -> None:
    clock, told = FakeClock(), list[EndedCall]()
    events = CallEvents(clock)
    events.subscribe(told.append)
    course = CallCourse(clock, "")
    spent = dict.fromkeys(CallStage, 0)
    now = CallStage.JUDGING
    for stage, seconds in [*steps, (None, last)]:
        clock._elapsed += seconds
        spent[now] += seconds
        if stage is not None:
            course.enter(stage)
            now = stage
    events.publish_end(course, None, None, Outcome.answer())  # type: ignore[arg-type]
    (ended,) = told
    assert ended.took == sum(spent.values())
    assert ended.own == sum(seconds for stage, seconds in spent.items() if stage not in OF_OTHERS)
    parts = list(ended.parts())
    for stage in CallStage:
        assert sum(part.ended - part.began for part in parts if part.stage is stage) == spent[stage]
    assert all(one.ended == other.began for one, other in pairwise(parts))


async def test_an_entry_says_how_it_ended_when_its_block_breaks(guard: World) -> None:
    """Through the ledger alone: whoever opened the entry tells the listeners what it says."""
    entry = guard.now.ledger.open(guard.opening(), unconditionally)
    with pytest.raises(RuntimeError):
        async with entry:
            raise RuntimeError
    assert entry.ended
    assert (entry.outcome.kind, entry.outcome.reason) == ("refused", "guard:error")
    assert [each["outcome"] for each in guard.said() if each["kind"] == "closed"] == ["refused"]
