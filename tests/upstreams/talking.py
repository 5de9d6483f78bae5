"""Our side of a conversation over HTTP, and everything that reaches us from there."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import TaskGroup

from mcpguard.codec import envelope
from mcpguard.upstreams.exchange.conversation import METHOD_NOT_FOUND, Bounds, RefusedRequest, ServerError
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.transports.dialing import Dialing
from mcpguard.upstreams.transports.http import Http, http
from mcpguard.upstreams.transports.http_streams import Waits
from mcpguard.upstreams.transports.remotes import Remote
from tests.patience import PATIENCE
from tests.upstreams.played import Played, dialing

QUICK = Waits(reopened=0.01, reopened_least=0.01, reopened_most=0.02, closing=0.01, taken_back=5)
LEGACY = "2025-11-25"
MODERN = "2026-07-28"
STAMP = {envelope.PROTOCOL: MODERN, envelope.CLIENT: {"name": "test", "version": "1"}, envelope.CAPABILITIES: {}}


class Talk:
    """A conversation, what was told and asked in it, and how our requests ended."""

    def __init__(self, tasks: TaskGroup) -> None:
        self.tasks = tasks
        self.http: Http
        self.outcomes: list[object] = []
        self.answers = anyio.Event()
        self.answers.set()
        self.ended = anyio.Event()
        self._coming, self._came = anyio.create_memory_object_stream[tuple[str, object, object]](10_000)
        self._ending, self._endings = anyio.create_memory_object_stream[object](10_000)

    async def ask(self, method: str, params: dict[str, Any] | None = None, origin: object = None) -> None:
        """Ask, and keep how it ended."""
        try:
            outcome: object = await self.http.request(method, params, origin)
        except (ServerError, TransportEnded) as error:
            outcome = error
        self.outcomes.append(outcome)
        self._ending.send_nowait(outcome)

    def asking(self, method: str, params: dict[str, Any] | None = None, origin: object = None) -> None:
        """Ask in a task of its own."""
        self.tasks.start_soon(self.ask, method, params, origin)

    async def outcome(self) -> object:
        """How the request that ended next did."""
        with anyio.fail_after(PATIENCE):
            return await self._endings.receive()

    async def news(self) -> tuple[str, object, object]:
        """What we were told next: method, parameters, origin."""
        with anyio.fail_after(PATIENCE):
            return await self._came.receive()

    async def run(self) -> None:
        await self.http.run()
        self.ended.set()

    async def asked(self, method: str, params: object, origin: object) -> dict[str, Any]:
        if method == "unknown":
            raise RefusedRequest({"code": METHOD_NOT_FOUND, "message": "no such method"})
        if method == "unsayable":
            return {"text": "\ud800"}
        await self.answers.wait()
        return {"asked": method, "with": params, "for": origin}

    def told(self, method: str, params: object, origin: object) -> None:
        self._coming.send_nowait((method, params, origin))

    def close(self) -> None:
        for end in (self._coming, self._came, self._ending, self._endings):
            end.close()


@asynccontextmanager
async def talking(
    server: Played | str,
    headers: Mapping[str, str] | None = None,
    bounds: Bounds | None = None,
    dial: Dialing | None = None,
    waits: Waits = QUICK,
) -> AsyncIterator[Talk]:
    """A conversation in which nothing has been said yet."""
    remote = Remote(server if isinstance(server, str) else server.url, headers or {})
    async with anyio.create_task_group() as tasks:
        talk = Talk(tasks)
        try:
            async with http(remote, talk.asked, talk.told, bounds, dial or dialing(), waits) as talk.http:
                tasks.start_soon(talk.run)
                yield talk
        finally:
            tasks.cancel_scope.cancel()
            talk.close()


@asynccontextmanager
async def in_session(server: Played, *, listened_to: bool = False, **more: Any) -> AsyncIterator[Talk]:  # noqa: ANN401
    """A conversation of the legacy era after the handshake. The server has a session, and no stream of its own.

    With `listened_to` it has one: then the test answers the request for it, which is the server's next.
    """
    async with talking(server, **more) as talk:
        talk.asking("initialize")
        await (await server.next("initialize")).result("Mcp-Session-Id: s-1", protocolVersion=LEGACY)
        assert await talk.outcome() == {"protocolVersion": LEGACY}
        talk.http.speak(LEGACY)
        talk.tasks.start_soon(talk.http.notify, "notifications/initialized")
        await (await server.next("notifications/initialized")).taken()
        if not listened_to:
            listening = await server.next()
            assert listening.verb == "GET"
            await listening.answer(405)
        yield talk


@asynccontextmanager
async def modern(server: Played, **more: Any) -> AsyncIterator[Talk]:  # noqa: ANN401 - those of `talking`
    """A conversation of the modern era."""
    async with talking(server, **more) as talk:
        talk.http.speak(MODERN)
        yield talk
