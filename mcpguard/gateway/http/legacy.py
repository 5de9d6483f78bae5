"""Clients that begin with a handshake (revisions up to 2025-11-25): a session, and requests within it.

A client that disconnects has not cancelled its request; only `notifications/cancelled` does that. But it cannot be
asked anything any more.
"""

from collections.abc import Awaitable, Mapping
from types import MappingProxyType

import anyio

from mcpguard.codec import envelope
from mcpguard.codec.messages import INVALID_REQUEST, Failure, Message, Notification, Request, Result
from mcpguard.domain.callers import Caller
from mcpguard.domain.servers.launches import Era
from mcpguard.gateway.client_request import Exchange
from mcpguard.gateway.clients import NETWORK, Client
from mcpguard.gateway.faces.face import AgentFace
from mcpguard.gateway.http.exchange import HttpExchange
from mcpguard.gateway.http.plain import VERSION, HttpPatience, HttpRefusal
from mcpguard.gateway.http.reply import KEEP_ALIVE
from mcpguard.gateway.http.sessions import ClientSession, Sessions
from mcpguard.gateway.methods import Methods
from mcpguard.gateway.outbox import Outbox
from mcpguard.gateway.wire import CANCELLED, REFUSED, BudgetSpent, own_error

SESSION = "mcp-session-id"


class Legacy:
    """Answers messages of the handshake era."""

    statuses: Mapping[int, int] = MappingProxyType({})

    def __init__(self, methods: Methods, sessions: Sessions, most_calls: int, patience: HttpPatience) -> None:
        self._methods = methods
        self._sessions = sessions
        self._most_calls = most_calls
        self._patience = patience

    def take(
        self, exchange: HttpExchange, message: Message, caller: Caller, face: AgentFace
    ) -> Awaitable[Result | Failure | None] | None:
        """Return the work on the answer to a message; None where it was answered. Raises HttpRefusal."""
        if isinstance(message, Request) and message.method == "initialize":
            return self._initialize(message, caller, face, exchange)
        session = self.session(caller, face, exchange)
        match message:
            case Request():
                return self._answer(exchange, message, session)
            case Notification("notifications/cancelled", params):
                session.cancel((params or {}).get("requestId"))
            case Result() | Failure():
                if not session.questions.take_answer(message):
                    self._methods.count_stray_answer(session.client)
            case Notification(method):
                self._methods.take_notification(session.client, method)
        exchange.answer(202)
        return None

    def session(self, caller: Caller, face: AgentFace, exchange: HttpExchange) -> ClientSession:
        """Return the session that a request names."""
        id_ = exchange.mcp_header(SESSION)
        if id_ is None:
            raise HttpRefusal(
                400, INVALID_REQUEST, "send initialize first, then name the session that it returns", "no session"
            )
        session = self._sessions.find(id_, caller.id, face.key)
        if session is None:
            raise HttpRefusal(404, INVALID_REQUEST, "unknown session; send initialize first", "unknown session")
        version = exchange.mcp_header(VERSION)
        if version is not None and version not in envelope.HANDSHAKE:
            raise HttpRefusal(400, INVALID_REQUEST, "this protocol version does not use sessions", "version")
        return session

    async def listen(self, session: ClientSession, exchange: HttpExchange) -> None:
        """Serve the stream on which a session receives notifications, until either side ends it."""
        outbox = Outbox()
        exchange.left = outbox.close
        exchange.headers = (_named(session),)
        with self._sessions.listening(session, outbox):
            await exchange.room()
            exchange.begin_stream()
            await exchange.send_part(KEEP_ALIVE)
            while not outbox.closed:
                with anyio.move_on_after(self._patience.quiet):
                    await outbox.wait()
                await exchange.send_part(outbox.take() or KEEP_ALIVE)
            exchange.end_stream()

    def end(self, session: ClientSession, exchange: HttpExchange) -> None:
        self._sessions.end(session)
        exchange.answer(200)

    async def _initialize(
        self, request: Request, caller: Caller, face: AgentFace, exchange: HttpExchange
    ) -> Result | Failure:
        if exchange.mcp_header(SESSION) is not None:
            raise HttpRefusal(400, INVALID_REQUEST, "this session is initialized already", "second initialize")
        client = Client(NETWORK, caller, face, Era.LEGACY)
        try:
            answer = await self._methods.initialize(client, request)
        except BudgetSpent as spent:
            raise HttpRefusal(429, spent.code, str(spent), spent.why, spent.data, spent.wait) from None
        if isinstance(answer, Result):
            exchange.headers = (_named(self._sessions.open(client)),)
        return answer

    async def _answer(self, exchange: HttpExchange, request: Request, session: ClientSession) -> Result | Failure:
        if request.id in session.calls:
            raise HttpRefusal(400, INVALID_REQUEST, "a request with this id is in progress", "id in use")
        if len(session.calls) >= self._most_calls:
            raise HttpRefusal(429, REFUSED, "too many requests are in progress in this session", "too many requests")
        line = session.questions.line()
        exchange.headers = (_named(session),)
        exchange.watch(line.lose, self._patience.quiet)
        answer: Result | Failure = Failure(request.id, own_error(CANCELLED, "the request was cancelled"))
        with self._sessions.calling(session, request.id):
            said = Exchange(session.client, request, exchange.say, line, exchange.head.peer)
            answer = await self._methods.reply(said, request)
        return answer  # noqa: RET504 - the block is left early where the request is cancelled


def _named(session: ClientSession) -> tuple[bytes, bytes]:
    return SESSION.encode(), session.id.encode()
