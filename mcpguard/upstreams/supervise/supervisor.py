"""One upstream, kept connected: a task of its own, in which everything of the connection begins and ends.

Rules kept here:
1. Only this task opens and closes the connection, so no request can be caught in the middle of it.
2. After whatever ends a connection there is a pause, longer each time, before the next attempt. Nothing shortens it:
   no call, no person, no configuration that stays the same. Only a connection that held for a while resets it.
3. A connection is ready when it has been agreed on and listed whole. Before and after that no call reaches it.
4. Whatever a server makes go wrong, in our own code too, ends its connection and nothing else.
5. Until the first attempt has succeeded or failed the server is starting; calls may wait for that.
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
from mcpguard.domain.servers.listings import Listing
from mcpguard.domain.servers.news import ConnectionChanged, LaunchAltered, ResourceUpdated
from mcpguard.domain.servers.upstreams import Transport
from mcpguard.text.visible import visible
from mcpguard.upstreams.exchange.conversation import Conversation, ServerError, StandingRequest
from mcpguard.upstreams.launch.start import AnotherProgram
from mcpguard.upstreams.protocol.agreement import called, us
from mcpguard.upstreams.protocol.call_slots import CallSlots
from mcpguard.upstreams.protocol.connection import Connection
from mcpguard.upstreams.protocol.error_sentences import leaves, sentence, status
from mcpguard.upstreams.protocol.negotiation import Shied, negotiate
from mcpguard.upstreams.protocol.switchboard import Switchboard
from mcpguard.upstreams.supervise.context import Lost, SupervisorContext, converse
from mcpguard.upstreams.supervise.takeover import TakingOver
from mcpguard.upstreams.supervise.upkeep import RELIST_SECONDS, Upkeep
from mcpguard.upstreams.supervise.watching.watching import Watching
from mcpguard.upstreams.transports.http_replies import UNAUTHORIZED

LONGEST_ERROR = 500
LISTEN_SECONDS = 1.0
"""For a server to say that it will tell of changes, before it is listed all the same."""
log = structlog.get_logger("mcpguard.upstreams")


class Supervisor:
    """Keeps one upstream connected for as long as `run` runs."""

    def __init__(
        self,
        declared: DeclaredServer,
        around: SupervisorContext,
        unclear: Callable[[], None],
        watching: Watching | None = None,
        taking_over: TakingOver | None = None,
    ) -> None:
        """`unclear` hears when the server asks and nobody can tell for whom. `watching`: that of the connection whose
        place this one takes."""
        self.declared = declared
        self.turns = CallSlots(around.settings.concurrency, around.settings.queue)
        self.condition = Condition(ConnectionState.STARTING, around.clock.now())
        self._around, self._settings, self._clock = around, around.settings, around.clock
        self._backoff = around.growing(self._settings.retry_seconds)
        self.unsettled_by: set[str] = set()
        """The callers that took a call back, or did not wait for its end, since it was known to be at none of those."""
        self.watching = watching or Watching(
            around.clock,
            around.settings.health_timeout,
            lambda: around.growing(RELIST_SECONDS),
            around.settings.retry_most_seconds,
            lambda uri: around.tell(ResourceUpdated(declared.name, uri)),
        )
        self._connection: Connection | None = None
        self._taking_over, self._unclear = taking_over, unclear
        self._asks = False
        self._retired = self._left = False
        self._watched, self._unwatched = anyio.CancelScope(), anyio.Event()
        self._running, self._ended = anyio.CancelScope(), anyio.Event()
        self._shy = False
        self._restart = anyio.Event()
        self._upkeep = Upkeep(declared, around, self.turns, self._complain)

    @property
    def connection(self) -> Connection | None:
        """What calls may use."""
        return None if self._retired else self._connection

    @property
    def is_unsettled(self) -> bool:
        """Whether it works on one call at a time so that it is known for whom it asks, and may still be at one that was
        taken back."""
        one_at_a_time = self._asks and self.turns.places == 1
        return one_at_a_time and self.connection is not None and self.connection.in_doubt

    def restart(self) -> None:
        """Connect anew. While it waits for its next attempt it goes on waiting."""
        self._restart.set()

    def in_force(self) -> Listing | None:
        """What the connection that calls may use has listed, if nothing can have changed since."""
        return None if self.connection is None else self._upkeep.in_force()

    def confirm(self) -> None:
        """Somebody waits for what the server lists now."""
        self._upkeep.confirm()

    def roots_changed(self) -> None:
        """Somebody who uses this server has other roots now."""
        self._upkeep.roots_changed()

    def retire(self) -> None:
        """From this moment on no call reaches the server; its connection is about to be ended."""
        self._retired = True

    def clear_doubt(self) -> None:
        """Connect anew when it has nothing to do, if it still may be at a call that was taken back."""
        self._upkeep.unclear()

    async def unwatch(self) -> None:
        """Returns when another connection may watch what this one did."""
        if self._connection is None:
            self.end()
            await self._ended.wait()
        else:
            self._watched.cancel()
            await self._unwatched.wait()

    def leave(self) -> None:
        """Carry no further call, and end with the last one."""
        self._retired = self._left = True
        self.turns.send_away()
        self._restart.set()
        if self._connection is None:
            self.end()

    def end(self) -> None:
        """End it, whatever is under way."""
        self._left = True
        self._running.cancel()

    async def run(self) -> None:
        """Until it has been left, or is ended or cancelled."""
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
        """Connect and stay connected. Returns what ended it."""
        ended: BaseException = Lost("it is being restarted")
        shied = False
        seconds = self._settings.connect_seconds
        try:
            with anyio.CancelScope(deadline=anyio.current_time() + seconds) as connecting:
                await self._connected(connecting)
        except* GuardError as group:
            all_of_it = tuple(leaves(group))
            ended = next((each for each in all_of_it if isinstance(each, AnotherProgram)), all_of_it[0])
            shied = any(isinstance(each, Shied) for each in all_of_it)
        except* Exception as group:
            log.exception("upstream.failed", server=self.declared.name)
            ended = Lost(f"mcpguard failed at this server ({type(next(leaves(group))).__name__}); its log says how")
        if connecting.cancelled_caught:
            ended = Lost(f"it was not ready within {seconds:g} seconds")
        if connecting.deadline < math.inf:  # it never came to be ready
            self._shy = shied
        return ended

    async def _connected(self, connecting: anyio.CancelScope) -> None:
        """Connect, in the time that `connecting` gives, and stay connected until somebody asks for a restart."""
        name = self.declared.name
        may_ask = self._around.may_ask(name)
        self._asks = bool(may_ask)
        switchboard = Switchboard(
            name,
            self.turns,
            self._upkeep.lists_changed,
            self.watching.heard,
            self._unclear,
            may_ask=self._asks,
        )
        async with (
            self._around.reach(self.declared, switchboard) as conversation,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(converse, conversation, name=f"conversation with {name}")
            connection = await self._agreed(conversation, switchboard, may_ask)
            if connection.tells:  # asked for before the first listing, so that nothing changes unheard after it
                standing = StandingRequest()
                tasks.start_soon(self._upkeep.listen, connection, standing, name=f"news of {name}")
                with anyio.move_on_after(LISTEN_SECONDS):
                    await standing.acknowledged.wait()
            await self._upkeep.list(connection)
            connecting.deadline = math.inf
            if self._taking_over is not None:
                await self._taking_over.before()
            await self._in_use(connection)
            if self._left:
                await switchboard.idle()
            tasks.cancel_scope.cancel()

    async def _in_use(self, connection: Connection) -> None:
        """Until somebody asks for a restart, or another connection is to take the place of this one."""
        name, began = self.declared.name, self._clock.monotonic()
        async with anyio.create_task_group() as tasks:
            await tasks.start(self._watch, connection, name=f"resources of {name}")
            self._use(connection)
            tasks.start_soon(self._upkeep.check, connection, name=f"health of {name}")
            tasks.start_soon(self._upkeep.keep_listed, connection, name=f"listing of {name}")
            tasks.start_soon(self._upkeep.sweep, name=f"sweeps of {name}")
            tasks.start_soon(self._upkeep.tell_of_roots, connection, name=f"roots for {name}")
            tasks.start_soon(self._clear_doubt, connection, name=f"doubt about {name}")
            try:
                await self._restart.wait()
            finally:
                self._connection = None
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
            await self._upkeep.clear_doubt(connection)
        finally:
            self._connection = None  # whoever waited for the place that this had must not send anything any more

    async def _agreed(
        self, conversation: Conversation, switchboard: Switchboard, may_ask: frozenset[AskKind]
    ) -> Connection:
        declared = self.declared
        era = Era.LEGACY if self._shy and declared.era is Era.AUTO else declared.era
        said = us(self._around.us, may_ask)
        greeting = await negotiate(conversation, said, era, self._settings.probe_seconds)
        over_http = declared.launch.transport is Transport.HTTP
        # Nothing on a stream says for which of our calls a server asks. With one at a time it is that one.
        one_at_a_time = greeting.era is Era.LEGACY and not over_http and bool(may_ask)
        self.turns.limit(1 if one_at_a_time else self._settings.concurrency)
        return Connection(conversation, switchboard, greeting, said.info, in_headers=over_http)

    def _use(self, connection: Connection) -> None:
        self._connection = connection
        if self._taking_over is not None:
            self._taking_over.now()
            self._taking_over = None
        greeting = connection.greeting
        self._stand(
            ConnectionState.READY, error="", attempts=0, protocol=greeting.version, server=called(greeting.server)
        )

    async def _pause(self, ended: BaseException) -> None:
        seconds = self._backoff.next()
        wants_credentials = isinstance(ended, ServerError) and status(ended) == UNAUTHORIZED
        self._stand(
            ConnectionState.AUTHENTICATING if wants_credentials else ConnectionState.ERROR,
            error=_fit(sentence(ended)),
            next_try=self._clock.now() + round(seconds * 1_000_000),
        )
        await self._clock.sleep(seconds)

    def _complain(self, error: str) -> None:
        """Something is wrong, or no longer, with a server that is ready all the same."""
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
