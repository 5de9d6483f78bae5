"""The listeners for the network, the operator and local agents.

Their sockets are bound here; uvicorn serves HTTP on the first two. uvicorn's own `uds=` would make the operator's
socket writable by everyone, and its signal handling would conflict with the guard's, so neither is used.
"""

import asyncio
import os
import socket
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any, cast

import anyio
import structlog
import uvicorn
from anyio.abc import SocketListener
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from mcpguard.app.crowd import Places
from mcpguard.app.lifespan import Running
from mcpguard.app.places import agents_socket, operator_socket
from mcpguard.domain.clock import Clock, Ids
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.gateway.http.http_door import HttpDoor
from mcpguard.gateway.methods import Methods
from mcpguard.gateway.streams.stream_door import StreamDoor
from mcpguard.settings.model import Settings
from mcpguard.store.files import datadir
from mcpguard.web.api.api_door import Api
from mcpguard.web.gate.peer import NotTheOperator, identify
from mcpguard.web.network import network_app
from mcpguard.web.operator import operator_app

IDLE_SECONDS = 15
"""How long an idle connection is kept: longer than clients keep theirs, or it might be closed just as one is used."""
LONGEST_HEAD = 65_536
log = structlog.get_logger("mcpguard")


@dataclass(frozen=True, slots=True)
class ListenAddresses:
    """Where the guard can be reached. `first` is the link that creates the first user, while there was none ever."""

    url: str
    operator: Path
    agents: Path
    door: HttpDoor
    streams: StreamDoor
    first: str = ""

    def idle_since(self, now: float) -> float:
        """Return when an agent was last connected, by the monotonic clock."""
        return now if self.streams.busy else max(self.door.used, self.streams.used)


