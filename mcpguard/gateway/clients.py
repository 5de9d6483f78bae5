"""Who is at the other end: of a session, of a stream, or of one request that says everything itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcpguard.codec import envelope
from mcpguard.codec.messages import Notification
from mcpguard.domain.callers import Caller
from mcpguard.domain.servers.launches import Era
from mcpguard.gateway.faces.face import AgentFace
from mcpguard.gateway.subscribed_uris import Subscribed
from mcpguard.text.visible import visible

NETWORK, STREAMS = "network", "streams"
SHARE, PLACES = "caller's share", "agents' places"
"""Why there was no place for what came: the caller has its share under way, or all callers together have theirs."""
LONGEST_NAME = 100


def _nobody(_: Notification) -> None:
    """Tell nobody."""


@dataclass(slots=True)
class Client:
    """A caller at a face, in a revision of the protocol. `log_level` is the least severe message it wants.

    `capabilities` is what it says that it can be asked for. `session` names the session or stream that it is in, if
    there is one. `tell` takes what belongs to no request. Whoever has the client closes `subscribed` when it has gone.
    """

    door: str
    caller: Caller
    face: AgentFace
    era: Era
    version: str = envelope.HANDSHAKE[-1]
    name: str = ""
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    session: str = ""
    log_level: str | None = None
    tell: Callable[[Notification], None] = _nobody
    subscribed: Subscribed = field(default_factory=Subscribed)


def can_do(said: object) -> Mapping[str, Any]:
    """The capabilities of a client, in its own words."""
    return said if isinstance(said, dict) else {}


def client_name(info: object) -> str:
    """What a client calls itself, fit to be recorded."""
    match info:
        case {"name": str(name)}:
            return visible(name[:LONGEST_NAME])[:LONGEST_NAME]
        case _:
            return ""
