"""What reading from a server over HTTP is charged with."""

import time

import pytest

from mcpguard.upstreams.process.fair_reading import FREE_READS, GO, ConnectionTurns, Work

pytestmark = pytest.mark.anyio


class Told(ConnectionTurns):
    """Turns that remember what was given back, and wait for nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.given_back: list[float] = []

    async def give_back(self, spent: float) -> None:
        self.given_back.append(spent)


async def read(work: Work, times: int) -> None:
    """So many reads, after each of which the thread is busy, with this connection or with another."""
    for _ in range(times):
        work.wait()
        work.come()
        until = time.thread_time() + 2 * GO
        while time.thread_time() < until:
            pass
        await work.give_way()


async def test_an_ordinary_answer_is_not_held_back_for_what_was_done_for_others() -> None:
    turns = Told()
    for _ in range(3):
        await read(Work(turns), FREE_READS - 1)
    assert turns.given_back == []


async def test_an_answer_without_an_end_gives_time_back() -> None:
    turns = Told()
    work = Work(turns)
    await read(work, FREE_READS + 10)
    assert len(turns.given_back) >= 10
