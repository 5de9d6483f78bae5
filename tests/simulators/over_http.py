"""A script over streamable HTTP, in both eras on one path.

A test that wants to look at the HTTP, or to spoil it, makes the `HttpFace` itself and serves that:

    face = HttpFace(script)
    async with serving_http(face) as url:
        face.replies = Replies.SSE
        face.lose_sessions()
        face.meddle = lambda request: HttpReply(503)
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from tests.simulators.faces import Face, serving
from tests.simulators.headers import mismatch
from tests.simulators.parties import Party
from tests.simulators.responding import (
    Replies,
    aside,
    heard,
    rejection,
    respond,
    respond_modern,
    send_events,
)
from tests.simulators.script import Script
from tests.simulators.sessions import Session
from tests.simulators.streams import Stream
from tests.simulators.web import HttpReply, HttpRequest, Receive, Send, send_reply
from tests.simulators.words import INVALID_REQUEST, PARSE_ERROR, Json, RpcError, Say, unheard

LOCAL = {"127.0.0.1", "localhost", "[::1]"}
ACCEPTS = {"POST": ("application/json", "text/event-stream"), "GET": ("text/event-stream",)}


class HttpFace(Face):
    """The application. Everything about it can be changed while it runs."""

    path = "/mcp"

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.replies = Replies.AUTO
        self.with_sessions = True
        self.event_ids = False  # whether a stream that broke off can be taken up again
        self._everybody = Party(version=script.legacy_versions[0])

    async def respond(self, request: HttpRequest, receive: Receive, send: Send) -> None:
        if reply := self._refused(request):
            await send_reply(send, reply)
        elif request.method == "POST":
            await self._post(request, receive, send)
        elif request.method == "GET":
            await self._get(request, receive, send)
        else:
            await send_reply(send, self._delete(request))

    def _refused(self, request: HttpRequest) -> HttpReply | None:
        """What is refused before anybody looks at the message."""
        allowed = ("POST", "GET", "DELETE") if self.with_sessions and "legacy" in self.script.eras else ("POST",)
        origin = request.headers.get("origin")
        if request.path != self.path:
            return HttpReply(404)
        if _host(request.headers.get("host", "")) not in LOCAL:
            return HttpReply(403)
        if origin is not None and _host(origin.partition("://")[2]) not in LOCAL:
            return HttpReply(403)
        if request.method not in allowed:
            return HttpReply(405, {"allow": ", ".join(allowed)})
        if not all(each in request.headers.get("accept", "") for each in ACCEPTS.get(request.method, ())):
            return HttpReply(406)
        return None

    async def _post(self, request: HttpRequest, receive: Receive, send: Send) -> None:
        try:
            message = json.loads(request.body)
        except (ValueError, RecursionError):
            await send_reply(send, rejection(None, RpcError(PARSE_ERROR, "Parse error")))
            return
        if not isinstance(message, dict):
            await send_reply(send, rejection(None, RpcError(INVALID_REQUEST, "not one message")))
        elif self._is_modern(message, request):
            await self._modern(message, request, receive, send)
        else:
            await self._legacy(message, request, receive, send)

    def _is_modern(self, message: Json, request: HttpRequest) -> bool:
        if len(self.script.eras) == 1:
            return "modern" in self.script.eras
        version = request.headers.get("mcp-protocol-version")
        return self.script.is_modern(message) or version in self.script.modern_versions

    async def _modern(self, message: Json, request: HttpRequest, receive: Receive, send: Send) -> None:
        if "id" not in message or "method" not in message:
            await self.script.answer(message, unheard, Party(), modern=True)
            await send_reply(send, HttpReply(202))
        elif wrong := mismatch(self.script, message, request.headers):
            await send_reply(send, rejection(message["id"], wrong))
        else:
            stream, scope = Stream(), anyio.CancelScope()
            replies = Replies.SSE if message["method"] == "subscriptions/listen" else self.replies
            self._work(scope, stream, aside(stream, replies, unheard), message, Party(), modern=True)
            if not await heard(lambda: respond_modern(send, stream, replies, message), receive):
                scope.cancel()

    async def _legacy(self, message: Json, request: HttpRequest, receive: Receive, send: Send) -> None:
        version = request.headers.get("mcp-protocol-version", self.script.legacy_versions[0])
        if version not in self.script.legacy_versions:
            error = RpcError(-32000, f"Bad Request: Unsupported protocol version: {version}")
            await send_reply(send, rejection(message.get("id"), error))
            return
        session = self._new_session() if message.get("method") == "initialize" else self._session(request)
        if isinstance(session, HttpReply):
            await send_reply(send, session)
            return
        party = session.party if session else self._everybody
        if "id" not in message or "method" not in message:
            await self.script.answer(message, unheard, party, modern=False)
            await send_reply(send, HttpReply(202))
            return
        stream = session.stream() if session else Stream()
        say = aside(stream, self.replies, party.push)
        self._work(anyio.CancelScope(), stream, say, message, party, modern=False)
        headers = {"mcp-session-id": session.id} if session and message["method"] == "initialize" else {}
        await heard(lambda: respond(send, stream, self.replies, headers, ids=self.event_ids), receive)

    def _work(
        self, scope: anyio.CancelScope, stream: Stream, say: Say, message: Json, party: Party, *, modern: bool
    ) -> None:
        """Begin to answer, in a task of the face: a legacy client that hangs up has not taken its request back."""
        assert self.tasks is not None, "the face is not served"

        async def work() -> None:
            with scope:
                stream.end(await self.script.answer(message, say, party, modern=modern))
            stream.end()

        self.tasks.start_soon(work, name=f"answer to {message['method']}")

    def _new_session(self) -> Session | None:
        if not self.with_sessions:
            return None
        session = Session(self.script)
        self.sessions[session.id] = session
        return session

    def _session(self, request: HttpRequest) -> HttpReply | Session | None:
        if not self.with_sessions:
            return None
        id_ = request.headers.get("mcp-session-id")
        if id_ is None:
            return rejection(None, RpcError(-32000, "Bad Request: Missing session ID"))
        return self.sessions.get(id_) or rejection(None, RpcError(-32001, "Session not found"), 404)

    async def _get(self, request: HttpRequest, receive: Receive, send: Send) -> None:
        session = self._session(request)
        if not isinstance(session, Session):
            await send_reply(send, session or HttpReply(405))
        elif last := request.headers.get("last-event-id"):
            name, _, at = last.rpartition("-")
            stream = session.streams.get(name)
            if stream is None or not at.isdecimal():
                await send_reply(send, HttpReply(400))
            else:
                await heard(lambda: send_events(send, stream, {}, int(at) + 1, ids=True), receive)
        elif session.listening:
            await send_reply(send, HttpReply(409))
        else:
            await self._standalone(session, receive, send)

    async def _standalone(self, session: Session, receive: Receive, send: Send) -> None:
        stream, ids = session.standalone, self.event_ids
        session.listening = True
        self.script.changed()
        try:
            await heard(
                lambda: send_events(send, stream, {}, session.heard, ids=ids, delivered=session.delivered), receive
            )
        finally:
            session.listening = False

    def _delete(self, request: HttpRequest) -> HttpReply:
        session = self._session(request)
        if not isinstance(session, Session):
            return session or HttpReply(405)
        del self.sessions[session.id]
        session.close()
        self.script.changed()
        return HttpReply(200)


def _host(said: str) -> str:
    """The host of `host:port`."""
    host, _, port = said.rpartition(":")
    return host if port.isdecimal() else said


@asynccontextmanager
async def serving_http(served_as: Script | HttpFace) -> AsyncIterator[str]:
    """The URL under which the script is served, for as long as the block runs."""
    async with serving(HttpFace(served_as) if isinstance(served_as, Script) else served_as) as url:
        yield url
