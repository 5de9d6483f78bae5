"""Answers over HTTP: a sign of life for whoever waits long, all in its order, and nobody waits for a slow reader."""

import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import pytest

from mcpguard.app.http_connection import HttpConnection
from mcpguard.app.listeners import http_server
from mcpguard.gateway.http.http_door import HttpDoor
from mcpguard.gateway.http.plain import HttpPatience
from mcpguard.gateway.methods import Methods
from mcpguard.settings.address import OwnHosts
from mcpguard.web.gate.problem import nothing_here
from tests.gate import Gate
from tests.gateway.speaking import guarded, nothing_happens, turned_away
from tests.gateway.wires import answered, mirrored, modern, narrow, widen, wire
from tests.simulators.asked import Asked
from tests.simulators.script import Script
from tests.simulators.words import Json, notification, text

pytestmark = pytest.mark.anyio
KEEP_ALIVE = b": \n\n"
SLOW = modern("tools/call", {"name": "web::slow"})
LISTEN = modern("subscriptions/listen", {"notifications": {}})
BIG = modern("tools/call", {"name": "web::big", "arguments": {"bytes": 8_000_000}})


@asynccontextmanager
async def door(guard: Gate, **patience: float) -> AsyncIterator[int]:
    """The port of one more door, which is less patient than the guard's own."""
    bound = socket.create_server(("127.0.0.1", 0))
    port: int = bound.getsockname()[1]
    methods, hosts = Methods(guard.now.guard), OwnHosts(("127.0.0.1", port), ())
    one = HttpDoor(guard.now.guard, methods, guard.clock, hosts, HttpPatience(**patience))
    server = http_server(guard.now.settings, nothing_here(), partial(HttpConnection, door=one))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.keep, bound)
        try:
            yield port
        finally:
            tasks.cancel_scope.cancel()


def messages(said: bytes) -> list[Json]:
    """The messages of a chunked stream of events."""
    body = b""
    while said:
        length, _, said = said.partition(b"\r\n")
        size = int(length, 16)
        body, said = body + said[:size], said[size + 2 :]
    events = [event for event in body.split(b"\n\n") if event.startswith(b"event: message\ndata: ")]
    return [json.loads(event.removeprefix(b"event: message\ndata: ")) for event in events]


