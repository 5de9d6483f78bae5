"""Waiting for servers at the start: for all that are expected, and for each only until it was tried once."""

import anyio
import pytest
from anyio import wait_all_tasks_blocked

from mcpguard.domain.connections import Condition, ConnectionState
from mcpguard.domain.news import Removed, Stood
from mcpguard.guard.intake import Intake
from mcpguard.guard.publish import Publisher

pytestmark = pytest.mark.anyio


async def test_whoever_waits_waits_for_servers_that_are_expected_later_too_and_no_longer() -> None:
    intake, waited = Intake(Publisher()), anyio.Event()

    async def wait() -> None:
        await intake.settled()
        waited.set()

    intake.expect({"first", "gone"})
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await wait_all_tasks_blocked()
        intake.expect({"second"})
        intake.take(Stood("first", Condition(ConnectionState.READY, 0)))
        intake.take(Removed("gone"))
        intake.take(Stood("second", Condition(ConnectionState.CONNECTING, 0)))
        await wait_all_tasks_blocked()
        assert not waited.is_set()
        intake.take(Stood("second", Condition(ConnectionState.ERROR, 0)))
        await wait_all_tasks_blocked()
        assert waited.is_set()
    await intake.settled()  # at once from here on
