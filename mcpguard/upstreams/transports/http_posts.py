"""Messages that want no answer: notifications, and our answers to what the server asked.

Rules kept here:
1. Each is on its way in a task of its own, for a while and no longer, so one that hangs holds up nothing.
2. There are never more than a number of them; what would be more is dropped and counted.
"""

from collections.abc import Callable

import anyio
import structlog
from anyio.abc import TaskGroup

from mcpguard.codec.messages import Message, Notification, write
from mcpguard.upstreams.exchange.conversation import Counts
from mcpguard.upstreams.exchange.endings import SessionLost, Unanswered, Unsayable
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.transports.http_headers import Heading
from mcpguard.upstreams.transports.http_pool import HttpPool
from mcpguard.upstreams.transports.http_replies import EVENTS, NOT_FOUND, Reply

MOST = 64
LITTLE = 65_536
MOST_DRAINED = 16
log = structlog.get_logger("mcpguard.upstreams")


class Posts:
    """What is on its way to one server."""

    def __init__(
        self,
        pool: HttpPool,
        heading: Heading,
        tasks: TaskGroup,
        counts: Counts,
        on_lost: Callable[[SessionLost], None],
    ) -> None:
        self._pool = pool
        self._heading = heading
        self._tasks = tasks
        self._counts = counts
        self._on_lost = on_lost
        self._on_their_way = 0
        self._draining = 0

    def send_soon(self, message: Message, seconds: float, *, whatever_happens: bool = False) -> None:
        """Send without waiting; with `whatever_happens` also when everything ends in the meantime."""
        if self._on_their_way >= MOST:
            self._counts.dropped += 1
        elif not self._tasks.cancel_scope.cancel_called:
            self._on_their_way += 1
            self._tasks.start_soon(self._send_in_time, message, seconds, whatever_happens, name="message to a server")

    async def send(self, message: Message, seconds: float) -> None:
        """Send, and return when it was taken or the time is over. Raises TransportEnded when nobody is there."""
        try:
            body = write(message)
        except UnicodeEncodeError as error:
            raise Unsayable("half a character cannot be sent") from error
        headers = (
            self._heading.asking(message.method, message.params)
            if isinstance(message, Notification)
            else self._heading.answering()
        )
        with anyio.move_on_after(seconds):
            async with await self._pool.send("POST", headers, body) as reply:
                await self._look_at(reply)

    def look_for_loss(self, reply: Reply) -> None:
        """Raises SessionLost, and ends everything, if this is how a server says that it has forgotten the session."""
        if reply.status == NOT_FOUND and self._heading.carried_session(reply):
            lost = SessionLost("the server has forgotten the session")
            self._on_lost(lost)
            raise lost

    def drain_soon(self, reply: Reply, seconds: float) -> None:
        """Read what is left of a stream whose answer has come, so that its connection can be used again."""
        if self._draining < MOST_DRAINED and not self._tasks.cancel_scope.cancel_called:
            self._draining += 1
            self._tasks.start_soon(self._drain, reply.pass_on(), seconds, name="end of an answer")

    async def _send_in_time(self, message: Message, seconds: float, whatever_happens: bool) -> None:
        try:
            with anyio.CancelScope(shield=whatever_happens):
                await self.send(message, seconds)
        except TransportEnded as error:
            log.debug("upstream.untold", why=str(error))
        finally:
            self._on_their_way -= 1

    async def _look_at(self, reply: Reply) -> None:
        self.look_for_loss(reply)
        if not reply.ok:
            log.debug("upstream.not_taken", status=reply.status)
        elif reply.type != EVENTS:
            try:
                await reply.body(LITTLE)
            except Unanswered:  # nothing in it was of interest
                log.debug("upstream.talkative")

    async def _drain(self, reply: Reply, seconds: float) -> None:
        try:
            with anyio.move_on_after(seconds):
                await reply.body(LITTLE)
        except TransportEnded:
            log.debug("upstream.undrained")
        finally:
            self._draining -= 1
            await reply.aclose()
