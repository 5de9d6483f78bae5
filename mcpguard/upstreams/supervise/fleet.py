"""The fleet: which upstreams are wanted, and the connections to each of them (`succession`).

Rules kept here:
1. Each upstream has a task of its own; starting, failing or stopping one delays no other.
2. What changed is stopped before it is started anew. What is no longer wanted is unreachable at once, and then stopped.
3. Nothing is sent without a permit, which shows that the verdict is stored.
4. A client of the handshake era that can be asked gets a connection in its own era, where the server has one
   (`second_connection`).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import anyio

from mcpguard.domain.calls.counterpart import Counterpart
from mcpguard.domain.calls.records import Permit
from mcpguard.domain.decisions import CapabilityKey
from mcpguard.domain.errors import GuardError
from mcpguard.domain.servers.connections import Condition, ConnectionState
from mcpguard.domain.servers.launches import DeclaredServer
from mcpguard.domain.servers.listings import Listing
from mcpguard.domain.servers.news import ServerRemoved
from mcpguard.upstreams.protocol.calls_in_flight import Overdue
from mcpguard.upstreams.supervise.context import SupervisorContext
from mcpguard.upstreams.supervise.second_connection import SecondConnection
from mcpguard.upstreams.supervise.succession import Succession
from mcpguard.upstreams.supervise.supervisor import Supervisor
from mcpguard.upstreams.supervise.visit import At, visited


class Unreachable(GuardError):
    """There is no connection to the server now; nothing was sent."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A call that wants a place: of which capability, who makes it, and which client is told and asked what belongs to
    it; None for a subscription, which is kept at one place."""

    key: CapabilityKey
    caller: str
    client: Counterpart | None


class Turn:
    """A place at a server, for one call. `async with` waits for it; raises Busy, Unsettling or Unreachable.

    `second` is the server's other connection, where a call of `key` is better made over that one.
    """

    def __init__(
        self, server: Succession | None, seconds: float, second: SecondConnection | None, call: Placed
    ) -> None:
        self._server = server
        self._seconds = seconds
        self._second = second
        self._call = call
        self._supervisor: Supervisor | None = None

    async def __aenter__(self) -> Self:
        if self._server is None or self._server.connection is None:
            raise Unreachable
        self._supervisor = await self._over_second() or await self._over(self._server)
        if self._supervisor is None:
            raise Unreachable
        return self

    async def _over(self, server: Succession) -> Supervisor | None:
        server.check(self._call.caller)
        return await server.place(self._call.client)

    async def _over_second(self) -> Supervisor | None:
        """The second connection with a place at it, if it lists what is called as the first one does."""
        if self._second is None or (other := await self._second.carrying(self._call.key)) is None:
            return None
        supervisor = await self._over(other)
        if supervisor is None or self._second.carries(self._call.key):
            return supervisor
        await supervisor.turns.__aexit__(None, None, None)  # the server listed something else while it waited
        return None

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._supervisor is not None:
            await self._supervisor.turns.__aexit__(kind, error, trace)

    def reachable(self) -> None:
        """Raises Unreachable if the connection was lost while the call waited for its place."""
        if self._supervisor is None or self._supervisor.connection is None:
            raise Unreachable

    async def send(
        self, _permit: Permit, method: str, params: Mapping[str, Any], counterpart: Counterpart
    ) -> dict[str, Any]:
        """What the server answers. Raises what the connection's `call` does."""
        if self._supervisor is None or (connection := self._supervisor.connection) is None:
            raise Unreachable
        try:
            return await connection.call(method, params, counterpart, self._seconds)
        except (Overdue, anyio.get_cancelled_exc_class()):
            self._supervisor.unsettled_by.add(self._call.caller)
            raise

    async def watch(self, _permit: Permit, uri: str, holder: object) -> None:
        """Returns when the server tells of changes to this resource, and goes on telling until the fleet's `unwatch`.

        Raises ServerError, Overdue or TransportEnded.
        """
        if self._supervisor is None or self._supervisor.connection is None:
            raise Unreachable
        try:
            with anyio.fail_after(self._seconds):
                await self._supervisor.watching.add(uri, holder)
        except TimeoutError:
            raise Overdue from None