async def test_who_hears_nothing_for_long_gets_a_sign_of_life(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard, door(guard, quiet=0.01) as port, wire(guard, port) as connection:
        await connection.post(SLOW, mirrored(SLOW) | {"connection": "close"})
        status, headers = await connection.answer_head()
        assert (status, headers["content-type"]) == (200, "text/event-stream")
        assert headers["x-accel-buffering"] == "no"
        sign = b"4\r\n" + KEEP_ALIVE + b"\r\n"
        assert await connection.exactly(3 * len(sign)) == 3 * sign
        await script.until(lambda: script.held)
        script.go()
        said = messages(await connection.until_closed())
        assert said[-1]["result"]["content"] == [{"type": "text", "text": "at last"}]
        assert len(said) == 1


async def test_a_session_that_only_listens_gets_it_too(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard, door(guard, quiet=0.01) as port, wire(guard, port) as connection:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        await connection.post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        status, headers = await connection.answer_head()
        await connection.exactly(int(headers["content-length"]))
        session = {"mcp-session-id": headers["mcp-session-id"]}
        await connection.send(connection.head(0, session, method="GET"))
        status, headers = await connection.answer_head()
        assert (status, headers["content-type"]) == (200, "text/event-stream")
        sign = b"4\r\n" + KEEP_ALIVE + b"\r\n"
        assert await connection.exactly(4 * len(sign)) == 4 * sign


async def test_who_reads_a_long_answer_slowly_gets_all_of_it_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    script = Script(tools=[])
    for number in range(8):
        script.tool(f"tool{number}", "", description="x" * 1_000_000)
    long = modern("tools/list")
    async with (
        guarded(tmp_path, script) as guard,
        door(guard, quiet=0.2) as port,
        door(guard, quiet=0.02) as other,
        narrow(guard, port) as slow,
        wire(guard, other) as clock,
    ):
        await slow.post(long, mirrored(long))
        await clock.post(LISTEN, mirrored(LISTEN))
        await clock.answer_head()
        signs = b""
        while signs.count(KEEP_ALIVE) < 20:  # for so long that the slow one could have had a sign of life too
            signs += await clock.exactly(1)
        widen(slow)
        status, message = await slow.answer()
        assert status == 200
        assert [each["description"] for each in message["result"]["tools"]] == ["x" * 1_000_000] * 8
    assert not [each for each in caplog.records if each.levelname == "ERROR"], "nor did anything go wrong"


async def test_who_does_not_read_holds_up_nobody(tmp_path: Path) -> None:
    """The call ends and is recorded, others are served, and leaving costs nothing."""
    script = Script()
    async with guarded(tmp_path, script) as guard:
        async with narrow(guard) as one, narrow(guard) as other:
            for connection in (one, other):
                await connection.post(BIG, mirrored(BIG))
            await answered(guard, 2)
            for number in range(20):
                said = await guard.client().call("web::echo", {"n": number})
                assert said.result["structuredContent"] == {"n": number}
        assert (await guard.client().call("web::echo", {})).status == 200


@pytest.mark.parametrize("over", ["network", "stream"])
async def test_a_flood_is_dropped_for_who_does_not_read_it(over: str, tmp_path: Path) -> None:
    """What is kept of 30 MB for one that does not read is about one; the newest, and always the answer."""
    flood, size = 1_000, 30_000

    async def flooding(asked: Asked) -> Json:
        for step in range(1, flood + 1):
            await asked.progress(step, message="x" * size)
        return text("at last")

    script = Script()
    script.answers["tools/call echo"] = flooding
    message = modern("tools/call", {"name": "local::echo", "_meta": {"progressToken": 1}})
    async with guarded(tmp_path, script, "local", over="stdio") as guard:
        if over == "network":
            async with narrow(guard) as connection:
                await connection.post(message, mirrored(message) | {"connection": "close"})
                await answered(guard)
                widen(connection)
                await connection.answer_head()
                said = messages(await connection.until_closed())
        else:
            async with await anyio.connect_unix(guard.where.agents) as stream:
                hello = {"mcpguard": 1, "face": "direct", "only": None, "token": None}
                await stream.send(json.dumps(hello).encode() + b"\n" + json.dumps(message).encode() + b"\n")
                await answered(guard)
                await stream.send_eof()
                lines = b"".join([data async for data in stream]).splitlines()
                said = [json.loads(line) for line in lines[1:]]
    *progress, answer = said
    steps = [each["params"]["progress"] for each in progress]
    assert answer["result"]["content"] == [{"type": "text", "text": "at last"}]
    assert steps == sorted(steps)
    assert steps[-1] == flood, "the newest is there"
    assert len(steps) < flood / 2


async def test_a_body_may_take_its_time_and_holds_up_nobody(tmp_path: Path) -> None:
    script = Script()
    message = modern("tools/call", {"name": "web::echo", "arguments": {"slow": True}})
    async with guarded(tmp_path, script) as guard, wire(guard) as slow:
        for byte in slow.request(message, mirrored(message)):
            assert (await guard.client().call("web::echo", {"n": byte})).result["structuredContent"] == {"n": byte}
            await slow.send(bytes([byte]))
        status, answer = await slow.answer()
        assert (status, answer["result"]["structuredContent"]) == (200, {"slow": True})


async def test_a_body_that_does_not_come_is_not_waited_for(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard, door(guard, body=0.05) as port, wire(guard, port) as slow:
        with nothing_happens(guard, script):
            await slow.send(slow.head(100, mirrored(SLOW)) + b'{"jsonrpc":')
            status, answer = await slow.answer()
            assert (status, answer["error"]["code"]) == (408, -32600)
            await slow.until_closed()
        assert (await turned_away(guard)) == {("network", "slow body"): 1}


async def test_requests_on_one_connection_are_answered_in_turn(tmp_path: Path) -> None:
    script = Script()
    calls = [modern("tools/call", {"name": "web::echo", "arguments": {"n": number}}, number) for number in range(50)]
    async with guarded(tmp_path, script) as guard, wire(guard) as connection:
        await connection.send(b"".join(connection.request(each, mirrored(each)) for each in calls))
        for number in range(50):
            status, answer = await connection.answer()
            assert (status, answer["id"], answer["result"]["structuredContent"]) == (200, number, {"n": number})


async def test_a_notification_is_taken_without_a_word(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard, wire(guard) as connection:
        told = notification("notifications/cancelled", {"requestId": 1})
        await connection.post(told, {"mcp-protocol-version": "2026-07-28"})
        status, headers = await connection.answer_head()
        assert (status, headers["content-length"]) == (202, "0")
        assert "content-type" not in headers
