"""Streams of clients on this machine: the first line, the era, and what happens when either side ends."""

import errno
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketListener, SocketStream

from mcpguard.codec.envelope import BY_GUARD
from mcpguard.gateway.methods import Methods
from mcpguard.gateway.streams.stream_door import LONGEST_HELLO, StreamDoor
from tests.gate import Gate
from tests.gateway.speaking import OTHER_TOKEN, TOKEN, callers, guarded, nothing_happens, scope, turned_away
from tests.gateway.wires import modern
from tests.patience import PATIENCE
from tests.simulators.script import Script
from tests.simulators.words import CLIENT_CAPABILITIES, MODERN, PROTOCOL_VERSION, Json, request

pytestmark = pytest.mark.anyio
HELLO: Json = {"mcpguard": 1, "face": "direct", "only": None, "token": None}
NO_HELLO = [
    b"",
    b"hello",
    b"[]",
    b"null",
    b"{}",
    b'{"mcpguard":1}',
    b'{"jsonrpc":"2.0","id":1,"method":"initialize"}',
    json.dumps(HELLO | {"mcpguard": 2}).encode(),
    json.dumps(HELLO | {"mcpguard": "1"}).encode(),
    json.dumps(HELLO | {"face": None}).encode(),
    json.dumps(HELLO | {"face": "DIRECT"}).encode(),
    json.dumps(HELLO | {"face": "guard", "only": "web"}).encode(),
    json.dumps(HELLO | {"only": "web"}).encode(),
    json.dumps(HELLO | {"only": 5}).encode(),
    json.dumps(HELLO | {"separator": "/"}).encode(),
    json.dumps(HELLO | {"separator": 5}).encode(),
    json.dumps(HELLO | {"separator": ["__"]}).encode(),
    json.dumps(HELLO | {"face": "guard", "separator": "__"}).encode(),
    json.dumps(HELLO | {"face": "transparent", "only": "web", "separator": "__"}).encode(),
    json.dumps(HELLO | {"token": 5}).encode(),
    json.dumps(HELLO | {"face": "transparent"}).encode(),
    json.dumps(HELLO | {"face": "transparent", "only": "nowhere"}).encode(),
    json.dumps(HELLO | {"face": "transparent", "only": "../web"}).encode(),
    json.dumps(HELLO | {"face": "transparent", "only": ""}).encode(),
    json.dumps(HELLO).encode() + json.dumps(HELLO).encode(),
    b'{"mcpguard":1,"mcpguard":1,"face":"direct","only":null,"token":null}',
    b"\xff\xfe",
    b"x" * (LONGEST_HELLO - 1),
]
INITIALIZE: Json = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}


@asynccontextmanager
async def connected(guard: Gate, *lines: Json | bytes) -> AsyncIterator[SocketStream]:
    """A stream on which this was said at once."""
    async with await anyio.connect_unix(guard.where.agents) as stream:
        said = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
        await stream.send(b"".join(line + b"\n" for line in said))
        yield stream


async def rest(stream: SocketStream) -> list[Json]:
    """Everything that comes until the other side ends."""
    return [json.loads(line) for line in b"".join([data async for data in stream]).splitlines()]


