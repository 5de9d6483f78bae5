"""Clients that begin with a handshake (revisions up to 2025-11-25): a session, and requests within it.

A client that disconnects has not cancelled its request; only `notifications/cancelled` does that. But it cannot be
asked anything any more.
"""

import anyio
from starlette.types import Receive, Scope, Send

from mcpguard.codec import envelope
from mcpguard.codec.messages import INVALID_REQUEST, Failure, Message, Notification, Request, Result, write
from mcpguard.domain.callers import Caller
from mcpguard.domain.servers.launches import Era
from mcpguard.gateway.client_request import Exchange, Say
from mcpguard.gateway.clients import NETWORK, Client
from mcpguard.gateway.faces.face import AgentFace
from mcpguard.gateway.http.plain import HttpPatience, HttpRefusal, header, send_answer
from mcpguard.gateway.http.reply import KEEP_ALIVE, STREAM, reply
from mcpguard.gateway.http.sessions import ClientSession, Sessions
from mcpguard.gateway.methods import Methods
from mcpguard.gateway.open_requests import OpenRequest
from mcpguard.gateway.outbox import Outbox
from mcpguard.gateway.wire import CANCELLED, REFUSED, BudgetSpent, own_error

SESSION = b"mcp-session-id"
VERSION = b"mcp-protocol-version"


class Legacy:
    """Answers messages of the handshake era."""

    def __init__(self, methods: Methods, sessions: Sessions, most_calls: int, patience: HttpPatience) -> None:
        self._methods = methods
        self._sessions = sessions
        self._most_calls = most_calls
        self._patience = patience

    async def take(
        self,
        here: OpenRequest,
        message: Message,
        caller: Caller,
        face: AgentFace,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Answer one message."""
        if isinstance(message, Request) and message.method == "initialize":
            await self._initialize(message, caller, face, scope, send)
            return
        session = self.session(caller, face, scope)
        match message:
            case Request():
                await self._answer(here, message, session, receive, send)
            case Notification("notifications/cancelled", params):
                session.cancel((params or {}).get("requestId"))
                await send_answer(send, 202)
            case Result() | Failure():
                if not session.questions.take_answer(message):
                    self._methods.count_stray_answer(session.client)
                await send_answer(send, 202)
            case Notification(method):
                self._methods.take_notification(session.client, method)
                await send_answer(send, 202)

    def session(self, caller: Caller, face: AgentFace, scope: Scope) -> ClientSession:
        """Return the session that a request names."""
        id_ = header(scope, SESSION)
        if id_ is None:
            raise HttpRefusal(
                400, INVALID_REQUEST, "send initialize first, then name the session that it returns", "no session"
            )
        session = self._sessions.find(id_, caller.id, face.key)
        if session is None:
            raise HttpRefusal(404, INVALID_REQUEST, "unknown session; send initialize first", "unknown session")
        version = header(scope, VERSION)
        if version is not None and version not in envelope.HANDSHAKE:
            raise HttpRefusal(400, INVALID_REQUEST, "this protocol version does not use sessions", "version")
        return session

    async def listen(self, session: ClientSession, receive: Receive, send: Send) -> None:
        """Serve the stream on which a session receives notifications, until either side ends it."""
        outbox = Outbox()
        with self._sessions.listening(session, outbox):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_until_left, receive, tasks.cancel_scope)
                await send({"type": "http.response.start", "status": 200, "headers": [*STREAM, _named(session)]})
                await send({"type": "http.response.body", "body": KEEP_ALIVE, "more_body": True})
                while not outbox.closed:
                    with anyio.move_on_after(self._patience.quiet):
                        await outbox.wait()
                    news = outbox.take() or KEEP_ALIVE
                    await send({"type": "http.response.body", "body": news, "more_body": True})
                await send({"type": "http.response.body", "body": b""})
                tasks.cancel_scope.cancel()

    async def end(self, session: ClientSession, send: Send) -> None:
        self._sessions.end(session)
        await send_answer(send, 200)

    async def _initialize(self, request: Request, caller: Caller, face: AgentFace, scope: Scope, send: Send) -> None:
        if header(scope, SESSION) is not None:
            raise HttpRefusal(400, INVALID_REQUEST, "this session is initialized already", "second initialize")
        client = Client(NETWORK, caller, face, Era.LEGACY)
        try:
            answer = await self._methods.initialize(client, request)
        except BudgetSpent as spent:
            raise HttpRefusal(429, spent.code, str(spent), spent.why, spent.data, spent.wait) from None
        headers = (_named(self._sessions.open(client)),) if isinstance(answer, Result) else ()
        await send_answer(send, 200, write(answer), headers)

    async def _answer(
        self, here: OpenRequest, request: Request, session: ClientSession, receive: Receive, send: Send
    ) -> None:
        if request.id in session.calls:
            raise HttpRefusal(400, INVALID_REQUEST, "a request with this id is in progress", "id in use")
        if len(session.calls) >= self._most_calls:
            raise HttpRefusal(429, REFUSED, "too many requests are in progress in this session", "too many requests")

        line = session.questions.line()

        async def work(say: Say) -> Result | Failure:
            answer: Result | Failure = Failure(request.id, own_error(CANCELLED, "the request was cancelled"))
            with self._sessions.calling(session, request.id):
                answer = await self._methods.reply(Exchange(session.client, request, say, line), request)
            return answer  # noqa: RET504 - the block is left early where the request is cancelled

        headers, quiet = (_named(session),), self._patience.quiet
        await reply(here, receive, send, work, headers, statuses={}, left=line.lose, quiet=quiet)


def _named(session: ClientSession) -> tuple[bytes, bytes]:
    return SESSION, session.id.encode()


async def _until_left(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
