"""Reading from one who never stops talking leaves the others their turns."""

import os
from collections.abc import Iterator
from typing import BinaryIO

import anyio
import pytest
from anyio.lowlevel import checkpoint

from mcpguard.upstreams.process.child import PipeClosed
from mcpguard.upstreams.process.fair_reading import Share

pytestmark = pytest.mark.anyio
PLENTY = 1_000_000


@pytest.fixture
def endless() -> Iterator[int]:
    """Always has more, so reading it never waits."""
    descriptor = os.open("/dev/zero", os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


@pytest.fixture
def pipe() -> Iterator[tuple[int, BinaryIO]]:
    """The end to read from, and the one to write to."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    with os.fdopen(read, "rb", 0), os.fdopen(write, "wb", 0) as target:
        yield read, target


async def test_however_much_there_is_to_read_others_get_their_turns(endless: int) -> None:
    turns = reads = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await checkpoint()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other)
        share = Share()
        while turns < 100 and reads < PLENTY:
            reads += 1
            assert len(await share.read(endless, 4096)) == 4096
        tasks.cancel_scope.cancel()
    assert turns >= 100


async def test_what_comes_is_read_as_it_comes(pipe: tuple[int, BinaryIO]) -> None:
    source, target = pipe
    share = Share()
    target.write(b"there")
    assert await share.read(source, 100) == b"there"
    async with anyio.create_task_group() as tasks:

        async def later() -> None:
            await anyio.wait_all_tasks_blocked()
            target.write(b"later")

        tasks.start_soon(later)
        assert await share.read(source, 100) == b"later"


async def test_the_end_is_the_end(pipe: tuple[int, BinaryIO]) -> None:
    source, target = pipe
    target.close()
    with pytest.raises(PipeClosed):
        await Share().read(source, 100)
