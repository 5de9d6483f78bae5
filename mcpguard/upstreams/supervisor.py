"""One upstream, kept connected: a task of its own, in which everything of the connection begins and ends.

Rules kept here:
1. Only this task opens and closes the connection, so no request can be caught in the middle of it.
2. After whatever ends a connection there is a pause, longer each time, before the next attempt. Nothing shortens it:
   no call, no person, no configuration that stays the same. Only a connection that held for a while resets it.
3. A connection is ready when it has been agreed on and listed whole. Before and after that no call reaches it.
4. A server that works is not asked for a sign of life: its calls have a time limit of their own.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any

import anyio
import structlog

from mcpguard.domain.clock import Clock
from mcpguard.domain.connections import Condition, ConnectionState
from mcpguard.domain.errors import GuardError
from mcpguard.domain.launches import Declared
from mcpguard.domain.news import Listed, News, Stood
from mcpguard.settings.model import Upstreams
from mcpguard.text.visible import visible
from mcpguard.upstreams.backoff import Backoff, Jitter
from mcpguard.upstreams.connection import Connection
from mcpguard.upstreams.conversation import Conversation, ServerError
from mcpguard.upstreams.listing import ListingBounds
from mcpguard.upstreams.negotiation import negotiate
from mcpguard.upstreams.switchboard import Switchboard
from mcpguard.upstreams.turns import Turns

LONGEST_ERROR = 500
RELIST_SECONDS = 1.0
Reach = Callable[[Declared, Switchboard], AbstractAsyncContextManager[Conversation]]
log = structlog.get_logger("mcpguard.upstreams")


class Lost(GuardError):
    """The connection has to be made anew. Says why."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What every supervisor works with. `us` is what we call ourselves."""

    settings: Upstreams
    clock: Clock
    jitter: Jitter
    reach: Reach
    tell: Callable[[News], None]
    us: Mapping[str, Any]


class Supervisor:
    """Keeps one upstream connected for as long as `run` runs."""

    def __init__(self, declared: Declared, around: Surroundings) -> None:
        self.declared = declared
        self.connection: Connection | None = None
        self.turns = Turns(around.settings.concurrency, around.settings.queue)
        self.condition = Condition(ConnectionState.DISCONNECTED, around.clock.now())
        self._around = around
        self._settings = around.settings
        self._clock = around.clock
        self._backoff = Backoff(self._settings.retry_seconds, self._settings.retry_most_seconds, around.jitter)
        self._list_changed = anyio.Event()
        self._restart = anyio.Event()

    def restart(self) -> None:
        """Connect anew. While it waits for its next attempt it goes on waiting."""
        self._restart.set()

    async def run(self) -> None:
        """Until cancelled."""
        try:
            while True:
                self._stand(ConnectionState.CONNECTING, attempts=self.condition.attempts + 1, next_try=None)
                self._restart = anyio.Event()
                ended = await self._one_connection()
                await self._pause(ended)
        finally:
            self._stand(ConnectionState.DISCONNECTED, next_try=None)

    async def _one_connection(self) -> BaseException | None:
        """Connect and stay connected. Returns what ended it; None if somebody asked for that."""
        ended: BaseException | None = None
        switchboard = Switchboard(self._note_change)
        try:
            async with (
                self._around.reach(self.declared, switchboard) as conversation,
                anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(self._converse, conversation, name=f"conversation with {self.declared.name}")
                connection = await self._ready(conversation, switchboard)
                began = self._clock.monotonic()
                tasks.start_soon(self._check, connection, name=f"health of {self.declared.name}")
                tasks.start_soon(self._keep_listed, connection, name=f"listing of {self.declared.name}")
                try:
                    await self._restart.wait()
                finally:
                    self.connection = None
                    if self._clock.monotonic() - began >= self._settings.retry_most_seconds:
                        self._backoff.reset()
                tasks.cancel_scope.cancel()
        except* GuardError as group:
            ended = _first(group)
        return ended

    async def _converse(self, conversation: Conversation) -> None:
        await conversation.run()
        raise Lost("the server ended the connection")

    async def _ready(self, conversation: Conversation, switchboard: Switchboard) -> Connection:
        seconds = self._settings.connect_seconds
        try:
            with anyio.fail_after(seconds):
                greeting = await negotiate(
                    conversation, self._around.us, self.declared.era, self._settings.probe_seconds
                )
                connection = Connection(conversation, switchboard, greeting, self._around.us)
                await self._list(connection)
        except TimeoutError:
            raise Lost(f"it was not ready within {seconds:g} seconds") from None
        self.connection = connection
        self._stand(ConnectionState.READY, error="", protocol=greeting.version, server=_called(greeting.server))
        return connection

    async def _check(self, connection: Connection) -> None:
        while True:
            await self._clock.sleep(self._settings.health_seconds)
            if self.turns.taken:
                continue
            try:
                with anyio.fail_after(self._settings.health_timeout):
                    await connection.is_there()
            except ServerError:
                continue  # an error is a sign of life too
            except TimeoutError:
                raise Lost(f"it gave no sign of life within {self._settings.health_timeout:g} seconds") from None

    async def _keep_listed(self, connection: Connection) -> None:
        """List again whenever the server says that something changed, but not more often than it makes sense."""
        while True:
            await self._list_changed.wait()
            await self._clock.sleep(RELIST_SECONDS)
            await self._list(connection)

    async def _list(self, connection: Connection) -> None:
        self._list_changed = anyio.Event()  # what changes from here on is listed again
        listing = await connection.listed(ListingBounds(self._settings.list_pages, self._settings.list_entries))
        self._around.tell(Listed(self.declared.name, listing))

    async def _pause(self, ended: BaseException | None) -> None:
        seconds = self._backoff.next()
        error = visible(str(ended))[:LONGEST_ERROR] if ended else ""
        wants_credentials = isinstance(ended, ServerError) and _status(ended) == 401
        self._stand(
            ConnectionState.AUTHENTICATING if wants_credentials else ConnectionState.ERROR,
            error=error or "it is being restarted",
            next_try=self._clock.now() + round(seconds * 1_000_000),
        )
        await self._clock.sleep(seconds)

    def _note_change(self) -> None:
        self._list_changed.set()

    def _stand(self, state: ConnectionState, **facts: Any) -> None:  # noqa: ANN401 - the fields of a Condition
        self.condition = replace(self.condition, state=state, since=self._clock.now(), **facts)
        self._around.tell(Stood(self.declared.name, self.condition))
        log.info("upstream", server=self.declared.name, state=state.value, why=self.condition.error or None)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What went wrong first; the end of the stream that followed from it says less."""
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found


def _called(server: Mapping[str, Any]) -> str:
    name, version = (str(server.get(key, ""))[:100] for key in ("name", "version"))
    return visible(f"{name} {version}".strip())


def _status(error: ServerError) -> int | None:
    match error.error.get("data"):
        case {"status": int(status)}:
            return status
        case _:
            return None
