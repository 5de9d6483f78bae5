"""Messages on their way to a client that may be slow: nobody waits for it, and what waits is bounded."""

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.gateway.outbox import MOST, MOST_BYTES, Outbox

pytestmark = pytest.mark.anyio


async def test_what_was_said_comes_in_its_order() -> None:
    outbox = Outbox()
    outbox.put(b"1")
    outbox.add(b"2")
    outbox.put(b"3")
    await outbox.wait()
    assert outbox.take() == b"123"
    assert outbox.take() == b""


async def test_news_is_dropped_oldest_first_and_answers_never() -> None:
    outbox = Outbox()
    outbox.add(b"<first>")
    for number in range(MOST + 10):
        outbox.put(b"%d," % number)
    outbox.add(b"<last>")
    assert outbox.dropped == 10
    said = outbox.take()
    assert said.startswith(b"<first>10,11,")
    assert said.endswith(b"%d,<last>" % (MOST + 9))


sizes = st.sampled_from([0, 1, 100, MOST_BYTES // 2, MOST_BYTES, 2 * MOST_BYTES])


@given(st.lists(sizes, max_size=400))
async def test_news_never_takes_more_room_than_there_is(said: list[int]) -> None:
    """Whatever the sizes are: one message may be larger than the room, two may not."""
    outbox = Outbox()
    for size in said:
        outbox.put(bytes(size))
        waiting = [len(message) for message, _ in outbox._messages]
        assert len(waiting) <= MOST
        assert sum(waiting) <= max(MOST_BYTES, size)
        assert waiting[-1] == size, "the newest is there"


async def test_small_news_makes_no_room_for_large_news() -> None:
    outbox = Outbox()
    for _ in range(MOST - 1):
        outbox.put(b"small")
    for _ in range(MOST - 1):
        outbox.put(bytes(MOST_BYTES))
    assert len(outbox.take()) == MOST_BYTES


async def test_answers_are_waited_with_and_news_does_not_count() -> None:
    outbox = Outbox()
    outbox.add(bytes(MOST_BYTES + 1))
    outbox.put(b"news")
    with anyio.move_on_after(0) as waited:
        await outbox.room()
    assert waited.cancelled_caught
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(outbox.room)
        await anyio.wait_all_tasks_blocked()
        outbox.take()
    assert outbox.dropped == 0


async def test_after_the_end_nothing_more_is_taken_and_nobody_waits() -> None:
    outbox = Outbox()
    outbox.add(bytes(MOST_BYTES + 1))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(outbox.room)
        await anyio.wait_all_tasks_blocked()
        outbox.close()
    outbox.put(b"more")
    outbox.add(b"more")
    assert outbox.closed
    assert len(outbox.take()) == MOST_BYTES + 1
    await outbox.wait()
    await outbox.room()
