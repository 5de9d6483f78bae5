"""Who is at the other end of a session, of a stream, or of one self-contained request."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcpguard.codec import envelope
from mcpguard.codec.messages import Notification
from mcpguard.domain.asks import AskKind
from mcpguard.domain.callers import Caller
from mcpguard.domain.servers.launches import Era
from mcpguard.gateway.faces.face import AgentFace
from mcpguard.gateway.subscribed_uris import SubscribedUris
from mcpguard.policy.asks import askable_kinds
from mcpguard.text.visible import visible

NETWORK, STREAMS = "network", "streams"
SHARE, PLACES = "caller's share", "agents' places"
"""Why there was no place for what came: the caller has its share under way, or all callers together have theirs."""
LONGEST_NAME = 100
OF_ONE_REQUEST = (envelope.PROGRESS, envelope.LOG_LEVEL)
"""What `_meta` of a request says of the request, in a form of its own. The rest of what has a form is of the client."""


def _nobody(_: Notification) -> None:
    """Drop the message: this client cannot be told anything outside a request."""


@dataclass(slots=True)
class Client:
    """A caller at a face, in a revision of the protocol. `log_level` is the least severe message that the client wants.

    `capabilities` is what the client declares it can be asked for. `session` names its session or stream, if there is
    one. `tell` sends what belongs to no request. The owner of the client closes `subscribed` when the client has gone.
    `askable` are the kinds of question that a modern client can be asked; the other era is asked in another way.
    `is_checked`: what the client says of itself, the same in each of its requests, has the form of its revision.
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
    subscribed: SubscribedUris = field(default_factory=SubscribedUris)
    askable: frozenset[AskKind] = frozenset()
    is_checked: bool = False


def modern_client(
    door: str, caller: Caller, face: AgentFace, version: str, meta: Mapping[str, Any], session: str = ""
) -> Client:
    """Return the client of a request that names its revision and its client itself, by the `_meta` of the request."""
    name, can = client_name(meta.get(envelope.CLIENT)), can_do(meta.get(envelope.CAPABILITIES))
    return Client(door, caller, face, Era.MODERN, version, name, can, session, askable=askable_kinds(can))


def can_do(said: object) -> Mapping[str, Any]:
    """Return the capabilities that a client declares, unchanged."""
    return said if isinstance(said, dict) else {}


def client_name(info: object) -> str:
    """Return the name that a client gives itself, made safe to record."""
    match info:
        case {"name": str(name)}:
            return visible(name[:LONGEST_NAME])[:LONGEST_NAME]
        case _:
            return ""
