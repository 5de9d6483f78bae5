"""A server made with the MCP SDK, over real HTTP, in both eras and over the transport of 2024-11-05."""

import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import anyio
import pytest
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from starlette.types import ASGIApp

from mcpguard.upstreams.exchange.peer import StreamPeer
from mcpguard.upstreams.transports.remotes import Remote
from mcpguard.upstreams.transports.sse import sse
from tests.patience import PATIENCE
from tests.simulators.event_store import RememberedEvents
from tests.upstreams.played import dialing
from tests.upstreams.talking import LEGACY, MODERN, STAMP, Talk, talking

pytestmark = pytest.mark.anyio

CALL = {"name": "echo", "arguments": {"text": "héllo"}}
HELLO = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def server() -> MCPServer:
    made = MCPServer("real")

    @made.tool()
    async def echo(text: str, context: Context) -> str:
        await context.report_progress(1, 2, "half")
        return text

    @made.tool()
    async def poll(context: Context) -> str:
        """Gives its connection back, and answers whoever comes for the rest."""
        await context.close_sse_stream()
        await context.report_progress(1, 2, "half")
        return "fetched"

    return made


@asynccontextmanager
async def serving(app: ASGIApp) -> AsyncIterator[int]:
    """The port on which it is served."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1)
        running = uvicorn.Server(config)
        listener.listen()

        async def serve() -> None:
            with anyio.CancelScope(shield=True):  # it ends when it is told to, and badly when it is cancelled
                await running.serve([listener])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve)
            try:
                yield listener.getsockname()[1]
            finally:
                running.should_exit = True


async def called(talk: Talk, stamp: Mapping[str, object]) -> None:
    for origin in ("call a", "call b"):
        talk.asking("tools/call", {**CALL, "_meta": {**stamp, "progressToken": "t"}}, origin)
        told = {"progressToken": "t", "progress": 1, "total": 2, "message": "half"}
        assert await talk.news() == ("notifications/progress", told, origin)
        match await talk.outcome():
            case {"content": [{"type": "text", "text": "héllo"}], "isError": False}:
                pass
            case other:
                pytest.fail(f"{other}")


async def test_the_legacy_era() -> None:
    async with serving(server().streamable_http_app()) as port, talking(f"http://127.0.0.1:{port}/mcp") as talk:
        with anyio.fail_after(PATIENCE):
            greeting = await talk.http.request("initialize", HELLO)
            assert greeting["protocolVersion"] == LEGACY
            talk.http.speak(LEGACY)
            await talk.http.notify("notifications/initialized")
            await called(talk, {})
        assert (talk.http.counts.unreadable, talk.http.counts.late, talk.http.counts.dropped) == (0, 0, 0)


async def test_an_answer_whose_connection_the_server_gave_back_is_fetched() -> None:
    app = server().streamable_http_app(event_store=RememberedEvents(), retry_interval=10)
    async with serving(app) as port, talking(f"http://127.0.0.1:{port}/mcp") as talk:
        with anyio.fail_after(PATIENCE):
            talk.http.speak((await talk.http.request("initialize", HELLO))["protocolVersion"])
            await talk.http.notify("notifications/initialized")
            params = {"name": "poll", "arguments": {}, "_meta": {"progressToken": "t"}}
            answer = await talk.http.request("tools/call", params, "call a")
            assert answer["content"] == [{"type": "text", "text": "fetched"}]
            assert [(await talk.news())[0], talk.http.counts.late] == ["notifications/progress", 0]


async def test_the_modern_era() -> None:
    async with serving(server().streamable_http_app()) as port, talking(f"http://127.0.0.1:{port}/mcp") as talk:
        with anyio.fail_after(PATIENCE):
            greeting = await talk.http.request("server/discover", {"_meta": STAMP})
            assert greeting["supportedVersions"] == [MODERN]
            talk.http.speak(MODERN)
            await called(talk, STAMP)
        assert (talk.http.counts.unreadable, talk.http.counts.late, talk.http.counts.dropped) == (0, 0, 0)


async def test_the_transport_of_2024() -> None:
    async with serving(server().sse_app()) as port, anyio.create_task_group() as tasks:
        news: list[object] = []

        async def asked(*_: object) -> dict[str, object]:
            return {}

        with anyio.fail_after(PATIENCE):
            async with sse(Remote(f"http://127.0.0.1:{port}/sse"), dialing=dialing()) as transport:
                peer = StreamPeer(transport, asked, lambda *told: news.append(told))
                tasks.start_soon(peer.run)
                greeting = await peer.request("initialize", HELLO)
                assert greeting["serverInfo"]["name"] == "real"
                await peer.notify("notifications/initialized")
                answer = await peer.request("tools/call", {**CALL, "_meta": {"progressToken": "t"}}, "call a")
                assert answer["content"] == [{"type": "text", "text": "héllo"}]
                assert len(news) == 1
                tasks.cancel_scope.cancel()
