"""The listeners for the network, the operator and local agents.

Their sockets are bound here; uvicorn serves HTTP on the first two (`http_connection`). uvicorn's own `uds=` would make
the operator's socket writable by everyone, and its signal handling would conflict with the guard's, so neither is used.
"""

import os
import socket
import stat
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, cast

import anyio
import uvicorn
from anyio.abc import SocketListener
from starlette.types import ASGIApp

from mcpguard.app.certificate import TlsCertificate
from mcpguard.app.crowd import Places
from mcpguard.app.http_connection import HttpConnection, OperatorConnection
from mcpguard.app.lifespan import Running
from mcpguard.app.places import agents_socket, operator_socket
from mcpguard.app.tls_listener import TlsListener
from mcpguard.codec.headers.client_address import Proxies
from mcpguard.domain.clock import Clock, Ids
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.gateway.http.http_door import HttpDoor
from mcpguard.gateway.methods import Methods
from mcpguard.gateway.streams.stream_door import StreamDoor
from mcpguard.settings.address import OwnHosts
from mcpguard.settings.model import Settings
from mcpguard.store.files import datadir
from mcpguard.web.api.api_door import Api
from mcpguard.web.gate.direct import RefuseDirect
from mcpguard.web.network import network_app
from mcpguard.web.operator import operator_app

if TYPE_CHECKING:
    import asyncio

    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

IDLE_SECONDS = 15
"""How long an idle connection is kept: longer than clients keep theirs, or it might be closed just as one is used."""


@dataclass(frozen=True, slots=True)
class ListenAddresses:
    """Where the guard can be reached. `first` is the link that creates the first user, while there was none ever."""

    url: str
    operator: Path
    agents: Path
    door: HttpDoor
    streams: StreamDoor
    certificate: TlsCertificate | None = None
    first: str = ""

    def idle_since(self, now: float) -> float:
        """Return when an agent was last connected, by the monotonic clock."""
        return now if self.streams.busy else max(self.door.used, self.streams.used)


class HttpServer(uvicorn.Server):
    """A uvicorn server that handles no signals, and leaves nothing open even if it is cancelled. `listen`: makes the
    listener of its socket, if that speaks TLS.
    """

    def __init__(
        self, config: uvicorn.Config, stopped: anyio.Event, listen: Callable[..., TlsListener] | None = None
    ) -> None:
        super().__init__(config)
        self._stopped = stopped
        self._listen = listen

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen: over TLS by ourselves, because uvicorn lets anybody take as long for that as they like."""
        if self._listen is None or sockets is None:
            await super().startup(sockets)
            return
        state = {"config": self.config, "server_state": self.server_state, "app_state": self.lifespan.state}
        make = partial(self.config.http_protocol_class, **state)
        self.servers = [cast("asyncio.Server", self._listen(bound, make)) for bound in sockets]
        self.started = True

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


@asynccontextmanager
async def listening(now: Running, clock: Clock, new_id: Ids) -> AsyncIterator[ListenAddresses]:
    """Open all listeners for the length of the block. Requests in flight get their time to end."""
    settings, guard = now.settings, now.guard
    ours, theirs = operator_socket(settings.data_dir), agents_socket(settings.data_dir)
    with network_socket(settings) as network, _unix_socket(ours) as operator, _unix_socket(theirs) as agents:
        host, port = settings.address[0], network.getsockname()[1]
        now.listeners.add((ip_address(network.getsockname()[0]), port))
        methods, certificate = Methods(guard), _certificate(settings)
        guard.tls = certificate
        hosts = OwnHosts((host, port), settings.hosts, tls=certificate is not None)
        door, streams = HttpDoor(guard, methods, clock, hosts), StreamDoor(guard, methods, clock)
        api = Api(guard)
        people = network_app(guard, api, hosts, new_id)
        proxies = Proxies(settings.proxies)
        direct = RefuseDirect(people, guard.tallies) if proxies and certificate is None else None
        connect = partial(HttpConnection, door=door, proxies=proxies, direct=direct)
        servers = (
            (http_server(settings, people, connect, certificate), network),
            (http_server(settings, operator_app(guard, api, new_id), OperatorConnection), operator),
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
                        guard.setting_up.console = guard.public_url = settings.public_url or hosts.url
                        yield ListenAddresses(hosts.url, ours, theirs, door, streams, certificate)
                    finally:
                        door.close()
                        for server, _ in servers:
                            server.stop()
                tasks.cancel_scope.cancel()


def http_server(
    settings: Settings,
    app: ASGIApp,
    connection: Callable[..., HttpConnection],
    certificate: TlsCertificate | None = None,
) -> HttpServer:
    """Return a server of one socket, over TLS if it has a certificate."""
    limits, stopped = settings.limits, anyio.Event()
    made = partial(connection, head_seconds=limits.head_seconds, stopped=stopped, places=Places(limits.connections))
    return HttpServer(
        uvicorn.Config(
            app,
            http=cast("type[HttpToolsProtocol]", made),
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
        None
        if certificate is None
        else partial(TlsListener, context=certificate.context, most=limits.connections, seconds=limits.head_seconds),
    )


def _certificate(settings: Settings) -> TlsCertificate | None:
    """Read the certificate of the settings; None without TLS. Raises StoreUnavailable."""
    tls = settings.tls
    if tls.certificate is not None:
        return TlsCertificate(tls.certificate, tls.key or tls.certificate, tls.client_ca)
    if tls.key is not None or tls.client_ca is not None:
        word = "tls.client_ca" if tls.key is None else "tls.key"
        raise StoreUnavailable(f"{word} is set without tls.certificate; set both, or neither")
    return None


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
