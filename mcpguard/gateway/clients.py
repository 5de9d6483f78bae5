"""Who is at the other end: of a session, of a stream, or of one request that says everything itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcpguard.codec import envelope
from mcpguard.codec.messages import Notification, Request
from mcpguard.domain.callers import Caller
from mcpguard.domain.launches import Era
from mcpguard.gateway.faces.face import Face
from mcpguard.gateway.subscribed import Subscribed
from mcpguard.text.visible import visible

NETWORK, STREAMS = "network", "streams"
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
LONGEST_NAME = 100
Say = Callable[[Notification], None]


def _nobody(_: Notification) -> None:
    """Tell nobody."""


@dataclass(slots=True)
class Client:
    """A caller at a face, in a revision of the protocol. `log_level` is the least severe message it wants.

    `tell` takes what belongs to no request. Whoever has the client closes `subscribed` when it has gone.
    """

    door: str
    caller: Caller
    face: Face
    era: Era
    version: str = envelope.HANDSHAKE[-1]
    name: str = ""
    log_level: str | None = None
    tell: Say = _nobody
    subscribed: Subscribed = field(default_factory=Subscribed)


class Exchange:
    """One request of a client while it is being answered, and so the counterpart of the call that it makes."""

    def __init__(self, client: Client, request: Request, say: Say) -> None:
        given = envelope.meta(request.params)
        self.id = request.id
        self.client = client
        self.trace = _trace(given)
        self.say = say
        self._token = given.get(envelope.PROGRESS)
        self._level = given.get(envelope.LOG_LEVEL) if client.era is Era.MODERN else client.log_level or "info"

    @property
    def name(self) -> str:
        return self.client.name

    @property
    def wants_progress(self) -> bool:
        return isinstance(self._token, str | int) and not isinstance(self._token, bool)

    @property
    def log_level(self) -> str | None:
        return self._level if self._level in LEVELS else None

    def progress(self, params: Mapping[str, Any]) -> None:
        if self.wants_progress:
            self.say(Notification("notifications/progress", {envelope.PROGRESS: self._token, **params}))

    def log(self, params: Mapping[str, Any]) -> None:
        least, level = self.log_level, params.get("level")
        if least is not None and level in LEVELS and LEVELS.index(level) >= LEVELS.index(least):
            self.say(Notification("notifications/message", dict(params)))


def client_name(info: object) -> str:
    """What a client calls itself, fit to be recorded."""
    match info:
        case {"name": str(name)}:
            return visible(name[:LONGEST_NAME])[:LONGEST_NAME]
        case _:
            return ""


def _trace(given: Mapping[str, Any]) -> str:
    trace = given.get("traceparent")
    return visible(trace[:LONGEST_NAME])[:LONGEST_NAME] if isinstance(trace, str) else ""
