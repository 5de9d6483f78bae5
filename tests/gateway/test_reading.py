"""A message that takes long to read holds up whoever sent it, and nobody else."""

import gc
import threading
import tracemalloc
from pathlib import Path

import anyio
import pytest

from mcpguard.codec.messages import BadMessage, Message, Request
from mcpguard.gateway.message_reader import LARGE, AgentMessageReader
from mcpguard.settings.guard_groups import LimitSettings
from tests.gateway.holding import until
from tests.gateway.speaking import (
    OTHER_TOKEN,
    TOKEN,
    guarded,
    nothing_happens,
    speaking,
    turned_away,
    two_callers,
)
from tests.gateway.wires import mirrored, modern, post, wire
from tests.simulators.client import Reply
from tests.simulators.script import Script
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
PLACES: Json = {"limits__connections": 20, "limits__caller_share": 0.25}
SHARE = 5


def message(size: int) -> bytes:
    return b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"' + b"x" * size + b'"}}'


class Watched(AgentMessageReader):
    """Says where each message was read."""

    def __init__(self) -> None:
        super().__init__(LimitSettings())
        self.threads: list[bool] = []
        reading = self.read_small

        def watched(data: bytes | bytearray) -> Message:
            self.threads.append(threading.current_thread() is not threading.main_thread())
            return reading(data)

        self.read_small = watched


async def test_what_may_take_long_is_read_in_a_thread() -> None:
    reader = Watched()
    for size, apart in ((10, False), (LARGE - 100, False), (LARGE, True), (10 * LARGE, True)):
        assert isinstance(await reader.read(message(size)), Request)
        assert reader.threads[-1] is apart
    with pytest.raises(BadMessage):
        await reader.read(message(10 * LARGE)[:-1])


async def test_small_messages_do_not_wait_for_large_ones() -> None:
    reader = AgentMessageReader(LimitSettings())
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
    arguments = {str(number): number for number in range(50_000)}
    call = modern("prompts/get", {"name": "web::greet", "arguments": arguments})
    async with guarded(tmp_path, script) as guard:
        with nothing_happens(guard, script):
            status, answer = await post(guard, call, mirrored(call))
        assert (status, answer["error"]["code"]) == (400, -32602)
        assert answer["error"]["message"] == "invalid parameters for prompts/get: most of them"


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


@pytest.mark.parametrize("how", ["http modern", "http legacy"])
async def test_what_holds_more_values_than_one_may_is_refused(how: str, tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script, limits__values=1000) as guard, speaking(guard, how) as client:
        assert (await client.call("web::echo", {"x": [1] * 900})).result["structuredContent"] == {"x": [1] * 900}
        with nothing_happens(guard, script):
            answer = await client.call("web::echo", {"x": [{}] * 1000})
        assert answer.error["code"] == -32700
        assert answer.error["message"].endswith("more than 1000 values")
        assert await turned_away(guard) == {("network", "message"): 1}


async def test_nothing_is_kept_of_what_was_refused() -> None:
    """Not until the collector comes, which may be long."""
    reader = AgentMessageReader(LimitSettings())
    wrong = bytearray(message(3 * 1024 * 1024)[:-1])
    gc.disable()
    tracemalloc.start()
    try:
        for _ in range(5):
            with pytest.raises(BadMessage):
                await reader.read(bytes(wrong))
        assert tracemalloc.get_traced_memory()[0] < 2 * len(wrong), "no more than the last one"
    finally:
        tracemalloc.stop()
        gc.enable()


async def test_large_bodies_of_one_caller_are_few_at_once_and_keep_no_other_waiting(tmp_path: Path) -> None:
    async with (
        guarded(tmp_path, Script(), callers=two_callers(), **PLACES) as guard,
        anyio.create_task_group() as tasks,
    ):
        answers = list[Reply]()

        async def large(token: str) -> None:
            answers.append(await guard.client(token=token).call("web::echo", {"x": "x" * 3 * LARGE}))

        async def unfinished(token: str, until: anyio.Event) -> None:
            async with wire(guard) as connection:
                head = connection.head(10 * LARGE, {"authorization": f"Bearer {token}"})
                await connection.send(head + b"x" * 2 * LARGE)
                await until.wait()

        def waiting() -> int:
            of = guard.where.door._reader._of.get(f"caller-{TOKEN}")
            return 0 if of is None else of.borrowed_tokens + of.statistics().tasks_waiting

        ends = [anyio.Event() for _ in range(SHARE - 1)]
        for number, end in enumerate(ends):
            tasks.start_soon(unfinished, TOKEN, end)
            await until(lambda count=number + 1: waiting() == count)  # type: ignore[misc]
        tasks.start_soon(large, TOKEN)
        await until(lambda: waiting() == SHARE)
        beyond = await guard.client(token=TOKEN).call("web::echo", {"x": "x" * 3 * LARGE})
        assert (beyond.status, beyond.headers["retry-after"]) == (429, "1")
        await large(OTHER_TOKEN)
        assert answers[0].result["structuredContent"], "another caller waits for none of them"
        assert len(answers) == 1
        for end in ends:
            end.set()
        await until(lambda: len(answers) == 2)
        assert answers[1].result["structuredContent"], "and it has its turn when the others have gone"
        await until(lambda: waiting() == 0)
