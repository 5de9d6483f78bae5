"""The fleet: the servers that are wanted, and the connections to each of them (`succession`).

Rules kept here:
1. Each server has its own task; starting, failing or stopping one delays no other.
2. A server whose declaration changed is stopped before it is started again. A server that is no longer wanted becomes
   unreachable immediately, and is then stopped.
3. Nothing is sent without a permit, which proves that the verdict is stored.
4. A client of the handshake era that supports questions gets a connection in its own era, if the server supports that
   era (`second_connection`).
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import anyio

from mcpguard.domain.calls.counterpart import Counterpart
from mcpguard.domain.calls.records import Permit
from mcpguard.domain.decisions import CapabilityKey
from mcpguard.domain.errors import GuardError
from mcpguard.domain.servers.connections import Condition, ConnectionState
from mcpguard.domain.servers.launches import DeclaredServer, Era
from mcpguard.domain.servers.listings import Listing
from mcpguard.domain.servers.news import ServerRemoved
from mcpguard.upstreams.protocol.calls_in_flight import Overdue
from mcpguard.upstreams.supervise.context import SupervisorContext
from mcpguard.upstreams.supervise.second_connection import SecondConnection
from mcpguard.upstreams.supervise.succession import Succession
from mcpguard.upstreams.supervise.supervisor import Supervisor
from mcpguard.upstreams.supervise.visit import OnStage, visit_server


class Unreachable(GuardError):
    """The server is not connected; nothing was sent."""


@dataclass(frozen=True, slots=True)
class PlaceRequest:
    """A call that needs a slot: its capability, its caller, and the client that gets its messages and questions.

    The client is None for a subscription, which always uses the first connection.
    """

    key: CapabilityKey
    caller: str
    client: Counterpart | None


class Turn(AbstractContextManager["Turn"]):
    """The slot of one call at a server. It was taken already, and is given back at the end of the `with` block."""

    def __init__(self, supervisor: Supervisor, caller: str, seconds: float) -> None:
        self._supervisor = supervisor
        self._caller = caller
        self._seconds = seconds
        self._is_sent = False

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._is_sent and kind is not None and issubclass(kind, (Overdue, anyio.get_cancelled_exc_class())):
            # The caller left the server with an unfinished call, and is charged if that costs a connection
            # (`succession`).
            self._supervisor.unsettled_by.add(self._caller)
        self._supervisor.turns.give_back()

    def send(
        self, _permit: Permit, method: str, params: Mapping[str, Any], counterpart: Counterpart
    ) -> Awaitable[dict[str, Any]]:
        """Send the call. The server's answer has to be awaited. Raises Unreachable, and what `Connection.call`
        raises."""
        if (connection := self._supervisor.connection) is None:
            raise Unreachable
        self._is_sent = True
        return connection.call(method, params, counterpart, self._seconds)

    async def watch(self, _permit: Permit, uri: str, holder: object) -> None:
        """Subscribe to a resource. Returns once the server has agreed; ended by the fleet's `unwatch`.

        Raises ServerError, Overdue or TransportEnded.
        """
        if self._supervisor.connection is None:
            raise Unreachable
        try:
            with anyio.fail_after(self._seconds):
                await self._supervisor.watching.add(uri, holder)
        except TimeoutError:
            raise Overdue from None


class Fleet:
    """The connections to all wanted servers. `run` has to run for anything to happen."""

    def __init__(self, around: SupervisorContext) -> None:
        self._around = around
        self._wanted: dict[str, DeclaredServer] = {}
        self._servers: dict[str, Succession] = {}
        self._seconds: dict[str, SecondConnection] = {}
        self._scopes: dict[str, anyio.CancelScope] = {}
        self._kept: set[str] = set()
        self._start: Callable[[str], object] | None = None

    async def run(self) -> None:
        """Keep the wanted servers connected until cancelled; then all of them are stopped."""
        async with anyio.create_task_group() as tasks:
            self._start = lambda name: tasks.start_soon(self._keep, name, name=f"upstream {name}")
            self._adjust()
            await anyio.sleep_forever()

    def want(self, wanted: Iterable[DeclaredServer]) -> None:
        """Want exactly these servers from now on, as they are declared here."""
        before, self._wanted = self._wanted, {declared.name: declared for declared in wanted if declared.enabled}
        for name, declared in before.items():
            # Any difference counts: a server that was changed in the smallest way must not run as it was approved
            # before.
            if self._wanted.get(name) != declared:
                self._stop(name)
        self._adjust()

    def start_again(self, name: str) -> None:
        """Stop a server and start it again, without the pause that follows a lost connection. Calls wait for it."""
        self._stop(name)

    def restart(self, name: str) -> bool:
        """Make a server's connection anew. Returns whether there is such a server."""
        server = self._servers.get(name)
        if server is not None:
            server.current.restart()
        if (second := self._seconds.get(name)) is not None:
            second.end()
        return server is not None

    def connection_and_listing(self, name: str) -> tuple[bool, Listing | None]:
        """Whether a server is connected, and what it listed on the connection that its calls use, if nothing can have
        changed since."""
        server = self._servers.get(name)
        if server is None or server.current.connection is None:
            return False, None
        upkeep = server.current.upkeep
        return True, upkeep.listing if self._around.clock.monotonic() < upkeep.valid_until else None

    def is_starting(self, name: str) -> bool:
        """Tell whether the server is being connected for the first time since it was declared like this."""
        server = self._servers.get(name)
        return name in self._wanted and (server is None or server.current.condition.state is ConnectionState.STARTING)

    def confirm(self, name: str) -> bool:
        """Have the server listed again, for somebody who waits. Returns whether it is connected."""
        if not self.connection_and_listing(name)[0]:
            return False
        self._servers[name].current.confirm()
        return True

    def roots_changed(self, name: str) -> None:
        """Note that a client of this server has other roots now."""
        if (server := self._servers.get(name)) is not None:
            server.current.roots_changed()
        if (second := self._seconds.get(name)) is not None:
            second.roots_changed()

    async def visit(self, declared: DeclaredServer, at: OnStage) -> Listing:
        """Inspect a server once, whether it is wanted or not. `at` is called with each stage.

        Raises Lost, whose message says what went wrong.
        """
        return await visit_server(declared, self._around, at)

    def condition(self, name: str) -> Condition | None:
        """Return the condition of a server; None for one that is not wanted, and stopped."""
        server = self._servers.get(name)
        if server is not None:
            return server.condition
        return Condition(ConnectionState.STARTING, self._around.clock.now()) if name in self._wanted else None

    def free_turn(self, name: str, caller: str, client: Counterpart | None) -> Turn | None:
        """Take a slot at this server; None where the call may have to wait (`turn`). Raises Unreachable."""
        server = self._servers.get(name)
        if server is None or (connection := server.current.connection) is None:
            raise Unreachable
        supervisor, turns = server.current, server.current.turns
        # None of this concerns a plain call: connections that it caused, or doubt about the one that there is.
        if supervisor.unsettled_by or turns.places == 1 or caller in server.charges:
            return None
        # A client of the handshake era may need another connection (`second_connection`).
        if client is not None and connection.modern and client.era is not Era.MODERN:
            return None
        seconds = server.declared.timeout or self._around.settings.call_seconds
        return Turn(supervisor, caller, seconds) if turns.take_free() else None

    async def turn(self, name: str, call: PlaceRequest) -> Turn:
        """Wait for a slot at this server, and take it. Raises Busy, Unsettling or Unreachable."""
        server, second, client = self._servers.get(name), self._seconds.get(name), call.client
        if server is None or server.current.connection is None:
            raise Unreachable
        supervisor: Supervisor | None = None
        # The second connection first: only there can a client of the handshake era be asked in the middle of a call.
        if second is not None and client is not None and second.serves(client):
            supervisor = await second.place(call.key, call.caller, client)
        supervisor = supervisor or await server.place(call.caller, client)
        if supervisor is None:
            raise Unreachable
        # The connection may have been lost while the call waited for its slot.
        if supervisor.connection is None:
            supervisor.turns.give_back()
            raise Unreachable
        return Turn(supervisor, call.caller, server.declared.timeout or self._around.settings.call_seconds)

    def unwatch(self, name: str, uri: str, holder: object) -> None:
        """End a subscription, if it exists."""
        if (server := self._servers.get(name)) is not None:
            server.current.watching.drop(uri, holder)

    def _stop(self, name: str) -> None:
        """Stop a server. It is started again if it is still wanted then."""
        if name not in self._scopes:
            return
        # Retired before the task is cancelled: stopping takes time, and no call may reach the server meanwhile.
        if (server := self._servers.pop(name, None)) is not None:
            server.retire()
        if (second := self._seconds.pop(name, None)) is not None:
            second.retire()
        self._scopes[name].cancel()

    def _adjust(self) -> None:
        # Called before `run` as well: what is wanted then is started when it runs.
        if self._start is None:
            return
        for name in self._wanted.keys() - self._kept:
            self._kept.add(name)
            self._start(name)

    async def _keep(self, name: str) -> None:
        """Keep the servers that are wanted under one name connected, one after the other."""
        try:
            # What is wanted may have changed while the old server was being stopped: the newest declaration counts.
            while (declared := self._wanted.get(name)) is not None:
                server = self._servers[name] = Succession(declared, self._around)
                second = self._seconds[name] = SecondConnection(declared, self._around, server)
                with anyio.CancelScope() as self._scopes[name]:
                    async with anyio.create_task_group() as tasks:
                        tasks.start_soon(second.run, name=f"second connections to {name}")
                        await server.run()
        finally:
            self._kept.discard(name)
            self._servers.pop(name, None)
            self._seconds.pop(name, None)
            self._scopes.pop(name, None)
            # Reported last: whoever hears of the removal can rely on that no process is left.
            self._around.tell(ServerRemoved(name))
