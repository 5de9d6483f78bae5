"""The transport of 2024-11-05: one stream, and a place to send messages to."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.abc import TaskGroup

from mcpguard.upstreams.exchange.conversation import Bounds, ServerError
from mcpguard.upstreams.exchange.peer import StreamPeer
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.transports.http_streams import Waits
from mcpguard.upstreams.transports.remotes import Remote
from mcpguard.upstreams.transports.sse import Sse, sse
from tests.patience import PATIENCE
from tests.upstreams.played import Asked, Played, dialing, played

pytestmark = pytest.mark.anyio

SECRET = {"Authorization": "Bearer secret"}
BOUNDS = Bounds(message_bytes=100_000)


async def say(stream: Asked, data: str, type_: str = "message") -> None:
    await stream.chunk(f"event: {type_}\ndata: {data}\n\n".encode())


async def connect(server: Played, waits: Waits) -> None:
    """Connect and leave again, which is for those who expect that it does not come so far."""
    async with sse(Remote(server.url), BOUNDS, dialing(), waits):
        pytest.fail("connected")


@asynccontextmanager
async def connected(
    server: Played, endpoint: str = "/messages?session=1", told: float = PATIENCE
) -> AsyncIterator[tuple[Sse, Asked, TaskGroup]]:
    """Connected, with the stream on which the server speaks."""
    async with anyio.create_task_group() as tasks:
        opened: list[Asked] = []

        async def open_() -> None:
            stream = await server.next()
            assert (stream.verb, stream.headers["accept"]) == ("GET", "text/event-stream")
            await stream.stream()
            await say(stream, "early", "other")
            await say(stream, endpoint, "endpoint")
            opened.append(stream)

        tasks.start_soon(open_)
        async with sse(Remote(server.url, SECRET), BOUNDS, dialing(), Waits(told=told)) as transport:
            yield transport, opened[0], tasks
            tasks.cancel_scope.cancel()


async def test_messages_go_to_the_place_that_the_server_named_and_come_on_the_stream() -> None:
    async with played() as server, connected(server) as (transport, stream, tasks):
        tasks.start_soon(transport.send, b'{"n":1}')
        asked = await server.next()
        assert (asked.verb, asked.target, asked.body) == ("POST", "/messages?session=1", b'{"n":1}')
        assert asked.headers["authorization"] == "Bearer secret"
        await asked.taken()
        await stream.chunk(b": keep-alive\n\n")
        await say(stream, "ignored", "other")
        await say(stream, "first")
        await say(stream, "second")
        assert [await transport.receive(), await transport.receive()] == [b"first", b"second"]


async def test_a_whole_conversation_goes_over_it() -> None:
    async def asked(*_: object) -> dict[str, object]:
        return {}

    async with played() as server, connected(server) as (transport, stream, tasks):
        peer = StreamPeer(transport, asked, lambda *_: None)
        tasks.start_soon(peer.run)

        async def answer() -> None:
            posted = await server.next("tools/list")
            await posted.taken()
            await say(stream, '{"jsonrpc":"2.0","id":1,"result":{"number":1}}')
            posted = await server.next("tools/list")
            await say(stream, '{"jsonrpc":"2.0","id":2,"result":{"number":2}}')
            await posted.taken()  # some servers take a message only when they have answered it

        tasks.start_soon(answer)
        assert [await peer.request("tools/list") for _ in "ab"] == [{"number": 1}, {"number": 2}]


@pytest.mark.parametrize(
    "endpoint",
    ["http://169.254.169.254/messages", "http://127.0.0.1:1/messages", "https://127.0.0.1/messages", "//evil.example/",
     "http://user:word@127.0.0.1/", "javascript:alert(1)", "/a b", "http://[::1"],
)  # fmt: skip
async def test_a_place_of_another_origin_is_refused(endpoint: str) -> None:
    async with played() as server:
        with pytest.raises(ExceptionGroup) as refused:
            async with connected(server, endpoint):
                pytest.fail("connected")
        assert refused.group_contains(TransportEnded)
        assert [asked.verb for asked in server.heard] == ["GET"]


async def test_a_server_that_names_none_in_time_is_left() -> None:
    async with played() as server, anyio.create_task_group() as tasks:

        async def talk_about_something_else() -> None:
            stream = await server.next()
            await stream.stream()
            await say(stream, "hello")

        tasks.start_soon(talk_about_something_else)
        with pytest.raises(TransportEnded, match="in time"):
            await connect(server, Waits(endpoint=0.1))


async def test_a_server_that_does_not_open_a_stream_says_why() -> None:
    async with played() as server, anyio.create_task_group() as tasks:

        async def refuse() -> None:
            await (await server.next()).answer(401, b"", "WWW-Authenticate: Bearer")
            await (await server.next()).answer(200, b"{}", "Content-Type: application/json")

        tasks.start_soon(refuse)
        with pytest.raises(ServerError) as refused:
            await connect(server, Waits())
        assert refused.value.error["data"] == {"status": 401, "www_authenticate": "Bearer"}
        with pytest.raises(TransportEnded):
            await connect(server, Waits())


async def test_a_message_that_is_not_taken_fails_alone() -> None:
    async with played() as server, connected(server) as (transport, stream, tasks):

        async def refuse() -> None:
            await (await server.next()).answer(404)
            await (await server.next()).hang_up()

        tasks.start_soon(refuse)
        for _ in range(2):
            with pytest.raises(TransportEnded):
                await transport.send(b"{}")
        tasks.start_soon(transport.send, b'{"n":2}')
        await (await server.next()).taken()
        await say(stream, "still here")
        assert await transport.receive() == b"still here"


async def test_what_hangs_holds_up_nothing_and_is_sent_whole_though_its_sender_gave_up() -> None:
    async with played() as server, connected(server) as (transport, stream, tasks):
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as senders:
                senders.start_soon(transport.send, b"[" + b"1" * 3_000_000 + b"]")
                hanging = await server.next()
                scope.cancel()
        assert len(hanging.body) == 3_000_002
        tasks.start_soon(transport.send, b"{}")
        await (await server.next()).taken()
        await say(stream, "through")
        assert await transport.receive() == b"through"


async def test_a_server_that_never_says_that_it_took_a_message_holds_up_its_sender_for_a_while_only() -> None:
    async with played() as server, connected(server, told=0.01) as (transport, stream, _):
        await transport.send(b'{"n":1}')
        untaken = await server.next()
        await say(stream, "answer")
        assert await transport.receive() == b"answer"
        await untaken.answer(500)
        await transport.send(b'{"n":2}')
        assert (await server.next()).body == b'{"n":2}'


@pytest.mark.parametrize("how", ["end", "hang_up", "too large"])
async def test_the_end_of_the_stream_is_the_end_and_what_came_before_counts(how: str) -> None:
    async with played() as server, connected(server) as (transport, stream, tasks):
        await say(stream, "before")
        if how == "too large":
            tasks.start_soon(stream.chunk, b"x" * 20_000_000)
        else:
            await getattr(stream, how)()
        assert await transport.receive() == b"before"
        with pytest.raises(TransportEnded):
            await transport.receive()


async def test_whoever_still_listens_when_we_leave_hears_of_the_end() -> None:
    async with played() as server, anyio.create_task_group() as tasks:
        ended = anyio.Event()

        async def listen(transport: Sse) -> None:
            with pytest.raises(TransportEnded):
                await transport.receive()
            ended.set()

        async with connected(server) as (transport, _, _):
            tasks.start_soon(listen, transport)
            await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(PATIENCE):
            await ended.wait()
