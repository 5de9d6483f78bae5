"""Keeps one server connected, in a single task that owns the connection from beginning to end.

Rules kept here:
1. Only this task opens and closes the connection, so no request meets a half-open or half-closed one.
2. After every end of a connection there is a pause before the next attempt, longer each time. Nothing shortens it: no
   call, no user, no unchanged configuration. Only a connection that lasted for a while resets it.
3. A connection is ready once it is negotiated and completely listed. Before and after that it carries no calls.
4. Any error that a server causes, even inside the guard's code, ends only that server's connection.
5. Until the first attempt has succeeded or failed the server counts as starting; calls may wait for the result.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import anyio
import structlog
from anyio.abc import TaskStatus

from mcpguard.domain.asks import AskKind
from mcpguard.domain.errors import GuardError
from mcpguard.domain.servers.connections import Condition, ConnectionState
from mcpguard.domain.servers.launches import DeclaredServer, Era
from mcpguard.domain.servers.news import ConnectionChanged, LaunchAltered, ResourceUpdated
from mcpguard.domain.servers.upstreams import Transport
from mcpguard.text.visible import visible
from mcpguard.upstreams.exchange.conversation import Conversation, ServerError, StandingRequest
from mcpguard.upstreams.launch.start import AnotherProgram
from mcpguard.upstreams.protocol.calls_in_flight import CallSlots
from mcpguard.upstreams.protocol.connection import Connection
from mcpguard.upstreams.protocol.error_sentences import error_sentence, http_status, leaves
from mcpguard.upstreams.protocol.negotiation import ProbeRefused, negotiate, our_greeting, server_title
from mcpguard.upstreams.protocol.switchboard import Switchboard
from mcpguard.upstreams.supervise.context import ConnectionLost, SupervisorContext, converse
from mcpguard.upstreams.supervise.takeover import TakingOver
from mcpguard.upstreams.supervise.upkeep import RELIST_SECONDS, Upkeep
from mcpguard.upstreams.supervise.watching.watching import Watching
from mcpguard.upstreams.transports.http_replies import UNAUTHORIZED

LONGEST_ERROR = 500
LISTEN_SECONDS = 1.0
"""How long to wait for a server to acknowledge that it reports changes, before it is listed anyway."""
log = structlog.get_logger("mcpguard.upstreams")


class Supervisor:
    """Keeps one server connected for as long as `run` runs."""

    def __init__(
        self,
        declared: DeclaredServer,
        around: SupervisorContext,
        unclear: Callable[[], None],
        watching: Watching | None = None,
        taking_over: TakingOver | None = None,
    ) -> None:
        """`unclear` is called when a question of the server cannot be attributed. `watching` is that of the connection
        that this one replaces."""
        self.declared = declared
        self.turns = CallSlots(around.settings.concurrency, around.settings.queue)
        self.condition = Condition(ConnectionState.STARTING, around.clock.now())
        self._around, self._settings, self._clock = around, around.settings, around.clock
        self._backoff = around.growing(self._settings.retry_seconds)
        self.unsettled_by: set[str] = set()
        """The callers that cancelled a call, or did not wait for its end, since the server was last free of doubt."""
        self.watching = watching or Watching(
            around.clock,
            around.settings.health_timeout,
            lambda: around.growing(RELIST_SECONDS),
            around.settings.retry_most_seconds,
            lambda uri: around.tell(ResourceUpdated(declared.name, uri)),
        )
        self.connection: Connection | None = None
        """The connection that calls may use."""
        self._connection: Connection | None = None
        self._taking_over, self._unclear = taking_over, unclear
        self._asks = False
        self._retired = self._left = False
        self._watched, self._unwatched = anyio.CancelScope(), anyio.Event()
        self._running, self._ended = anyio.CancelScope(), anyio.Event()
        self._shy = False
        self._restart = anyio.Event()
        self.upkeep = Upkeep(declared, around, self.turns, self._complain)

    @property
    def is_unsettled(self) -> bool:
        """Whether the server gets one call at a time, and may still be working on a cancelled one."""
        one_at_a_time = self._asks and self.turns.places == 1
        return one_at_a_time and self.connection is not None and self.connection.in_doubt

    def restart(self) -> None:
        """Connect anew. A pause before the next attempt goes on."""
        self._restart.set()

    def confirm(self) -> None:
        """List the server again, because somebody waits for that."""
        self.upkeep.confirm()

    def roots_changed(self) -> None:
        """Note that a client of this server has other roots now."""
        self.upkeep.roots_changed()

    def retire(self) -> None:
        """Let no call reach the server from now on; its connection is about to be closed."""
        self._retired = True
        self.connection = None

    def clear_doubt(self) -> None:
        """Connect anew once the server is idle, if it may still be working on a cancelled call."""
        self.upkeep.unclear()

    async def unwatch(self) -> None:
        """End the subscriptions, and return once another connection may take them over."""
        if self._connection is None:
            self.end()
            await self._ended.wait()
        else:
            self._watched.cancel()
            await self._unwatched.wait()

    def leave(self) -> None:
        """Carry no further call, and close after the last one."""
        self._left = True
        self.retire()
        self.turns.send_away()
        self._restart.set()
        if self._connection is None:
            self.end()

    def end(self) -> None:
        """Close the connection at once, whatever is in progress."""
        self._left = True
        self._running.cancel()

    async def run(self) -> None:
        """Keep the server connected until `leave` or `end`, or until cancelled."""
        with self._running:
            await self._run()
        self._ended.set()

    async def _run(self) -> None:
        state = ConnectionState.STARTING
        try:
            while not self._left:
                self._stand(state, attempts=self.condition.attempts + 1, next_try=None)
                state = ConnectionState.CONNECTING
                self._restart = anyio.Event()
                ended = await self._one_connection()
                if isinstance(ended, AnotherProgram):
                    self._around.tell(LaunchAltered(self.declared.name, self.declared))
                if not self._left:
                    await self._pause(ended)
        finally:
            if not self._left:
                self._stand(ConnectionState.DISCONNECTED, next_try=None)

    async def _one_connection(self) -> BaseException:
        """Connect and stay connected. Returns the error that ended the connection."""
        ended: BaseException = ConnectionLost("the server is being restarted")
        shied = False
        seconds = self._settings.connect_seconds
        try:
            with anyio.CancelScope(deadline=anyio.current_time() + seconds) as connecting:
                await self._connected(connecting)
        except* GuardError as group:
            all_of_it = tuple(leaves(group))
            ended = next((each for each in all_of_it if isinstance(each, AnotherProgram)), all_of_it[0])
            shied = any(isinstance(each, ProbeRefused) for each in all_of_it)
        except* Exception as group:
            log.exception("upstream.failed", server=self.declared.name)
            ended = ConnectionLost(f"internal error in mcpguard ({type(next(leaves(group))).__name__}); see its log")
        if connecting.cancelled_caught:
            ended = ConnectionLost(f"the server was not ready within {seconds:g} seconds")
        if connecting.deadline < math.inf:  # it never became ready
            self._shy = shied
        return ended

    async def _connected(self, connecting: anyio.CancelScope) -> None:
        """Connect within the deadline of `connecting`, and stay connected until a restart is requested."""
        name = self.declared.name
        may_ask = self._around.may_ask(name)
        self._asks = bool(may_ask)
        switchboard = Switchboard(
            name,
            self.turns,
            self.upkeep.lists_changed,
            self.watching.take_update,
            self._unclear,
            may_ask=self._asks,
        )
        async with (
            self._around.reach(self.declared, switchboard) as conversation,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(converse, conversation, name=f"conversation with {name}")
            connection = await self._agreed(conversation, switchboard, may_ask)
            # Listening begins before the first listing: a change between the two would otherwise go unnoticed.
            if connection.tells:
                standing = StandingRequest()
                tasks.start_soon(self.upkeep.listen, connection, standing, name=f"news of {name}")
                with anyio.move_on_after(LISTEN_SECONDS):
                    await standing.acknowledged.wait()
            await self.upkeep.list(connection)
            connecting.deadline = math.inf
            if self._taking_over is not None:
                await self._taking_over.before()
            await self._in_use(connection)
            if self._left:
                await switchboard.idle()
            tasks.cancel_scope.cancel()

    async def _in_use(self, connection: Connection) -> None:
        """Let calls use the connection until a restart is requested, or until another connection replaces it."""
        name, began = self.declared.name, self._clock.monotonic()
        async with anyio.create_task_group() as tasks:
            await tasks.start(self._watch, connection, name=f"resources of {name}")
            self._use(connection)
            tasks.start_soon(self.upkeep.check, connection, name=f"health of {name}")
            tasks.start_soon(self.upkeep.keep_listed, connection, name=f"listing of {name}")
            tasks.start_soon(self.upkeep.sweep, name=f"sweeps of {name}")
            tasks.start_soon(self.upkeep.tell_of_roots, connection, name=f"roots for {name}")
            tasks.start_soon(self._clear_doubt, connection, name=f"doubt about {name}")
            try:
                await self._restart.wait()
            finally:
                self._connection = self.connection = None
                if self._clock.monotonic() - began >= self._settings.retry_most_seconds:
                    self._backoff.reset()
            tasks.cancel_scope.cancel()

    async def _watch(self, connection: Connection, *, task_status: TaskStatus[None]) -> None:
        try:
            with anyio.CancelScope() as self._watched:
                await self.watching.keep(connection, task_status=task_status)
        finally:
            self._unwatched.set()

    async def _clear_doubt(self, connection: Connection) -> None:
        try:
            await self.upkeep.clear_doubt(connection)
        finally:
            # Before any other task runs: a call that waited for this slot must find no connection and send nothing.
            self._connection = self.connection = None

    async def _agreed(
        self, conversation: Conversation, switchboard: Switchboard, may_ask: frozenset[AskKind]
    ) -> Connection:
        declared = self.declared
        era = Era.LEGACY if self._shy and declared.era is Era.AUTO else declared.era
        said = our_greeting(self._around.us, may_ask)
        greeting = await negotiate(conversation, said, era, self._settings.probe_seconds)
        over_http = declared.launch.transport is Transport.HTTP
        # Nothing on a stream says which call a question belongs to, and it must not reach another caller's user.
        one_at_a_time = greeting.era is Era.LEGACY and not over_http and bool(may_ask)
        self.turns.limit(1 if one_at_a_time else self._settings.concurrency)
        return Connection(conversation, switchboard, greeting, said.info, in_headers=over_http)

    def _use(self, connection: Connection) -> None:
        self._connection = connection
        self.connection = None if self._retired else connection
        if self._taking_over is not None:
            self._taking_over.now()
            self._taking_over = None
        greeting = connection.greeting
        self._stand(
            ConnectionState.READY, error="", attempts=0, protocol=greeting.version, server=server_title(greeting.server)
        )

    async def _pause(self, ended: BaseException) -> None:
        seconds = self._backoff.next()
        wants_credentials = isinstance(ended, ServerError) and http_status(ended) == UNAUTHORIZED
        self._stand(
            ConnectionState.AUTHENTICATING if wants_credentials else ConnectionState.ERROR,
            error=_fit(error_sentence(ended)),
            next_try=self._clock.now() + round(seconds * 1_000_000),
        )
        await self._clock.sleep(seconds)

    def _complain(self, error: str) -> None:
        """Report a problem of a server that is ready all the same; an empty text says that it is solved."""
        if _fit(error) != self.condition.error:
            self._say(replace(self.condition, error=_fit(error)))

    def _stand(self, state: ConnectionState, **facts: Any) -> None:  # noqa: ANN401 - the fields of a Condition
        self._say(replace(self.condition, state=state, since=self._clock.now(), **facts))

    def _say(self, condition: Condition) -> None:
        self.condition = condition
        self._around.tell(ConnectionChanged(self.declared.name, condition))
        log.info("upstream", server=self.declared.name, state=condition.state.value, why=condition.error or None)


def _fit(error: str) -> str:
    return visible(error)[:LONGEST_ERROR]
