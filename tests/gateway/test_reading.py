"""A message that takes long to read holds up whoever sent it, and nobody else."""

import threading
from pathlib import Path

import anyio
import pytest

from mcpguard.codec.messages import BadMessage, Message, Request
from mcpguard.gateway.reading import LARGE, Reader
from mcpguard.settings.limits import Limits
from tests.gateway.speaking import guarded, nothing_happens
from tests.gateway.wires import mirrored, modern, post
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio


def message(size: int) -> bytes:
    return b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"' + b"x" * size + b'"}}'


class Watched(Reader):
    """Says where each message was read."""

    def __init__(self) -> None:
        super().__init__(Limits())
        self.threads: list[bool] = []
        reading = self._read

        def watched(data: bytes) -> Message:
            self.threads.append(threading.current_thread() is not threading.main_thread())
            return reading(data)

        self._read = watched  # type: ignore[assignment]


async def test_what_may_take_long_is_read_in_a_thread() -> None:
    reader = Watched()
    for size, apart in ((10, False), (LARGE - 100, False), (LARGE, True), (10 * LARGE, True)):
        assert isinstance(await reader.read(message(size)), Request)
        assert reader.threads[-1] is apart
    with pytest.raises(BadMessage):
        await reader.read(message(10 * LARGE)[:-1])


async def test_small_messages_do_not_wait_for_large_ones() -> None:
    reader = Reader(Limits())
    order: list[str] = []

    async def read(name: str, data: bytes) -> None:
        await reader.read(data)
        order.append(name)

    async with anyio.create_task_group() as tasks:
        for number in range(3):
            tasks.start_soon(read, f"large {number}", message(20 * LARGE))
        tasks.start_soon(read, "small", message(10))
    assert order == ["small", "large 0", "large 1", "large 2"]


async def test_parameters_that_are_wrong_in_every_place_are_refused_in_few_words(tmp_path: Path) -> None:
    script = Script()
    arguments = {str(number): number for number in range(100_000)}
    call = modern("prompts/get", {"name": "web::greet", "arguments": arguments})
    async with guarded(tmp_path, script) as guard:
        with nothing_happens(guard, script):
            status, answer = await post(guard, call, mirrored(call))
        assert (status, answer["error"]["code"]) == (400, -32602)
        assert answer["error"]["message"] == "the parameters are not those of prompts/get: most of them"


async def test_what_a_client_calls_itself_is_cut_before_anybody_looks_at_it(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        client = guard.client()
        client.info = {"name": "\u202e" * 200_000, "version": "1"}
        client.meta = {"traceparent": "\u202e" * 200_000}
        assert (await client.call("web::echo", {})).status == 200
        (entry,) = guard.entries()
        assert len(entry["client"]) <= 100
        assert len(entry["trace"]) <= 100
        assert "\u202e" not in entry["client"] + entry["trace"]
