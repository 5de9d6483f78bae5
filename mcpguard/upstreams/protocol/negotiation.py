"""Negotiates the protocol revision with a server, and learns the server's name and capabilities.

A server is first probed in the modern way. If it answers, it is modern; after any other reply, or none in time, the
handshake of the earlier revisions follows. The probe may have committed a slow server to the modern era: it then
refuses the handshake with an error of the modern revisions, and is probed once more.

A server that refuses the probe's revision may name those that it supports. If one of them is a modern revision that the
guard supports, the server is probed again in that revision, and the handshake is never used. If the guard supports only
earlier ones of them, the handshake follows.

Some servers of the earlier revisions exit when they receive anything before the handshake. `ProbeRefused` reports this,
and the next connection begins with the handshake.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from mcpguard.codec import envelope
from mcpguard.domain.asks import AskKind
from mcpguard.domain.errors import GuardError
from mcpguard.domain.servers.launches import Era
from mcpguard.text.visible import visible
from mcpguard.upstreams.exchange.conversation import Conversation, ServerError
from mcpguard.upstreams.exchange.endings import NoUsableAnswer, Unsent
from mcpguard.upstreams.exchange.transport import TransportEnded
from mcpguard.upstreams.protocol.error_sentences import error_sentence, http_status
from mcpguard.upstreams.transports.http_replies import UNAUTHORIZED

UNSUPPORTED_VERSION = -32022
_MODERN_ERRORS = {-32020, -32021, UNSUPPORTED_VERSION}
"""Errors that no earlier revision has: a server that returns one is modern."""
LONGEST_INSTRUCTIONS = 64 * 1024
_VERSION = envelope.MODERN[-1]


class RevisionNotUnderstood(GuardError):
    """The server supports no revision that the guard supports. The message says what it answered, for the operator."""


class ProbeRefused(TransportEnded):
    """The server ended the connection when it was probed for the newest revision."""


class _NotModern(GuardError):
    """The answer to a probe is not that of a modern server. The message says what it is."""


class _AnotherRevision(_NotModern):
    """The server refuses the probe's revision, and names a modern one that it supports."""

    def __init__(self, why: str, version: str) -> None:
        super().__init__(why)
        self.version = version


@dataclass(frozen=True, slots=True)
class Greeting:
    """The negotiated revision, and the server's description of itself."""

    era: Era
    version: str
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    server: Mapping[str, Any] = field(default_factory=dict)
    instructions: str | None = None


@dataclass(frozen=True, slots=True)
class ClientGreeting:
    """The guard's description of itself. In a handshake it includes what clients can be asked, for all later calls."""

    info: Mapping[str, Any]
    capabilities: Mapping[str, Any] = field(default_factory=dict)


async def negotiate(conversation: Conversation, us: ClientGreeting, era: Era, probe_seconds: float) -> Greeting:
    """Negotiate a revision. Raises RevisionNotUnderstood, ServerError, or TransportEnded."""
    if era is Era.LEGACY:
        return await _handshake(conversation, us)
    try:
        return await _discovered(conversation, us.info, probe_seconds)
    except _NotModern as error:
        if era is Era.MODERN:
            raise RevisionNotUnderstood(
                f"the server is configured for protocol version {_VERSION}, but {error}"
            ) from error
    try:
        return await _handshake(conversation, us)
    except ServerError as error:
        # Any other error is the server's answer to a client of its own era, for example that it requires credentials.
        if error.error.get("code") not in _MODERN_ERRORS:
            raise
        _refuse_unknown_revisions(error)
    try:
        return await _discovered(conversation, us.info, probe_seconds)
    except _NotModern as error:
        raise RevisionNotUnderstood(
            f"the server refused the handshake; probed for protocol version {_VERSION}, {error}"
        ) from error


def with_envelope(params: Mapping[str, Any], version: str, us: Mapping[str, Any], **more: object) -> dict[str, Any]:
    """Return the parameters with the metadata that a modern server requires."""
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
            f"the server claims to support protocol version {version}, but probed for it, {error}"
        ) from error
    except ProbeRefused as error:  # a server that names such a revision did not exit because of the probe
        raise TransportEnded(str(error)) from error


async def _asked(conversation: Conversation, us: Mapping[str, Any], seconds: float, version: str) -> Greeting:
    said: dict[str, Any] | None = None
    with anyio.move_on_after(seconds):
        said = await _answer(conversation, with_envelope({}, version, us))
    if said is None:
        raise _NotModern(f"it did not answer within {seconds:g} seconds")
    offered = said.get("supportedVersions")
    if not isinstance(offered, list) or version not in offered:
        raise _NotModern("it does not support that version")
    conversation.speak(version)
    server = said.get("serverInfo", envelope.meta(said).get(envelope.SERVER))
    return Greeting(Era.MODERN, version, _object(said.get("capabilities")), _object(server), _instructions(said))


async def _answer(conversation: Conversation, params: dict[str, Any]) -> dict[str, Any]:
    try:
        return await conversation.request("server/discover", params)
    except ServerError as error:
        # Not a sign of an older server: without credentials nobody can tell what it supports.
        if http_status(error) == UNAUTHORIZED:
            raise
        _refuse_unknown_revisions(error)
        # The server's list is only compared with known revisions, and never used as it is.
        known = [each for each in envelope.MODERN if each in (_named(error) or ())]
        if known:
            raise _AnotherRevision(error_sentence(error), known[-1]) from error
        raise _NotModern(error_sentence(error)) from error
    except Unsent:
        raise
    except NoUsableAnswer as error:  # only this request failed; the connection can still be used
        raise _NotModern(str(error)) from error
    except TransportEnded as error:
        raise ProbeRefused(str(error)) from error


def _refuse_unknown_revisions(error: ServerError) -> None:
    named = _named(error)
    if named is not None and not any(each in (*envelope.MODERN, *envelope.HANDSHAKE) for each in named):
        raise RevisionNotUnderstood("the server supports only protocol versions that mcpguard does not know")


def _named(error: ServerError) -> list[object] | None:
    """Return the revisions that the server claims to support, where it refuses the one of the request."""
    if error.error.get("code") != UNSUPPORTED_VERSION:
        return None
    data = error.error.get("data")
    named = data.get("supported") if isinstance(data, dict) else None
    return named if isinstance(named, list) else None


async def _handshake(conversation: Conversation, us: ClientGreeting) -> Greeting:
    asked = {
        "protocolVersion": envelope.HANDSHAKE[-1],
        "capabilities": dict(us.capabilities),
        "clientInfo": dict(us.info),
    }
    said = await conversation.request("initialize", asked)
    version = said.get("protocolVersion")
    if version not in envelope.HANDSHAKE:
        raise RevisionNotUnderstood("the server answered the handshake with an unsupported protocol version")
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


_SAID: Final[Mapping[AskKind, Mapping[str, Any]]] = {
    AskKind.ROOTS: {"listChanged": True},
    AskKind.ELICITATION: {"form": {}},
}
"""What a handshake declares for each kind. It is declared once for all clients, so it is what most of them support."""


def our_greeting(info: Mapping[str, Any], may_ask: Collection[AskKind]) -> ClientGreeting:
    """Return the guard's description for a server that may ask clients for these kinds."""
    return ClientGreeting(info, {kind.value: dict(_SAID.get(kind, {})) for kind in sorted(may_ask)})


def server_title(server: Mapping[str, Any]) -> str:
    """Return the name and version that a server gives itself."""
    parts = (server.get(key) for key in ("name", "version"))
    return visible(" ".join(text[:100] for text in parts if isinstance(text, str)).strip())
