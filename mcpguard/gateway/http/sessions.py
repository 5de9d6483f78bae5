"""Sessions of clients that began with a handshake.

Rules kept here:
1. A session belongs to the caller and the face that it was opened by. For anybody else it does not exist.
2. An idle session is a few hundred bytes and no task. Their number is bounded: beyond it the one that was idle for
   longest ends, and so does whatever was idle for too long.
"""

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field

import anyio

from mcpguard.codec.messages import Id
from mcpguard.domain.clock import Clock
from mcpguard.gateway.clients import Client
from mcpguard.gateway.outbox import Outbox


@dataclass(slots=True, eq=False)
class Session:
    """What is remembered of a client between its requests. `stream` is where news goes while it listens."""

    id: str
    client: Client
    used: float
    calls: dict[Id, anyio.CancelScope] = field(default_factory=dict)
    stream: Outbox | None = None

    @property
    def idle(self) -> bool:
        return not self.calls and self.stream is None


class Sessions:
    """All sessions, the one that was used longest ago first."""

    def __init__(self, most: int, seconds: float, clock: Clock) -> None:
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._sessions: OrderedDict[str, Session] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self, client: Client) -> Session:
        self._make_room()
        session = Session(secrets.token_urlsafe(32), client, self._clock.monotonic())
        self._sessions[session.id] = session
        return session

    def find(self, id_: str, caller: str, face: str) -> Session | None:
        """The session, if it is this caller's and this face's."""
        session = self._sessions.get(id_)
        if session is None or session.client.caller.id != caller or session.client.face.key != face:
            return None
        if session.idle and self._clock.monotonic() - session.used > self._seconds:
            self.end(session)
            return None
        session.used = self._clock.monotonic()
        self._sessions.move_to_end(id_)
        return session

    def end(self, session: Session) -> None:
        """Forget it; what is going on in it is cancelled."""
        self._sessions.pop(session.id, None)
        for scope in tuple(session.calls.values()):
            scope.cancel()
        if session.stream is not None:
            session.stream.close()

    def end_all(self) -> None:
        for session in tuple(self._sessions.values()):
            if session.stream is not None:
                session.stream.close()

    def tell(self, message: bytes) -> None:
        """News for everyone who listens."""
        for session in self._sessions.values():
            if session.stream is not None:
                session.stream.put(message)

    def _make_room(self) -> None:
        now = self._clock.monotonic()
        for session in list(self._sessions.values()):
            if session.idle and (now - session.used > self._seconds or len(self._sessions) >= self._most):
                self.end(session)
            else:
                break
