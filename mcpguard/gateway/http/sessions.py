"""Sessions of clients that began with a handshake.

Rules kept here:
1. A session belongs to the caller and the face that opened it. For anybody else it does not exist.
2. An idle session is a few hundred bytes and no task. The number of sessions is bounded: beyond it, the caller with
   most sessions loses the one that was idle for longest. A session that is idle for too long ends; one in use does not.
"""

import secrets
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import anyio

from mcpguard.codec.messages import INVALID_REQUEST, Id, Notification, is_id, write
from mcpguard.domain.clock import Clock
from mcpguard.gateway.clients import Client
from mcpguard.gateway.http.plain import HttpRefusal
from mcpguard.gateway.http.reply import event
from mcpguard.gateway.outbox import Outbox
from mcpguard.gateway.questions import OpenQuestions
from mcpguard.gateway.subscriptions.list_news import For


@dataclass(slots=True, eq=False)
class ClientSession:
    """What is remembered of a client between its requests. `stream` receives notifications while the client listens."""

    id: str
    client: Client
    used: float
    calls: dict[Id, anyio.CancelScope] = field(default_factory=dict)
    stream: Outbox | None = None
    questions: OpenQuestions = field(default_factory=OpenQuestions)

    @property
    def idle(self) -> bool:
        return not self.calls and self.stream is None

    def tell(self, news: Notification) -> None:
        """Send a notification if the client listens, and drop it otherwise."""
        if self.stream is not None:
            self.stream.put(event(write(news)))

    def cancel(self, id_: object) -> None:
        """Cancel a request of this session if it is in progress."""
        scope = self.calls.get(id_) if is_id(id_) else None
        if scope is not None:
            scope.cancel()


class Sessions:
    """All sessions, the least recently used first."""

    def __init__(self, most: int, seconds: float, clock: Clock) -> None:
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._sessions: OrderedDict[str, ClientSession] = OrderedDict()
        self._of: dict[str, dict[str, ClientSession]] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self, client: Client) -> ClientSession:
        """Open a session. Raises HttpRefusal when the limit is reached and all sessions are in use."""
        self._make_room()
        session = ClientSession(secrets.token_urlsafe(32), client, self._clock.monotonic())
        client.session, client.tell = session.id, session.tell
        self._sessions[session.id] = session
        self._of.setdefault(client.caller.id, {})[session.id] = session
        return session

    def find(self, id_: str, caller: str, face: str) -> ClientSession | None:
        """Return the session if it belongs to this caller and this face."""
        session = self._sessions.get(id_)
        if session is None or session.client.caller.id != caller or session.client.face.key != face:
            return None
        if self._is_stale(session):
            self.end(session)
            return None
        self._use(session)
        return session

    @contextmanager
    def calling(self, session: ClientSession, id_: Id) -> Iterator[None]:
        """Mark a request as in progress; cancelling the request leaves the block."""
        try:
            with anyio.CancelScope() as session.calls[id_]:
                yield
        finally:
            del session.calls[id_]
            self._use(session)

    @contextmanager
    def listening(self, session: ClientSession, stream: Outbox) -> Iterator[None]:
        """Send notifications to this stream instead of the one before, whose client may have left unnoticed."""
        if session.stream is not None:
            session.stream.close()
        session.stream = stream
        try:
            yield
        finally:
            if session.stream is stream:
                session.stream = None
            self._use(session)

    def end(self, session: ClientSession) -> None:
        """Forget a session and cancel its requests."""
        self._forget(session)
        session.client.subscribed.close()
        for scope in tuple(session.calls.values()):
            scope.cancel()
        if session.stream is not None:
            session.stream.close()

    def end_caller(self, caller: str) -> None:
        """Forget the sessions of a caller that was revoked. Their requests have been cut off already, and end by
        themselves.
        """
        for session in [each for each in self._sessions.values() if each.client.caller.id == caller]:
            self._forget(session)
            session.client.subscribed.close()
            if session.stream is not None:
                session.stream.close()

    def end_streams(self) -> None:
        for session in self._sessions.values():
            if session.stream is not None:
                session.stream.close()

    def tell(self, news: For) -> None:
        """Send news to every session that listens."""
        for session in self._sessions.values():
            if session.stream is not None:
                for told in news(session.client):
                    session.tell(told)

    def _use(self, session: ClientSession) -> None:
        session.used = self._clock.monotonic()
        if session.id in self._sessions:
            self._sessions.move_to_end(session.id)
            of = self._of[session.client.caller.id]
            of[session.id] = of.pop(session.id)

    def _is_stale(self, session: ClientSession) -> bool:
        return session.idle and self._clock.monotonic() - session.used > self._seconds

    def _make_room(self) -> None:
        """End stale sessions, and at the limit one of the caller with most. Raises HttpRefusal if all are in use."""
        for _ in range(len(self._sessions)):
            oldest = next(iter(self._sessions.values()))
            if not oldest.idle:
                self._use(oldest)
            elif self._is_stale(oldest):
                self.end(oldest)
            else:
                break
        if len(self._sessions) >= self._most:
            self._end_one()

    def _end_one(self) -> None:
        """End one idle session, looking at the callers with most sessions first."""
        for caller in sorted(self._of, key=lambda each: len(self._of[each]), reverse=True):
            for session in self._of[caller].values():
                if session.idle:
                    self.end(session)
                    return
        raise HttpRefusal(
            503,
            INVALID_REQUEST,
            "every session is in use; retry later",
            "too many sessions",
        )

    def _forget(self, session: ClientSession) -> None:
        if self._sessions.pop(session.id, None) is None:
            return
        of = self._of[session.client.caller.id]
        del of[session.id]
        if not of:
            del self._of[session.client.caller.id]
