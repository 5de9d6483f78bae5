"""One upstream, kept connected: a task of its own, in which everything of the connection begins and ends.

Rules kept here:
1. Only this task opens and closes the connection, so no request can be caught in the middle of it.
2. After whatever ends a connection there is a pause, longer each time, before the next attempt. Nothing shortens it:
   no call, no person, no configuration that stays the same. Only a connection that held for a while resets it.
3. A connection is ready when it has been agreed on and listed whole. Before and after that no call reaches it.
4. A server that works is not asked for a sign of life: its calls have a time limit of their own.
5. A server whose list changes is listed again, but never for more than a tenth of the time. Where that fails, what it
   listed before stays, its calls go on, and it is tried again.
6. Whatever a server makes go wrong, in our own code too, ends its connection and nothing else.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any

import anyio
import structlog
from anyio.lowlevel import checkpoint

from mcpguard.domain.clock import Clock
from mcpguard.domain.connections import Condition, ConnectionState
from mcpguard.domain.errors import GuardError
from mcpguard.domain.launches import Declared, Era
from mcpguard.domain.news import Listed, News, Stood, Updated
from mcpguard.domain.upstreams import Transport
from mcpguard.settings.model import Upstreams
from mcpguard.text.visible import visible
from mcpguard.upstreams.backoff import Backoff, Jitter
from mcpguard.upstreams.complaints import sentence, status
from mcpguard.upstreams.connection import Connection
from mcpguard.upstreams.conversation import METHOD_NOT_FOUND, Conversation, ServerError
from mcpguard.upstreams.listing import ListingBounds
from mcpguard.upstreams.negotiation import Shied, negotiate
from mcpguard.upstreams.switchboard import Switchboard
from mcpguard.upstreams.transports.transport import TransportEnded
from mcpguard.upstreams.turns import Turns
from mcpguard.upstreams.watching import Watching

LONGEST_ERROR = 500
RELIST_SECONDS = 1.0
RELIST_SHARE = 9
_UNAUTHORIZED = 401
_NOBODY_THERE = {_UNAUTHORIZED, 502, 503, 504}
"""HTTP statuses that are no sign of life: they come from whoever stands before the server."""
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
        self.turns = Turns(around.settings.concurrency, around.settings.queue)
        self.condition = Condition(ConnectionState.DISCONNECTED, around.clock.now())
        self._around = around
        self._settings = around.settings
        self._clock = around.clock
        self._backoff = self._growing(self._settings.retry_seconds)
        self.watching = Watching(
            around.clock,
            around.settings.health_timeout,
            lambda: self._growing(RELIST_SECONDS),
            around.settings.retry_most_seconds,
            lambda uri: around.tell(Updated(declared.name, uri)),
        )
        self._connection: Connection | None = None
        self._retired = False
        self._shy = False
        self._list_changed = anyio.Event()
        self._restart = anyio.Event()

    @property
    def connection(self) -> Connection | None:
        """What calls may use now."""
        return None if self._retired else self._connection

    def restart(self) -> None:
        """Connect anew. While it waits for its next attempt it goes on waiting."""
        self._restart.set()

    def retire(self) -> None:
        """From this moment on no call reaches the server; its connection is about to be ended."""
        self._retired = True

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

    async def _one_connection(self) -> BaseException:
        """Connect and stay connected. Returns what ended it."""
        ended: BaseException = Lost("it is being restarted")
        shied = False
        seconds = self._settings.connect_seconds
        try:
            with anyio.CancelScope(deadline=anyio.current_time() + seconds) as connecting:
                await self._connected(connecting)
        except* GuardError as group:
            ended, *rest = _leaves(group)
            shied = any(isinstance(each, Shied) for each in (ended, *rest))
        except* Exception as group:
            log.exception("upstream.failed", server=self.declared.name)
            ended = Lost(f"mcpguard failed at this server ({type(next(_leaves(group))).__name__}); its log says how")
        if connecting.cancelled_caught:
            ended = Lost(f"it was not ready within {seconds:g} seconds")
        if connecting.deadline < math.inf:  # it never came to be ready
            self._shy = shied
        return ended

    async def _connected(self, connecting: anyio.CancelScope) -> None:
        """Connect, in the time that `connecting` gives, and stay connected until somebody asks for a restart."""
        switchboard = Switchboard(self._note_change, self.watching.heard)
        name = self.declared.name
        async with (
            self._around.reach(self.declared, switchboard) as conversation,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(_converse, conversation, name=f"conversation with {name}")
            connection = await self._agreed(conversation, switchboard)
            if connection.tells:  # asked for before the first listing, so that nothing changes unheard after it
                tasks.start_soon(self._listen, connection, name=f"news of {name}")
                await checkpoint()
            await self._list(connection)
            connecting.deadline = math.inf
            began = self._clock.monotonic()
            await tasks.start(self.watching.keep, connection, name=f"resources of {name}")
            self._use(connection)
            tasks.start_soon(self._check, connection, name=f"health of {name}")
            tasks.start_soon(self._keep_listed, connection, name=f"listing of {name}")
            try:
                await self._restart.wait()
            finally:
                self._connection = None
                if self._clock.monotonic() - began >= self._settings.retry_most_seconds:
                    self._backoff.reset()
            tasks.cancel_scope.cancel()

    async def _agreed(self, conversation: Conversation, switchboard: Switchboard) -> Connection:
        us, declared = self._around.us, self.declared
        era = Era.LEGACY if self._shy and declared.era is Era.AUTO else declared.era
        greeting = await negotiate(conversation, us, era, self._settings.probe_seconds)
        in_headers = declared.launch.transport is Transport.HTTP
        return Connection(conversation, switchboard, greeting, us, in_headers=in_headers)

    def _use(self, connection: Connection) -> None:
        self._connection = connection
        greeting = connection.greeting
        self._stand(
            ConnectionState.READY, error="", attempts=0, protocol=greeting.version, server=_called(greeting.server)
        )

    async def _check(self, connection: Connection) -> None:
        """Ask for a sign of life from time to time. Raises what shows that there is none."""
        seconds = self._settings.health_timeout
        while True:
            await self._clock.sleep(self._settings.health_seconds)
            if self.turns.taken:
                continue
            try:
                with anyio.fail_after(seconds):
                    await connection.is_there()
            except ServerError as error:
                if status(error) in _NOBODY_THERE:
                    raise
            except TimeoutError:
                raise Lost(f"it gave no sign of life within {seconds:g} seconds") from None

    async def _listen(self, connection: Connection) -> None:
        """Be told of changes. Whenever that was interrupted, something may have changed unheard."""
        pauses = self._growing(RELIST_SECONDS)
        while True:
            began = self._clock.monotonic()
            try:
                await connection.listen()
            except ServerError as error:
                if error.error.get("code") == METHOD_NOT_FOUND:
                    return
                log.debug("upstream.unheard", server=self.declared.name, why=sentence(error))
            except TransportEnded as error:
                log.debug("upstream.unheard", server=self.declared.name, why=str(error))
            if self._clock.monotonic() - began >= self._settings.retry_most_seconds:
                pauses.reset()
            await self._clock.sleep(pauses.next())
            self._note_change()

    async def _keep_listed(self, connection: Connection) -> None:
        """List again when the server says that something changed."""
        seconds, most = self._settings.connect_seconds, self._settings.retry_most_seconds
        failing, pause = self._growing(RELIST_SECONDS), RELIST_SECONDS
        while True:
            await self._list_changed.wait()
            await self._clock.sleep(pause)
            began = self._clock.monotonic()
            try:
                with anyio.fail_after(seconds):
                    await self._list(connection)
            except (GuardError, TimeoutError) as error:
                why = sentence(error) if isinstance(error, GuardError) else f"it took more than {seconds:g} seconds"
                self._complain(f"what it offers could not be listed again: {why}")
                self._list_changed.set()
                pause = failing.next()
            else:
                self._complain("")
                failing.reset()
                pause = max(RELIST_SECONDS, min(RELIST_SHARE * (self._clock.monotonic() - began), most))

    async def _list(self, connection: Connection) -> None:
        settings = self._settings
        self._list_changed = anyio.Event()  # what changes from here on is listed again
        bounds = ListingBounds(settings.list_pages, settings.list_entries, settings.message_bytes)
        self._around.tell(Listed(self.declared.name, await connection.listed(bounds)))

    async def _pause(self, ended: BaseException) -> None:
        seconds = self._backoff.next()
        wants_credentials = isinstance(ended, ServerError) and status(ended) == _UNAUTHORIZED
        self._stand(
            ConnectionState.AUTHENTICATING if wants_credentials else ConnectionState.ERROR,
            error=_fit(sentence(ended)),
            next_try=self._clock.now() + round(seconds * 1_000_000),
        )
        await self._clock.sleep(seconds)

    def _growing(self, first: float) -> Backoff:
        return Backoff(first, self._settings.retry_most_seconds, self._around.jitter)

    def _note_change(self) -> None:
        self._list_changed.set()

    def _complain(self, error: str) -> None:
        """Something is wrong, or no longer, with a server that is ready all the same."""
        if _fit(error) != self.condition.error:
            self._say(replace(self.condition, error=_fit(error)))

    def _stand(self, state: ConnectionState, **facts: Any) -> None:  # noqa: ANN401 - the fields of a Condition
        self._say(replace(self.condition, state=state, since=self._clock.now(), **facts))

    def _say(self, condition: Condition) -> None:
        self.condition = condition
        self._around.tell(Stood(self.declared.name, condition))
        log.info("upstream", server=self.declared.name, state=condition.state.value, why=condition.error or None)


async def _converse(conversation: Conversation) -> None:
    await conversation.run()
    await conversation.request("ping")  # nobody is there any more: this raises, and says why
    raise Lost("the server ended the connection")


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """What went wrong, in the order in which it did; what followed from the first says less."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _leaves(each)
    else:
        yield error


def _fit(error: str) -> str:
    return visible(error)[:LONGEST_ERROR]


def _called(server: Mapping[str, Any]) -> str:
    """What a server calls itself."""
    said = (server.get(key) for key in ("name", "version"))
    return visible(" ".join(text[:100] for text in said if isinstance(text, str)).strip())
