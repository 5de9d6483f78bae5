"""Reads the response to a request over HTTP in either form; also reads the stream without a request.

Rules kept here:
1. The response is a JSON body or an event on a stream. Anything else is not a response.
2. A stream that ends before the response is resumed where it broke, if the server gave its events ids and the era
   allows that. The request itself is never sent twice, because it could be executed twice.
3. Once the response has arrived, the end of the stream is not awaited.
"""

from functools import partial

import anyio
import structlog

from mcpguard.upstreams.exchange.conversation import Bounds
from mcpguard.upstreams.exchange.endings import NoUsableAnswer, SessionLost, TooLarge
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.transports.http_headers import INITIALIZE, Heading
from mcpguard.upstreams.transports.http_pool import HttpPool
from mcpguard.upstreams.transports.http_posts import Posts
from mcpguard.upstreams.transports.http_pushes import Pushes, PushRequest
from mcpguard.upstreams.transports.http_replies import EVENTS, JSON, Reply, refusal
from mcpguard.upstreams.transports.http_streams import Answer, ResumableStream, Waits

MOST_FAILURES = 3
BROKEN_OFF = "the server closed the connection before its answer was complete"
NO_ANSWER = "the server's answer is not valid JSON-RPC"
_LATER = frozenset({408, 425, 429, 500, 502, 503, 504})
log = structlog.get_logger("mcpguard.upstreams")


class _NoStream(NoUsableAnswer):
    """The server has no stream to listen to."""


class HttpQuestions:
    """Reads the answers of one server, and listens to it."""

    def __init__(
        self, pool: HttpPool, heading: Heading, posts: Posts, pushes: Pushes, bounds: Bounds, waits: Waits
    ) -> None:
        self._pool = pool
        self._heading = heading
        self._posts = posts
        self._pushes = pushes
        self._bounds = bounds
        self._waits = waits

    async def answer_in(self, reply: Reply, asked: PushRequest, method: str) -> Answer:
        """Return the answer in the reply to a request. Raises ServerError, or TransportEnded where there is none."""
        async with reply:
            if method == INITIALIZE and reply.ok:
                # Before the body is read: a request on the stream may need an answer within the session.
                self._heading.take_session(reply)
            elif method != INITIALIZE and not asked.modern:
                self._posts.look_for_loss(reply)
            if not reply.ok:
                raise await refusal(reply, self._bounds)
            if reply.type == JSON:
                answer = await self._pushes.read(await reply.body(self._bounds.message_bytes), asked)
            elif reply.type == EVENTS:
                answer = await self._heard_or_resumed(reply, asked)
            else:
                raise NoUsableAnswer("the server answered with neither JSON nor an event stream")
        if answer is None:
            raise NoUsableAnswer(NO_ANSWER)
        return answer

    async def listen(self) -> None:
        """Listen on the stream without a request, and return once the server says that it has none."""
        following = ResumableStream(self._bounds.message_bytes, self._waits)
        while True:
            try:
                await self._followed(following, PushRequest())
            except (_NoStream, SessionLost):
                return
            # Resumed at the same event, the stream would fail at the same place again and again.
            except TooLarge:
                following.forget()
            except TransportEnded as error:
                log.debug("upstream.unheard", why=str(error))
            await anyio.sleep(following.pause())

    async def _heard_or_resumed(self, reply: Reply, asked: PushRequest) -> Answer:
        following = ResumableStream(self._bounds.message_bytes, self._waits)
        answer = await self._heard(reply, following, asked)
        failures = 0
        while answer is None:
            # Without an id nothing tells where the stream broke, and making the request again could execute it twice.
            if not following.last_id or asked.modern or failures >= MOST_FAILURES:
                raise NoUsableAnswer(BROKEN_OFF)
            await reply.aclose()
            await anyio.sleep(following.pause())
            try:
                answer = await self._followed(following, asked)
                failures = 0
            except (_NoStream, TooLarge, SessionLost):
                raise
            except TransportEnded:
                failures += 1
        return answer

    async def _followed(self, following: ResumableStream, asked: PushRequest) -> Answer | None:
        """Connect to a stream and read it to its end, or to the answer."""
        reply = await self._pool.send("GET", self._heading.listening(following.last_id))
        async with reply:
            self._posts.look_for_loss(reply)
            if reply.ok and reply.type == EVENTS:
                return await self._heard(reply, following, asked)
            if reply.status in _LATER:
                raise NoUsableAnswer("the server's event stream is temporarily unavailable")
            raise _NoStream(BROKEN_OFF)

    async def _heard(self, reply: Reply, following: ResumableStream, asked: PushRequest) -> Answer | None:
        answer = await following.hear(reply, partial(self._pushes.take, asked=asked))
        if answer is not None:
            # The caller gets its answer at once, and the rest of the stream is read by another task.
            self._posts.drain_soon(reply, self._waits.drained)
        return answer
