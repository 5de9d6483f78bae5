"""Which revision of the protocol is spoken with a server, and what it says of itself.

Asked first in the modern way. What answers that is modern; what answers with anything else, or not in time, is asked
for the handshake of the earlier revisions. A late answer to the first question may have made up the server's mind: then
it refuses the handshake with an error of the modern revisions, and is asked once more.

A server that does not take the revision of the first question may name those that it speaks. Where one of them is a
modern one that is known here, the question is asked once more in that one, and never the handshake: a server that names
it is modern. Where only earlier ones are known, they are spoken by the handshake.

There are servers of the earlier revisions that end when they are asked anything before the handshake. `Shied` says so,
and whoever connects again asks for the handshake first.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio

from mcpguard.codec import envelope
from mcpguard.domain.errors import GuardError
from mcpguard.domain.servers.launches import Era
from mcpguard.upstreams.exchange.conversation import Conversation, ServerError
from mcpguard.upstreams.exchange.endings import Unanswered, Unsent
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.protocol.error_sentences import sentence, status
from mcpguard.upstreams.transports.http_replies import UNAUTHORIZED

UNSUPPORTED_VERSION = -32022
_MODERN_ERRORS = {-32020, -32021, UNSUPPORTED_VERSION}
"""No earlier revision has these: whoever says them is modern."""
LONGEST_INSTRUCTIONS = 64 * 1024
_VERSION = envelope.MODERN[-1]


class RevisionNotUnderstood(GuardError):
    """The server speaks, but nothing that we speak. Says what in a sentence for the operator."""


class Shied(TransportEnded):
    """The connection ended over the question for the newest revision."""


class _NotModern(GuardError):
    """What came is no answer of a modern server. Says what it is."""


class _AnotherRevision(_NotModern):
    """The server refuses the revision that it was asked in, and names a modern one that it speaks."""

    def __init__(self, why: str, version: str) -> None:
        super().__init__(why)
        self.version = version


@dataclass(frozen=True, slots=True)
class Greeting:
    """What was agreed, and what the server said of itself."""

    era: Era
    version: str
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    server: Mapping[str, Any] = field(default_factory=dict)
    instructions: str | None = None


@dataclass(frozen=True, slots=True)
class Us:
    """What we say of ourselves. In a handshake that includes what we can be asked for, whoever calls later."""

    info: Mapping[str, Any]
    capabilities: Mapping[str, Any] = field(default_factory=dict)


async def negotiate(conversation: Conversation, us: Us, era: Era, probe_seconds: float) -> Greeting:
    """Agree on a revision. Raises RevisionNotUnderstood, ServerError, or TransportEnded."""
    if era is Era.LEGACY:
        return await _handshake(conversation, us)
    try:
        return await _discovered(conversation, us.info, probe_seconds)
    except _NotModern as error:
        if era is Era.MODERN:
            raise RevisionNotUnderstood(
                f"the server is to be spoken to in the revision {_VERSION}, and {error}"
            ) from error
    try:
        return await _handshake(conversation, us)
    except ServerError as error:
        if error.error.get("code") not in _MODERN_ERRORS:
            raise
        _refuse_unknown_revisions(error)
    try:
        return await _discovered(conversation, us.info, probe_seconds)
    except _NotModern as error:
        raise RevisionNotUnderstood(
            f"the server refuses the handshake; asked for the revision {_VERSION}, {error}"
        ) from error


def stamped(params: Mapping[str, Any], version: str, us: Mapping[str, Any], **more: object) -> dict[str, Any]:
    """Parameters as a modern server wants them."""
    said = {envelope.PROTOCOL: version, envelope.CLIENT: dict(us), envelope.CAPABILITIES: {}}
    return envelope.with_meta(params, said | more)


async def _discovered(conversation: Conversation, us: Mapping[str, Any], seconds: float) -> Greeting:
    try:
        return await _asked(conversation, us, seconds, _VERSION)
    except _AnotherRevision as error:
        version = error.version
    try:
        return await _asked(conversation, us, seconds, version)
    except _NotModern as error:
        raise RevisionNotUnderstood(
            f"the server says that it speaks the revision {version}; asked in it, {error}"
        ) from error
    except Shied as error:  # what names such a revision has not shied at it
        raise TransportEnded(str(error)) from error


async def _asked(conversation: Conversation, us: Mapping[str, Any], seconds: float, version: str) -> Greeting:
    said: dict[str, Any] | None = None
    with anyio.move_on_after(seconds):
        said = await _answer(conversation, stamped({}, version, us))
    if said is None:
        raise _NotModern(f"it gave no answer within {seconds:g} seconds")
    offered = said.get("supportedVersions")
    if not isinstance(offered, list) or version not in offered:
        raise _NotModern("it does not offer that")
    conversation.speak(version)
    server = said.get("serverInfo", envelope.meta(said).get(envelope.SERVER))
    return Greeting(Era.MODERN, version, _object(said.get("capabilities")), _object(server), _instructions(said))


async def _answer(conversation: Conversation, params: dict[str, Any]) -> dict[str, Any]:
    try:
        return await conversation.request("server/discover", params)
    except ServerError as error:
        if status(error) == UNAUTHORIZED:
            raise
        _refuse_unknown_revisions(error)
        known = [each for each in envelope.MODERN if each in (_named(error) or ())]
        if known:
            raise _AnotherRevision(sentence(error), known[-1]) from error
        raise _NotModern(sentence(error)) from error
    except Unsent:
        raise
    except Unanswered as error:  # that one question was; others may be asked
        raise _NotModern(str(error)) from error
    except TransportEnded as error:
        raise Shied(str(error)) from error


def _refuse_unknown_revisions(error: ServerError) -> None:
    named = _named(error)
    if named is not None and not any(each in (*envelope.MODERN, *envelope.HANDSHAKE) for each in named):
        raise RevisionNotUnderstood("the server speaks only revisions of the protocol that are not known here")


def _named(error: ServerError) -> list[object] | None:
    """The revisions that the server says it speaks, where it refuses the one that it was asked in."""
    if error.error.get("code") != UNSUPPORTED_VERSION:
        return None
    data = error.error.get("data")
    named = data.get("supported") if isinstance(data, dict) else None
    return named if isinstance(named, list) else None


async def _handshake(conversation: Conversation, us: Us) -> Greeting:
    asked = {
        "protocolVersion": envelope.HANDSHAKE[-1],
        "capabilities": dict(us.capabilities),
        "clientInfo": dict(us.info),
    }
    said = await conversation.request("initialize", asked)
    version = said.get("protocolVersion")
    if version not in envelope.HANDSHAKE:
        raise RevisionNotUnderstood(
            "the server answers the handshake with a revision of the protocol that is not known here"
        )
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
