"""A script over HTTP+SSE as it was in 2024-11-05: one stream of events for everything, and a path to post to."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.simulators.faces import Face, serving
from tests.simulators.responding import SSE_HEADERS, heard
from tests.simulators.script import Script
from tests.simulators.sessions import Session
from tests.simulators.streams import event
from tests.simulators.web import HttpReply, HttpRequest, Receive, Send, begin, send_reply
from tests.simulators.words import Json, Torn


class SseFace(Face):
    """The application."""

    path = "/sse"
    post_path = "/messages"

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.endpoint: str | None = None  # what the client is told, in the place of the true path

    async def respond(self, request: HttpRequest, receive: Receive, send: Send) -> None:
        if (request.method, request.path) == ("GET", self.path):
            await self._listen(receive, send)
        elif (request.method, request.path) == ("POST", self.post_path):
            await send_reply(send, self._post(request))
        else:
            await send_reply(send, HttpReply(405 if request.path in {self.path, self.post_path} else 404))

    async def _listen(self, receive: Receive, send: Send) -> None:
        session = Session(self.script)
        self.sessions[session.id] = session
        try:
            await heard(lambda: self._events(session, send), receive)
        finally:
            self.sessions.pop(session.id, None)
            session.close()

    async def _events(self, session: Session, send: Send) -> None:
        await begin(send, 200, SSE_HEADERS)
        endpoint = self.endpoint or f"{self.post_path}?session_id={session.id}"
        first = b"event: endpoint\ndata: " + endpoint.encode() + b"\n\n"
        await send({"type": "http.response.body", "body": first, "more_body": True})
        async for _, said in session.standalone.follow():
            await send({"type": "http.response.body", "body": event(said), "more_body": True})
            if isinstance(said, Torn):
                return
        await send({"type": "http.response.body"})

    def _post(self, request: HttpRequest) -> HttpReply:
        session = self.sessions.get(request.query.get("session_id", ""))
        if session is None:
            return HttpReply(404)
        try:
            message = json.loads(request.body)
        except (ValueError, RecursionError):
            return HttpReply(400)
        assert self.tasks is not None, "the face is not served"
        self.tasks.start_soon(self._answer, session, message, name=f"answer to {message.get('method')}")
        return HttpReply(202)

    async def _answer(self, session: Session, message: Json) -> None:
        say = session.standalone.say
        reply = await self.script.answer(message, say, session.party, modern=False)
        if reply is not None:
            await say(reply)


@asynccontextmanager
async def serving_sse(served_as: Script | SseFace) -> AsyncIterator[str]:
    """The URL under which the script is served, for as long as the block runs."""
    async with serving(SseFace(served_as) if isinstance(served_as, Script) else served_as) as url:
        yield url