async def test_who_does_not_say_what_it_wants_is_told_so_and_that_is_all(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard, guard.stream() as other:
        with nothing_happens(guard, script):
            for line in NO_HELLO:
                call = modern("tools/call", {"name": "web::echo"})
                async with connected(guard, line, call) as stream:
                    (said,) = await rest(stream)
                    assert said.keys() == {"error"}, line
            async with await anyio.connect_unix(guard.where.agents) as stream:
                await stream.send(b"x" * (LONGEST_HELLO + 10))
                (said,) = await rest(stream)
                assert said.keys() == {"error"}
            async with await anyio.connect_unix(guard.where.agents) as stream:
                await stream.send(b'{"mcpguard":1')
                await stream.send_eof()
                (said,) = await rest(stream)
                assert said.keys() == {"error"}
        assert (await turned_away(guard)) == {("streams", "hello"): len(NO_HELLO) + 2}
        assert (await other.call("web::echo", {"x": 1})).result["structuredContent"] == {"x": 1}


async def test_a_server_beyond_the_scope_is_not_there(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script(), callers=callers(**{TOKEN: scope("other")})) as guard:
        answers = []
        for only in ("web", "nowhere"):
            async with connected(guard, HELLO | {"face": "transparent", "only": only, "token": TOKEN}) as stream:
                answers.append(await rest(stream))
        assert answers[0] == answers[1]


async def test_who_says_nothing_is_not_waited_for(tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard:
        streams = StreamDoor(guard.now.guard, Methods(guard.now.guard), guard.clock, hello_seconds=0.05)
        async with await anyio.create_unix_listener(tmp_path / "s") as listener, anyio.create_task_group() as tasks:
            tasks.start_soon(streams.listen, listener)
            async with await anyio.connect_unix(tmp_path / "s") as stream:
                (said,) = await rest(stream)
                assert "first line" in said["error"]
            assert not streams.busy
            tasks.cancel_scope.cancel()
        assert (await turned_away(guard)) == {("streams", "hello"): 1}


async def test_there_are_not_more_streams_than_connections(tmp_path: Path) -> None:
    both = callers(**{TOKEN: scope(), OTHER_TOKEN: scope()})
    async with guarded(tmp_path, Script(), callers=both, limits__connections=2, limits__caller_share=0.5) as guard:
        async with (
            guard.stream(token=TOKEN) as one,
            guard.stream(token=OTHER_TOKEN) as other,
            connected(guard, HELLO) as third,
        ):
            await one.discover()
            await other.discover()
            (said,) = await rest(third)
            assert said == {"error": "too many clients are connected"}
            assert (await one.call("web::echo", {})).result
        async with guard.stream() as again:
            assert (await again.call("web::echo", {})).result


class Exhausted(SocketListener):
    """The listener of a process that has too much open, for a while."""

    def __init__(self, listener: SocketListener, failures: int) -> None:
        self.failures = failures
        self._listener = listener

    @property
    def _raw_socket(self) -> socket.socket:
        return self._listener._raw_socket

    async def accept(self) -> SocketStream:
        if self.failures:
            self.failures -= 1
            raise anyio.BrokenResourceError from OSError(errno.EMFILE, "Too many open files")
        return await self._listener.accept()

    async def aclose(self) -> None:
        await self._listener.aclose()


async def test_a_connection_that_cannot_be_taken_ends_nothing(tmp_path: Path) -> None:
    """When no descriptor is left, accepting fails; later there are some again."""
    async with guarded(tmp_path, Script()) as guard:
        streams = StreamDoor(guard.now.guard, Methods(guard.now.guard), guard.clock)
        async with await anyio.create_unix_listener(tmp_path / "s") as listener, anyio.create_task_group() as tasks:
            exhausted = Exhausted(listener, 3)
            tasks.start_soon(streams.listen, exhausted)
            while exhausted.failures:
                await guard.clock.advance(1)
            await guard.clock.advance(1)
            async with await anyio.connect_unix(tmp_path / "s") as stream:
                await stream.send(json.dumps(HELLO).encode() + b"\n")
                assert await stream.receive() == b'{"mcpguard":1}\n'
            tasks.cancel_scope.cancel()


async def test_a_client_that_has_said_everything_hears_everything(tmp_path: Path) -> None:
    """Its half of the stream is closed; what it asked for before is answered, and then the other half is."""
    script = Script()
    calls = [modern("tools/call", {"name": "web::echo", "arguments": {"n": n}}, n) for n in range(30)]
    async with guarded(tmp_path, script) as guard, connected(guard, HELLO, *calls) as stream:
        await stream.send_eof()
        first, *answers = await rest(stream)
        assert first == {"mcpguard": 1}
        assert {each["id"]: each["result"]["structuredContent"]["n"] for each in answers} == {n: n for n in range(30)}
        assert len(guard.entries()) == 30


async def test_a_client_that_is_gone_leaves_nothing_behind(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        async with connected(guard, HELLO, modern("tools/call", {"name": "web::slow"})) as stream:
            await stream.receive()
            await script.until(lambda: script.held == 1)
        script.go()
        while guard.where.streams.busy:
            await anyio.lowlevel.checkpoint()
        (entry,) = guard.entries()
        assert entry["outcome"] == "answered", "it had not taken it back"


@pytest.mark.parametrize("half", [True, False])
async def test_a_client_that_has_ended_its_input_listens_no_more(half: bool, tmp_path: Path) -> None:
    """Nobody could ever take the subscription back, so the stream would stay for as long as the guard runs."""
    listen = modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    async with guarded(tmp_path, Script()) as guard:
        with anyio.fail_after(PATIENCE):
            async with connected(guard, HELLO, listen) as stream:
                while b"acknowledged" not in await stream.receive():
                    pass
                if half:
                    await stream.send_eof()
                    assert await rest(stream) == []
            while guard.where.streams.busy:
                await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize("modern_first", [True, False])
async def test_the_first_request_decides_the_era(modern_first: bool, tmp_path: Path) -> None:
    script = Script()
    call = modern("tools/call", {"name": "web::echo", "arguments": {}}, 2)
    bare: Json = request(3, "tools/call", {"name": "web::echo", "arguments": {}})
    initialize = request(1, "initialize", INITIALIZE)
    order = (call, initialize, bare) if modern_first else (initialize, call, bare, initialize | {"id": 4})
    async with guarded(tmp_path, script) as guard, connected(guard, HELLO, *order) as stream:
        await stream.send_eof()
        answers = {each.get("id"): each for each in await rest(stream)}
        if modern_first:
            assert answers[2]["result"]["resultType"] == "complete"
            assert answers[1]["error"]["code"] == -32022
            said = {"supported": [MODERN], "requested": "2025-11-25", "_meta": BY_GUARD}
            assert answers[1]["error"]["data"] == said
            assert answers[3]["error"]["code"] == -32602, "it lacks its envelope"
        else:
            assert answers[1]["result"]["protocolVersion"] == "2025-11-25"
            assert answers[2]["error"]["code"] == -32600
            assert "resultType" not in answers[3]["result"]
            assert answers[4]["error"]["code"] == -32600, "the handshake is made once"
        assert len(guard.entries()) == 1


async def test_what_comes_before_the_handshake(tmp_path: Path) -> None:
    script = Script()
    envelope = {PROTOCOL_VERSION: "2099-01-01", CLIENT_CAPABILITIES: {}}
    lines: list[tuple[Json, int | None]] = [
        (request(1, "ping"), None),
        (request(2, "tools/call", {"name": "web::echo"}), -32600),
        (request(3, "server/discover"), -32601),
        (request(4, "tools/call", {"name": "web::echo", "_meta": envelope}), -32022),
        (request(5, "tools/call", {"name": "web::echo", "_meta": {PROTOCOL_VERSION: MODERN}}), -32602),
        (
            request(6, "tools/call", {"name": "web::echo", "_meta": {PROTOCOL_VERSION: 5, CLIENT_CAPABILITIES: {}}}),
            -32602,
        ),
        (request(7, "initialize", {}), -32602),
        ({"jsonrpc": "2.0", "method": "notifications/initialized"}, None),
        ({"jsonrpc": "2.0", "id": 8, "result": {}}, None),
        (request(9, "initialize", INITIALIZE), None),
    ]
    async with guarded(tmp_path, script) as guard:
        with nothing_happens(guard, script):
            async with connected(guard, HELLO, *(line for line, _ in lines)) as stream:
                await stream.send_eof()
                said = {each.get("id"): each for each in await rest(stream)}
        for line, code in lines:
            if "method" in line and "id" in line:
                assert said[line["id"]].get("error", {}).get("code") == code, line
        away = await turned_away(guard)
        assert away == {
            ("streams", "no handshake"): 1,
            ("streams", "method"): 1,
            ("streams", "version"): 1,
            ("streams", "envelope"): 2,
            ("streams", "parameters"): 1,
            ("streams", "answer"): 1,
        }
