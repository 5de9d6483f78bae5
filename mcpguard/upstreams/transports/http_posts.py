"""Sends messages that expect no response: notifications, and answers to the server's requests.

Rules kept here:
1. Each is sent in its own task with a timeout, so that one that hangs delays no other.
2. Their number is limited; further ones are dropped and counted.
"""

from collections.abc import Callable

import anyio
import structlog
from anyio.abc import TaskGroup

from mcpguard.codec.messages import Message, Notification, write
from mcpguard.upstreams.exchange.conversation import Counts
from mcpguard.upstreams.exchange.endings import NoUsableAnswer, SessionLost, Unsayable
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.transports.http_headers import Heading
from mcpguard.upstreams.transports.http_pool import HttpPool
from mcpguard.upstreams.transports.http_replies import EVENTS, NOT_FOUND, Reply

MOST = 64
LITTLE = 65_536
MOST_DRAINED = 16
log = structlog.get_logger("mcpguard.upstreams")


class Posts:
    """The messages on their way to one server."""

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
        # A server that asks without end and accepts no answers would otherwise collect tasks here.
        if self._on_their_way >= MOST:
            self._counts.dropped += 1
        elif not self._tasks.cancel_scope.cancel_called:
            self._on_their_way += 1
            self._tasks.start_soon(self._send_in_time, message, seconds, whatever_happens, name="message to a server")

    async def send(self, message: Message, seconds: float) -> None:
        """Send, and return when it was accepted or the time is over. Raises TransportEnded when the server is gone."""
        try:
            body = write(message)
        except UnicodeEncodeError as error:
            raise Unsayable("the message holds half a character (a lone surrogate) and cannot be encoded") from error
        headers = (
            self._heading.asking(message.method, message.params, self._heading.modern(message.params))
            if isinstance(message, Notification)
            else self._heading.answering()
        )
        with anyio.move_on_after(seconds):
            async with await self._pool.send("POST", headers, body) as reply:
                await self._look_at(reply)

    def look_for_loss(self, reply: Reply) -> None:
        """Raise SessionLost, and end the conversation, if this reply says that the session does not exist any more."""
        # Only where the session's id was sent: any other 404 says that the URL is wrong.
        if reply.status == NOT_FOUND and self._heading.carried_session(reply):
            lost = SessionLost("the server has dropped the session")
            self._on_lost(lost)
            raise lost

    def drain_soon(self, reply: Reply, seconds: float) -> None:
        """Read the rest of a stream whose answer has come, so that its connection can be reused."""
        # A connection is not worth much: with many open streams the rest are closed instead.
        if self._draining < MOST_DRAINED and not self._tasks.cancel_scope.cancel_called:
            self._draining += 1
            self._tasks.start_soon(self._drain, reply.pass_on(), seconds, name="end of an answer")

    async def _send_in_time(self, message: Message, seconds: float, whatever_happens: bool) -> None:
        try:
            # A cancellation has to be sent although its own caller is being cancelled with everything around it.
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
            except NoUsableAnswer:  # the body of such a reply is not needed
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
