"""A server over HTTP that never stops talking: what it says has an end for us, and everybody else gets their time."""

from collections.abc import Awaitable, Callable

import anyio
import pytest
from anyio.lowlevel import checkpoint

from mcpguard.upstreams.exchange.conversation import Bounds
from mcpguard.upstreams.exchange.endings import NoUsableAnswer
from tests.upstreams.floods import AS_EVENTS, FLOODS, without_end
from tests.upstreams.played import Asked, played
from tests.upstreams.talking import modern

pytestmark = pytest.mark.anyio

SMALL = Bounds(message_bytes=16_384)
CALLS = 20
EACH = 500_000


@pytest.mark.parametrize("flood", FLOODS)
async def test_what_has_no_end_is_left(flood: Callable[[Asked], Awaitable[None]]) -> None:
    """The server hears that the connection is closed, and the next request is answered."""
    async with played() as server, modern(server, bounds=SMALL) as talk:
        talk.asking("tools/call")
        await flood(await server.next("tools/call"))
        assert isinstance(await talk.outcome(), NoUsableAnswer)
        talk.asking("tools/list")
        await (await server.next("tools/list")).result(tools=[])
        assert await talk.outcome() == {"tools": []}


async def test_a_call_that_is_over_reads_nothing_of_what_is_left() -> None:
    async with played() as server, modern(server) as talk:
        with anyio.CancelScope() as call:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(talk.ask, "tools/call")
                asked = await server.next("tools/call")
                await asked.head(200, AS_EVENTS)
                await asked.raw(b":\n" * 10_000)
                call.cancel()
        await without_end(asked, b":\n" * 10_000)
        assert talk.outcomes == []


async def test_others_get_their_turns_however_many_connections_are_full_of_comments() -> None:
    """Others have more turns than there are pieces of 64 KB to be read, also while all connections have something."""
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await checkpoint()

    async def talkative(asked: Asked) -> None:
        await asked.head(200, AS_EVENTS, "Connection: close")
        await asked.raw(b":\n" * (EACH // 2))
        await asked.raw(b'data: {"jsonrpc":"2.0","id":%d,"result":{}}\n\n' % asked.message["id"])

    async with played() as server, modern(server) as talk, anyio.create_task_group() as tasks:
        for _ in range(CALLS):
            talk.asking("tools/call")
        asked = [await server.next("tools/call") for _ in range(CALLS)]
        tasks.start_soon(other)
        for each in asked:
            tasks.start_soon(talkative, each)
        assert [await talk.outcome() for _ in asked] == [{}] * CALLS
        tasks.cancel_scope.cancel()
    assert turns > CALLS * EACH / 65_536
