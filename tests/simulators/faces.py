"""What the ways to serve a script over HTTP have in common: requests that are recorded, and can be meddled with."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup

from tests.simulators.script import Script
from tests.simulators.sessions import Session
from tests.simulators.web import Gone, HttpReply, HttpRequest, Receive, Scope, Send, send_reply, served, taken


class Face:
    """An application. Everything about it can be changed while it runs."""

    path: str
    sessions: dict[str, Session]
    tasks: TaskGroup | None = None

    def __init__(self, script: Script) -> None:
        self.script = script
        self.meddle: Callable[[HttpRequest], HttpReply | None] = lambda _: None
        self.requests: list[HttpRequest] = []
        self.sessions = {}

    def lose_sessions(self) -> None:
        """Forget every session, as a server does that was restarted."""
        for session in self.sessions.values():
            session.close()
        self.sessions.clear()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            request = await taken(scope, receive)
        except Gone:
            return
        self.requests.append(request)
        self.script.changed()
        if reply := self.meddle(request):
            await send_reply(send, reply)
        else:
            await self.respond(request, receive, send)

    async def respond(self, request: HttpRequest, receive: Receive, send: Send) -> None:
        """Answer a request that nobody has meddled with."""
        raise NotImplementedError


@asynccontextmanager
async def serving(face: Face, port: int = 0) -> AsyncIterator[str]:
    """The URL of the face, for as long as the block runs. With a port it is that one."""
    async with anyio.create_task_group() as tasks:
        face.tasks = tasks
        async with served(face, port) as taken_port:
            yield f"http://127.0.0.1:{taken_port}{face.path}"
        tasks.cancel_scope.cancel()
