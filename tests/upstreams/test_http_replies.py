"""Replies over HTTP that do not end where they say, or come when nobody asked: none is read as another one's."""

import gc
from collections.abc import Awaitable, Callable
from contextlib import suppress

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import ByteStream, SocketAttribute

from mcpguard.upstreams.exchange.conversation import ServerError
from mcpguard.upstreams.exchange.endings import NoUsableAnswer, Unsent
from mcpguard.upstreams.transports import http_pool
from mcpguard.upstreams.transports.http_replies import LONGEST_HEAD, MOST_FIELDS, Reply
from tests.patience import PATIENCE
from tests.upstreams.played import GONE, Asked, Played, played
from tests.upstreams.talking import Talk, modern, talking

pytestmark = pytest.mark.anyio
AS_JSON = "Content-Type: application/json"


@pytest.fixture(autouse=True)
def no_connection_is_left_for_being_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then it is left only for what has come on it."""
    monkeypatch.setattr(http_pool, "IDLE_SECONDS", 10 * PATIENCE)


def reply(id_: int, *headers: str, forged: bool = True) -> bytes:
    """A whole reply to the request with this id."""
    body = b'{"jsonrpc":"2.0","id":%d,"result":{"forged":%b}}' % (id_, b"true" if forged else b"false")
    head = "\r\n".join(("HTTP/1.1 200 OK", AS_JSON, f"Content-Length: {len(body)}", *headers, "", ""))
    return head.encode() + body


async def asks(server: Played, talk: Talk) -> Asked:
    """A call that has reached the server."""
    talk.asking("tools/call", {"name": "x"})
    return await server.next("tools/call")


async def goes_on(server: Played, talk: Talk) -> None:
    """The next call is answered, and by the answer that was meant for it."""
    asked = await asks(server, talk)
    await asked.result(next=True)
    assert await talk.outcome() == {"next": True}


REFUSED = {
    "two lengths": ("Content-Length: 2", "Content-Length: 2"),
    "two lengths that differ": ("Content-Length: 2", "Content-Length: 20"),
    "a list of lengths": ("Content-Length: 2, 2",),
    "a length with a sign": ("Content-Length: +2",),
    "a length that is none": ("Content-Length: two",),
    "a length without an end": ("Content-Length: 99999999999999999999999",),
    "a length and chunks": ("Content-Length: 2", "Transfer-Encoding: chunked"),
    "chunks and a length": ("Transfer-Encoding: chunked", "Content-Length: 2"),
    "chunks in another encoding": ("Transfer-Encoding: gzip, chunked",),
    "another encoding": ("Transfer-Encoding: gzip",),
    "two encodings": ("Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
    "two encodings the other way round": ("Transfer-Encoding: identity", "Transfer-Encoding: chunked"),
    "chunks twice": ("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
    "a name with a space": ("Content-Length : 2",),
    "a folded line": ("Content-Length:", " 2"),
    "a line without a name": (": 2",),
    "a header with a null byte": ("X: a\0b",),
    "a header with a lone return": ("X: a\rb",),
    "more fields than anybody needs": tuple(f"X-{number}: y" for number in range(MOST_FIELDS + 1)),
    "another protocol": ("Connection: upgrade", "Upgrade: h2c"),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_a_head_that_can_be_read_in_two_ways_is_no_reply(name: str) -> None:
    async with played() as server, modern(server) as talk:
        asked = await asks(server, talk)
        await asked.head(101 if name == "another protocol" else 200, AS_JSON, *REFUSED[name])
        await asked.raw(b"{}")
        assert isinstance(await talk.outcome(), NoUsableAnswer)
        await asked.left()
        await goes_on(server, talk)


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Length: 2\n\n{}",
        b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        b"HTTP/2 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 20 OK\r\nContent-Length: 2\r\n\r\n{}",
        b"\x00\x01\x02",
    ],
    ids=["lone line ends", "chunks before they were invented", "another version", "no status", "bytes"],
)
async def test_what_is_not_said_in_http_is_no_reply(head: bytes) -> None:
    async with played() as server, modern(server) as talk:
        asked = await asks(server, talk)
        await asked.raw(head)
        assert isinstance(await talk.outcome(), NoUsableAnswer)
        await asked.left()
        await goes_on(server, talk)


@pytest.mark.parametrize("size", [b"zz", b"-2", b"0x2", b"2 ", b"", b"ffffffffffffffffff", b"1", b"2\n"])
async def test_a_chunk_that_is_not_as_long_as_it_says_ends_the_reply(size: bytes) -> None:
    async with played() as server, modern(server) as talk:
        asked = await asks(server, talk)
        await asked.head(200, AS_JSON, "Transfer-Encoding: chunked")
        await asked.raw(size + b"\r\n{}\r\n0\r\n\r\n")
        assert isinstance(await talk.outcome(), NoUsableAnswer)
        await asked.left()
        await goes_on(server, talk)


@pytest.mark.parametrize("apart", [False, True])
async def test_a_second_reply_is_not_read_as_that_to_the_next_request(apart: bool) -> None:
    """The ids of requests can be guessed, so what is not asked for must not stay on the connection."""
    async with played() as server, modern(server) as talk:
        asked = await asks(server, talk)
        first, second = reply(asked.message["id"], forged=False), reply(asked.message["id"] + 1)
        if apart:
            await asked.raw(first)
            assert await talk.outcome() == {"forged": False}
            await asked.raw(second)
        else:
            await asked.raw(first + second)
            assert await talk.outcome() == {"forged": False}
        await asked.left()
        await goes_on(server, talk)
        assert server.connections == 2


@pytest.mark.parametrize("more", [b"{", b"HTT", b"x" * 100_000])
async def test_what_comes_after_a_reply_ends_the_connection_and_not_the_reply(more: bytes) -> None:
    async with played() as server, modern(server) as talk:
        asked = await asks(server, talk)
        await asked.raw(reply(asked.message["id"], forged=False) + more)
        assert await talk.outcome() == {"forged": False}
        await asked.left()
        await goes_on(server, talk)


async def test_a_reply_before_the_first_request_is_read_by_nobody() -> None:
    async def speak_first(stream: ByteStream) -> None:
        async with stream:
            await stream.send(reply(1))
            with suppress(*GONE):
                await stream.receive()

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.listeners[0].extra(SocketAttribute.local_port)  # noqa: S610 - a stream's, not a query's
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, speak_first)
        async with talking(f"http://127.0.0.1:{port}/") as talk:
            talk.asking("tools/call")
            assert isinstance(await talk.outcome(), Unsent | NoUsableAnswer)
        tasks.cancel_scope.cancel()


async def test_a_reply_that_comes_byte_by_byte_is_read_to_its_end() -> None:
    async with played() as server, modern(server) as talk:
        asked = await asks(server, talk)
        said = b"HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n" + reply(asked.message["id"], forged=False)
        for at in range(len(said)):
            await asked.raw(said[at : at + 1])
            await anyio.lowlevel.checkpoint()
        asked.over.set()
        assert await talk.outcome() == {"forged": False}
        await goes_on(server, talk)
        assert server.connections == 1


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 103 Early Hints\r\n\r\n"])
async def test_a_reply_that_never_comes_ends_with_its_call(said: bytes) -> None:
    """Whoever stops waiting leaves no connection behind on which the reply could still come."""
    async with played() as server, modern(server) as talk, anyio.create_task_group() as tasks:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as callers:
                callers.start_soon(talk.ask, "tools/call", {"name": "x"})
                asked = await server.next("tools/call")
                await asked.raw(said)
                scope.cancel()
        await asked.left()
        tasks.cancel_scope.cancel()
        await goes_on(server, talk)


async def hang_up_at_once(asked: Asked) -> None:
    await asked.hang_up()


async def reset(asked: Asked) -> None:
    await asked.cut()


async def hang_up_in_a_status(asked: Asked) -> None:
    await asked.raw(b"HTTP/1.")
    await asked.hang_up()


async def hang_up_after_the_head(asked: Asked) -> None:
    await asked.head(200, AS_JSON, "Content-Length: 100")
    await asked.hang_up()


async def hang_up_before_the_last_byte(asked: Asked) -> None:
    await asked.raw(reply(asked.message["id"])[:-1])
    await asked.hang_up()


async def hang_up_before_the_last_chunk(asked: Asked) -> None:
    await asked.head(200, AS_JSON, "Transfer-Encoding: chunked")
    await asked.chunk(b'{"jsonrpc":"2.0","id":%d,"result":{}}' % asked.message["id"])
    await asked.hang_up()


async def answer_nothing_after_early_hints(asked: Asked) -> None:
    await asked.raw(b"HTTP/1.1 100 Continue\r\n\r\n")
    await asked.hang_up()


ENDS = [
    hang_up_at_once, reset, hang_up_in_a_status, hang_up_after_the_head, hang_up_before_the_last_byte,
    hang_up_before_the_last_chunk, answer_nothing_after_early_hints,
]  # fmt: skip


@pytest.mark.parametrize("end", ENDS)
async def test_wherever_a_connection_ends_a_request_that_was_sent_may_have_been_executed(
    end: Callable[[Asked], Awaitable[None]],
) -> None:
    """It is neither called unsent nor sent again."""
    async with played() as server, modern(server) as talk:
        await end(await asks(server, talk))
        outcome = await talk.outcome()
        assert isinstance(outcome, NoUsableAnswer)
        assert not isinstance(outcome, Unsent)
        await goes_on(server, talk)
        assert len(server.heard) == 2


@pytest.mark.parametrize("said", [b"", b"Connection: close\r\n"])
async def test_a_reply_without_a_length_ends_with_the_connection(said: bytes) -> None:
    async with played() as server, modern(server) as talk:
        asked = await asks(server, talk)
        body = b'{"jsonrpc":"2.0","id":%d,"result":{"to":"the end"}}' % asked.message["id"]
        await asked.raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + said + b"\r\n" + body)
        await asked.hang_up()
        assert await talk.outcome() == {"to": "the end"}
        await goes_on(server, talk)


async def test_a_connection_that_the_server_wants_to_close_is_not_used_again() -> None:
    async with played() as server, modern(server) as talk:
        for number in range(3):
            asked = await asks(server, talk)
            await asked.result("Connection: close", number=number)
            assert await talk.outcome() == {"number": number}
        assert server.connections == 3


@pytest.mark.parametrize("reads_on", [True, False])
async def test_a_reply_that_comes_before_the_request_was_read_leaves_no_connection(reads_on: bool) -> None:
    """The rest of the request would be read as the next one."""
    left = anyio.Event()

    async def refuse(stream: ByteStream) -> None:
        async with stream:
            await stream.receive(100)
            await stream.send(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
            with anyio.fail_after(PATIENCE), suppress(*GONE):
                while reads_on:
                    await stream.receive()
        left.set()

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.listeners[0].extra(SocketAttribute.local_port)  # noqa: S610 - a stream's, not a query's
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, refuse)
        async with talking(f"http://127.0.0.1:{port}/") as talk:
            talk.asking("tools/call", {"name": "x" * 20_000_000})
            outcome = await talk.outcome()
            assert isinstance(outcome, ServerError)
            assert outcome.error["data"] == {"status": 413}
            with anyio.fail_after(PATIENCE):
                await left.wait()
        tasks.cancel_scope.cancel()


async def test_a_head_of_a_hundred_kilobytes_is_read_and_a_longer_one_is_not() -> None:
    async with played() as server, modern(server) as talk:
        asked = await asks(server, talk)
        await asked.result("X: " + "y" * 100_000)
        assert await talk.outcome() == {}
        asked = await asks(server, talk)
        await asked.result("X: " + "y" * LONGEST_HEAD)
        assert isinstance(await talk.outcome(), NoUsableAnswer)
        await goes_on(server, talk)


@pytest.mark.parametrize("whole", [True, False])
async def test_nothing_of_a_reply_stays_once_it_was_read(whole: bool) -> None:
    """The guard seldom collects garbage, and replies are large."""
    async with played() as server, modern(server) as talk:
        asked = await asks(server, talk)
        gc.collect()
        gc.disable()
        try:
            said = reply(asked.message["id"], forged=False)
            await asked.raw(said if whole else said[:-1])
            await anyio.wait_all_tasks_blocked()
            await asked.raw(b"" if whole else said[-1:])
            assert await talk.outcome() == {"forged": False}
            assert [each for each in gc.get_objects() if isinstance(each, Reply)] == []
        finally:
            gc.enable()
