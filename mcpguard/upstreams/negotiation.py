"""Which revision of the protocol is spoken with a server, and what it says of itself.

Asked first in the modern way. What answers that is modern; what answers with anything else, or not in time, is asked
for the handshake of the earlier revisions. A late answer to the first question may have made up the server's mind: then
it refuses the handshake by naming modern revisions, and is asked once more.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio

from mcpguard.codec import envelope
from mcpguard.domain.errors import GuardError
from mcpguard.domain.launches import Era
from mcpguard.upstreams.conversation import Conversation, ServerError

UNSUPPORTED_VERSION = -32022
LONGEST_INSTRUCTIONS = 64 * 1024


class NotUnderstood(GuardError):
    """The server speaks, but nothing that we speak. Says what in a sentence for the operator."""


@dataclass(frozen=True, slots=True)
class Greeting:
    """What was agreed, and what the server said of itself."""

    era: Era
    version: str
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    server: Mapping[str, Any] = field(default_factory=dict)
    instructions: str | None = None


async def negotiate(conversation: Conversation, us: Mapping[str, Any], era: Era, probe_seconds: float) -> Greeting:
    """Agree on a revision. Raises NotUnderstood, ServerError, or TransportEnded."""
    if era is Era.LEGACY:
        return await _handshake(conversation, us)
    if (greeting := await _discovered(conversation, us, probe_seconds)) is not None:
        return greeting
    if era is Era.MODERN:
        raise NotUnderstood("the server does not speak the revision 2026-07-28 that it is set to be spoken to in")
    try:
        return await _handshake(conversation, us)
    except ServerError as error:
        if error.error.get("code") != UNSUPPORTED_VERSION:
            raise
    if (greeting := await _discovered(conversation, us, probe_seconds)) is not None:
        return greeting
    raise NotUnderstood("the server refuses both the handshake and the revision 2026-07-28")


def stamped(params: Mapping[str, Any], version: str, us: Mapping[str, Any], **more: object) -> dict[str, Any]:
    """Parameters as a modern server wants them."""
    said = {envelope.PROTOCOL: version, envelope.CLIENT: dict(us), envelope.CAPABILITIES: {}}
    return envelope.with_meta(params, said | more)


async def _discovered(conversation: Conversation, us: Mapping[str, Any], seconds: float) -> Greeting | None:
    version = envelope.MODERN[-1]
    said: dict[str, Any] | None = None
    with anyio.move_on_after(seconds):
        try:
            said = await conversation.request("server/discover", stamped({}, version, us))
        except ServerError as error:
            _refuse_unknown_revisions(error)
    if said is None:
        return None
    offered = said.get("supportedVersions")
    if not isinstance(offered, list) or version not in offered:
        return None
    conversation.speak(version)
    server = said.get("serverInfo", envelope.meta(said).get(envelope.SERVER))
    return Greeting(Era.MODERN, version, _object(said.get("capabilities")), _object(server), _instructions(said))


def _refuse_unknown_revisions(error: ServerError) -> None:
    if error.error.get("code") != UNSUPPORTED_VERSION:
        return
    match error.error.get("data"):
        case {"supported": list(offered)} if not set(map(str, offered)) & {*envelope.MODERN, *envelope.HANDSHAKE}:
            raise NotUnderstood("the server speaks only revisions of the protocol that are not known here")


async def _handshake(conversation: Conversation, us: Mapping[str, Any]) -> Greeting:
    asked = {"protocolVersion": envelope.HANDSHAKE[-1], "capabilities": {}, "clientInfo": dict(us)}
    said = await conversation.request("initialize", asked)
    version = said.get("protocolVersion")
    if version not in envelope.HANDSHAKE:
        raise NotUnderstood("the server answers the handshake with a revision of the protocol that is not known here")
    conversation.speak(version)
    await conversation.notify("notifications/initialized")
    return Greeting(
        Era.LEGACY, version, _object(said.get("capabilities")), _object(said.get("serverInfo")), _instructions(said)
    )


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _instructions(said: Mapping[str, Any]) -> str | None:
    text = said.get("instructions")
    return text[:LONGEST_INSTRUCTIONS] if isinstance(text, str) and text else None
