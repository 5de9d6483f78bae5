"""Waiting for servers at the start: for all that are expected, and for each only until it was tried once."""

import anyio
import pytest
from anyio import wait_all_tasks_blocked

from mcpguard.guard.servers.startup_wait import StartupWait
from tests.clock import FakeClock

pytestmark = pytest.mark.anyio


async def test_whoever_waits_waits_for_servers_that_are_expected_later_too_and_no_longer() -> None:
    settling, waited = StartupWait(FakeClock(), 1000), anyio.Event()

    async def wait() -> None:
        await settling.wait()
        waited.set()

    settling.expect({"first", "gone"})
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await wait_all_tasks_blocked()
        settling.expect({"second"})
        settling.note_tried("first")
        settling.note_tried("gone")
        settling.note_tried("nobody")
        await wait_all_tasks_blocked()
        assert not waited.is_set()
        settling.note_tried("second")
        await wait_all_tasks_blocked()
        assert waited.is_set()
    await settling.wait()  # at once from here on
    assert settling.is_over


async def test_nobody_waits_once_the_time_is_over_whatever_is_still_untried() -> None:
    clock = FakeClock()
    settling = StartupWait(clock, 5)
    settling.expect({"never"})
    seen = [settling.is_over]
    await clock.advance(5)
    seen.append(settling.is_over)
    assert seen == [False, True]
    await settling.wait()  # at once, although nothing was tried
