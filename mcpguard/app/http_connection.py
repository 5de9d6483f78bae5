"""HTTP on one connection: limits for whoever connects, and the way to the two that answer.

What agents send goes straight to their door; everything else becomes an ASGI request, for people's pages and the API.

Rules kept here:
1. A silent connection does not occupy a place for ever, nor an endless head the memory.
2. No request is taken whose target names a host beside its Host header.
3. Without TLS, on an address that others reach, only named proxies are served, and programs on this host.
4. A further request on the connection waits until the one before is answered.
"""

import asyncio
from typing import TYPE_CHECKING, Any, Literal, cast

import anyio
import structlog
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from mcpguard.app.client_certificate import certificate_of
from mcpguard.app.crowd import Places, Queue
from mcpguard.codec.headers.client_address import Proxies
from mcpguard.gateway.http.exchange import HttpExchange
from mcpguard.gateway.http.http_door import HttpDoor
from mcpguard.gateway.http.request_head import RequestHead, is_of_agents
from mcpguard.gateway.identity import NO_PROXIES, ConnectionEnds
from mcpguard.web.gate.peer import NotTheOperator, identify

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

LONGEST_HEAD = 65_536
NO_ENDS = ConnectionEnds(None, None)
log = structlog.get_logger("mcpguard")


class HttpConnection(HttpToolsProtocol):
    """A connection of a listener. Without a `door`, nothing on it is of agents. `direct` answers whoever comes from
    elsewhere than from the `proxies` or this host, if they must not.
    """

    def __init__(
        self,
        *given: Any,  # noqa: ANN401 - uvicorn's own
        head_seconds: float,
        stopped: anyio.Event,
        places: Places,
        door: HttpDoor | None = None,
        proxies: Proxies = NO_PROXIES,
        direct: ASGIApp | None = None,
        **named: Any,  # noqa: ANN401 - uvicorn's own
    ) -> None:
        super().__init__(*given, **named)
        self.known_head: RequestHead | None = None
        self.answering: HttpExchange | None = None
        """What the last request of an agent said, and the one that is being answered."""
        self.ends = NO_ENDS
        self._door = door
        self._proxies = proxies
        self._direct = direct
        self._stopped = stopped
        self._places = places
        self._head_seconds = head_seconds
        self._head_bytes = 0
        self._head_due: asyncio.TimerHandle | None = None
        self._expects: Literal["head", "body", "nothing"] = "head"
        self._queue: Queue | None = places.silent

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self.ends = ConnectionEnds(self.server, self.client, certificate_of(transport), self._proxies)
        if self._direct is not None and self.ends.is_direct:
            self.app, self._door = cast("ASGI3Application", self._direct), None
        self._places.take(self, self._give_up)
        self._head_due = self.loop.call_later(self._head_seconds, self.transport.abort)
        if self._stopped.is_set():  # accepted just before the end, and nobody will read its request
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._expects == "head":
            self._limit_head(len(data))
        self._note_standing()

    def on_message_begin(self) -> None:
        self._expects = "head"
        self._head_bytes = 0
        # What uvicorn does here is done once it is known who answers: a scope is of no use to the door of agents.
        self.url, self.headers, self.expect_100_continue = b"", [], False

    def on_headers_complete(self) -> None:
        self._expects = "body"
        if self._head_due is not None:
            self._head_due.cancel()
            self._head_due = None
        if not self.url.startswith(b"/"):
            raise ValueError("an absolute URL may name another host than the Host header")  # answered with 400
        known = self.known_head
        if self._door is None or not ((known is not None and known.url == self.url) or is_of_agents(self.url)):
            self._begin_scope()
            return
        most = self.limit_concurrency or 0
        is_crowded = len(self.connections) >= most or len(self.tasks) >= most
        before = cast("RequestResponseCycle | None", self.cycle)
        exchange = HttpExchange(self, self._door.hosts, self._door.longest_body, is_crowded=is_crowded)
        self.cycle = cast("RequestResponseCycle", exchange)  # it has what uvicorn needs of its own
        answer = cast("ASGI3Application", self._door.answer)
        if before is None or before.response_complete:
            self._start_asgi_task(self.cycle, answer)
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((self.cycle, answer))

    def on_message_complete(self) -> None:
        self._expects = "nothing"
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._note_standing()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._head_due is not None:
            self._head_due.cancel()
        self._places.leave(self)
        if self.answering is not None:
            self.answering.lose()
        super().connection_lost(exc)

    def _begin_scope(self) -> None:
        """Continue as uvicorn does, for an ASGI application."""
        url, headers, expects = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()
        self.url, self.headers, self.expect_100_continue = url, headers, expects
        self.scope["headers"] = headers
        if self.client is not None and self.client[0] in self._proxies:
            self.scope["client"] = self._proxies.client_of(self.client[0], headers), 0
        super().on_headers_complete()

    def _limit_head(self, more: int) -> None:
        self._head_bytes += more
        if self._head_due is None:
            self._head_due = self.loop.call_later(self._head_seconds, self.transport.abort)
        if self._head_bytes > LONGEST_HEAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")

    def _note_standing(self) -> None:
        """Queue with those that may have to make room, or leave them, and have this one closed if it stays idle."""
        cycle = cast("RequestResponseCycle | None", self.cycle)
        expects, is_open = self._expects, not self.transport.is_closing()
        is_answered = cycle is None or (cycle.response_complete and not self.pipeline)
        queue = self._places.silent if is_answered else None
        if expects == "body" and not self.pipeline:
            queue = self._places.without_body
        if queue is not self._queue and is_open:
            if self._queue is not None:
                self._queue.pop(self, None)
            if queue is not None:
                queue[self] = None
            self._queue = queue
        # uvicorn stops its clock at every byte, also at those after the answer that begin no request.
        if is_answered and is_open and expects != "head" and self.timeout_keep_alive_task is None:
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def _give_up(self) -> None:
        """Make room for a new connection at once: the loop may read its request before it has closed this one, and
        would refuse the request while both are counted."""
        self.connections.discard(self)
        self.transport.abort()


class OperatorConnection(HttpConnection):
    """HTTP for the operator only: the peer's account is checked."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        try:
            peer = identify(transport.get_extra_info("socket"))
        except NotTheOperator as refusal:
            log.warning("operator.refused", why=str(refusal))
            self.transport.abort()
        else:
            self.app_state = {**self.app_state, "peer": peer}
