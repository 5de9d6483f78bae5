"""A message that takes long to read holds up the server that sent it, and no other."""

import anyio
import pytest

from mcpguard.codec.messages import BadMessage, Result
from mcpguard.upstreams.exchange.conversation import Bounds
from mcpguard.upstreams.exchange.message_reader import LARGE, ServerMessageReader

pytestmark = pytest.mark.anyio
SMALL = b'{"jsonrpc":"2.0","id":1,"result":{}}'


def hostile(size: int) -> bytes:
    """Of the messages of so many bytes one that takes longest."""
    return b'{"jsonrpc":"2.0","id":1,"result":{"content":[' + b",".join([b"{}"] * (size // 3)) + b"]}}"


async def test_another_server_is_understood_meanwhile() -> None:
    order: list[str] = []

    async def read(name: str, reader: ServerMessageReader, data: bytes) -> None:
        assert isinstance(await reader.read(data), Result)
        order.append(name)

    one, other = ServerMessageReader(Bounds()), ServerMessageReader(Bounds())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read, "first", one, hostile(10 * LARGE))
        tasks.start_soon(read, "second", one, hostile(2 * LARGE))
        tasks.start_soon(read, "other", other, SMALL)
    assert order == ["other", "first", "second"]


async def test_what_cannot_be_understood_is_that_in_a_thread_too() -> None:
    with pytest.raises(BadMessage):
        await ServerMessageReader(Bounds()).read(hostile(2 * LARGE)[:-1])


async def test_nobody_waits_for_what_nobody_wants_any_more() -> None:
    reader, read = ServerMessageReader(Bounds()), anyio.Event()

    async def unwanted() -> None:
        await reader.read(hostile(20 * LARGE))
        read.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(unwanted)
        await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    assert not read.is_set()
    assert isinstance(await reader.read(SMALL), Result)