class _Server(uvicorn.Server):
    """A uvicorn server that handles no signals, and leaves nothing open even if it is cancelled."""

    def __init__(self, config: uvicorn.Config, stopped: anyio.Event) -> None:
        super().__init__(config)
        self._stopped = stopped

    def stop(self) -> None:
        self.should_exit = True
        self._stopped.set()

    async def main_loop(self) -> None:
        """Wake up once a second, for the date in every answer, and at once when it has to stop."""
        while not await self.on_tick(0):
            with anyio.move_on_after(1):
                await self._stopped.wait()

    async def keep(self, bound: socket.socket) -> None:
        self.servers: list[asyncio.Server] = []
        try:
            await self.serve([bound])
        finally:
            for server in self.servers:
                server.close()
            for connection in tuple(self.server_state.connections):
                cast("HttpToolsProtocol", connection).transport.abort()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Protocol(HttpToolsProtocol):
    """HTTP with limits: a silent connection must not occupy a place for ever, nor an endless head the memory."""

    def __init__(self, *given: Any, head_seconds: float, stopped: anyio.Event, places: Places, **named: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(*given, **named)
        self._stopped = stopped
        self._places = places
        self._head_seconds = head_seconds
        self._head_bytes = 0
        self._in_head = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self._places.take(self, self._give_up)
        self._expect_head()
        if self._stopped.is_set():  # accepted just before the end, and nobody will read its request
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        self._head_bytes += len(data)
        super().data_received(data)
        if not self._in_head:
            self._head_bytes = 0
        elif self._head_bytes > LONGEST_HEAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")

    def on_message_begin(self) -> None:
        if not self._in_head:  # a further request on the same connection
            self._in_head = True
            self._expect_head()
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        if not self.url and not url.startswith(b"/"):
            raise ValueError("an absolute URL may name another host than the Host header")  # answered with 400
        super().on_url(url)

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._head_due.cancel()
        self._places.head_came(self)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._places.body_came(self)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete:  # otherwise the next of several requests has begun
            self._places.requests_answered(self)
        elif self.cycle.more_body:
            self._places.waits_for_body(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_due.cancel()
        self._places.leave(self)
        super().connection_lost(exc)

    def _give_up(self) -> None:
        """Make room for a new connection at once: the loop may read its request before it has closed this one, and
        would refuse the request while both are counted."""
        self.connections.discard(self)
        self.transport.abort()

    def _expect_head(self) -> None:
        self._head_due = self.loop.call_later(self._head_seconds, self.transport.abort)


class _OperatorProtocol(_Protocol):
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


@asynccontextmanager
async def listening(now: Running, clock: Clock, new_id: Ids) -> AsyncIterator[ListenAddresses]:
    """Open all listeners for the length of the block. Requests in flight get their time to end."""
    settings, guard = now.settings, now.guard
    ours, theirs = operator_socket(settings.data_dir), agents_socket(settings.data_dir)
    with network_socket(settings) as network, _unix_socket(ours) as operator, _unix_socket(theirs) as agents:
        host, port = settings.address[0], network.getsockname()[1]
        now.listeners.add((ip_address(network.getsockname()[0]), port))
        methods = Methods(guard)
        door, streams = HttpDoor(guard, methods, clock), StreamDoor(guard, methods, clock)
        api = Api(guard)
        servers = (
            (_server(settings, network_app(guard, api, door, port, new_id)), network),
            (_server(settings, operator_app(guard, api, new_id), _OperatorProtocol), operator),
        )
        publisher = guard.servers.publisher
        with ExitStack() as told:
            for tell in (door.tell, streams.tell):
                told.enter_context(publisher.subscription(tell))
            for lost in (methods.end_caller, door.end_caller, streams.end_caller):
                told.enter_context(guard.callers.subscription(lost))
            async with await SocketListener.from_socket(agents) as listener, anyio.create_task_group() as tasks:
                tasks.start_soon(streams.listen, listener, name="agents' streams")
                tasks.start_soon(methods.parking.run, name="calls that wait for answers")
                async with anyio.create_task_group() as serving:
                    for server, bound in servers:
                        serving.start_soon(server.keep, bound, name=f"listener {bound.getsockname()}")
                    try:
                        url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
                        guard.setting_up.console = url
                        yield ListenAddresses(url, ours, theirs, door, streams)
                    finally:
                        door.close()
                        for server, _ in servers:
                            server.stop()
                tasks.cancel_scope.cancel()


def _server(settings: Settings, app: ASGIApp, protocol: type[_Protocol] = _Protocol) -> _Server:
    stopped = anyio.Event()
    return _Server(
        uvicorn.Config(
            app,
            http=cast(
                "type[HttpToolsProtocol]",
                partial(
                    protocol,
                    head_seconds=settings.limits.head_seconds,
                    stopped=stopped,
                    places=Places(settings.limits.connections),
                ),
            ),
            interface="asgi3",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=IDLE_SECONDS,
            limit_concurrency=settings.limits.connections + 1,  # uvicorn refuses at its limit, not above
            timeout_graceful_shutdown=max(1, int(settings.limits.stop_seconds / 2)),
        ),
        stopped,
    )


@contextmanager
def network_socket(settings: Settings) -> Iterator[socket.socket]:
    """Bind the guard's network address. Raises StoreUnavailable where it is in use."""
    host, port = settings.address
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        bound = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise StoreUnavailable(
            f"cannot listen on {settings.listen}: {error.strerror}; choose another address with --listen"
        ) from error
    with bound:
        yield bound


@contextmanager
def _unix_socket(path: Path) -> Iterator[socket.socket]:
    """Bind a socket that only the guard's own account can connect to."""
    datadir.prepare(path.parent)  # a folder that another account made is refused
    if path.exists() and stat.S_ISSOCK(path.lstat().st_mode):
        path.unlink()  # left by a guard that was killed: this one holds the lock on the data directory
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as bound:
        # The mode has to be right from the first moment: changed afterwards, somebody could connect in between.
        before = os.umask(0o177)
        try:
            bound.bind(str(path))
        except OSError as error:
            raise StoreUnavailable(
                f"cannot listen on {path}: {error.strerror or error}; "
                "choose another --data-dir, or a shorter XDG_RUNTIME_DIR if the path is below it"
            ) from error
        finally:
            os.umask(before)
        bound.listen(128)
        bound.setblocking(False)
        try:
            yield bound
        finally:
            path.unlink(missing_ok=True)