class Fleet:
    """All upstreams. `run` has to run for anything to happen."""

    def __init__(self, around: SupervisorContext) -> None:
        self._around = around
        self._wanted: dict[str, DeclaredServer] = {}
        self._servers: dict[str, Succession] = {}
        self._seconds: dict[str, SecondConnection] = {}
        self._scopes: dict[str, anyio.CancelScope] = {}
        self._kept: set[str] = set()
        self._start: Callable[[str], object] | None = None

    async def run(self) -> None:
        """Keep what is wanted, until cancelled; then everything is stopped."""
        async with anyio.create_task_group() as tasks:
            self._start = lambda name: tasks.start_soon(self._keep, name, name=f"upstream {name}")
            self._adjust()
            await anyio.sleep_forever()

    def want(self, wanted: Iterable[DeclaredServer]) -> None:
        """From now on these are wanted, as they stand here, and no others."""
        before, self._wanted = self._wanted, {declared.name: declared for declared in wanted if declared.enabled}
        for name, declared in before.items():
            if self._wanted.get(name) != declared and name in self._scopes:
                if (server := self._servers.pop(name, None)) is not None:
                    server.retire()
                if (second := self._seconds.pop(name, None)) is not None:
                    second.retire()
                self._scopes[name].cancel()
        self._adjust()

    def restart(self, name: str) -> bool:
        """Whether there is such a server; its connection is made anew."""
        server = self._servers.get(name)
        if server is not None:
            server.current.restart()
        if (second := self._seconds.get(name)) is not None:
            second.end()
        return server is not None

    def in_force(self, name: str) -> Listing | None:
        """What this server listed on the connection that its calls use, if nothing can have changed since."""
        server = self._servers.get(name)
        return server.in_force() if server else None

    def is_connected(self, name: str) -> bool:
        server = self._servers.get(name)
        return server is not None and server.connection is not None

    def is_starting(self, name: str) -> bool:
        """Whether it is being connected for the first time since it is wanted as it is declared."""
        server = self._servers.get(name)
        return name in self._wanted and (server is None or server.condition.state is ConnectionState.STARTING)

    def confirm(self, name: str) -> bool:
        """Have it listed again, for somebody who waits. Whether it is connected at all."""
        if not self.is_connected(name):
            return False
        self._servers[name].current.confirm()
        return True

    def roots_changed(self, name: str) -> None:
        """Somebody who uses this server has other roots now."""
        if (server := self._servers.get(name)) is not None:
            server.current.roots_changed()
        if (second := self._seconds.get(name)) is not None:
            second.roots_changed()

    async def visit(self, declared: DeclaredServer, at: At) -> Listing:
        """Look at a server once, whether it is wanted or not; `at` hears how far that has come.

        Raises Lost, which says what went wrong.
        """
        return await visited(declared, self._around, at)

    def conditions(self) -> dict[str, Condition]:
        """Of each that is wanted, or not stopped yet."""
        about_to_start = Condition(ConnectionState.STARTING, self._around.clock.now())
        conditions = {name: server.condition for name, server in self._servers.items()}
        return {name: conditions.get(name, about_to_start) for name in sorted(self._wanted.keys() | conditions.keys())}

    def turn(self, name: str, call: Placed) -> Turn:
        """A place at this server for this call, to be taken with `async with`."""
        server, second, client = self._servers.get(name), self._seconds.get(name), call.client
        own = server.declared.timeout if server else None
        wanted = second if second is not None and client is not None and second.serves(client) else None
        return Turn(server, own or self._around.settings.call_seconds, wanted, call)

    def unwatch(self, name: str, uri: str, holder: object) -> None:
        """End a subscription, if there is one."""
        if (server := self._servers.get(name)) is not None:
            server.current.watching.drop(uri, holder)

    def _adjust(self) -> None:
        if self._start is None:
            return
        for name in self._wanted.keys() - self._kept:
            self._kept.add(name)
            self._start(name)

    async def _keep(self, name: str) -> None:
        """One name: what is wanted under it, one after the other."""
        try:
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
            self._around.tell(ServerRemoved(name))
