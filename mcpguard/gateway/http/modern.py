"""Self-contained requests (from revision 2026-07-28 on): no session, one POST, one answer.

Closing the connection cancels the request. What a request says of itself, in its body and again in its headers, is
checked here; the codes and statuses are those of the MCP SDK, which is too slow to load for this (tests compare the
two).
"""

from collections.abc import Awaitable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from mcpguard.codec import envelope
from mcpguard.codec.headers.header_values import NAMED_BY, decode_header
from mcpguard.codec.headers.mirrored_arguments import PREFIX, disagreement
from mcpguard.codec.messages import INVALID_REQUEST, PARSE_ERROR, Failure, Message, Notification, Request, Result
from mcpguard.domain.callers import Caller
from mcpguard.gateway.client_request import Exchange
from mcpguard.gateway.clients import NETWORK, Client, modern_client
from mcpguard.gateway.faces.face import AgentFace
from mcpguard.gateway.http.exchange import HttpExchange
from mcpguard.gateway.http.plain import HEADER_MISMATCH, VERSION, HttpPatience, HttpRefusal
from mcpguard.gateway.http.request_head import twice
from mcpguard.gateway.methods import Methods
from mcpguard.gateway.wire import INVALID_PARAMS, METHOD_NOT_FOUND

MIRRORED = PREFIX.lower()
MOST_KEPT = 4096
"""Bytes of a request whose client is remembered."""


MISSING_CAPABILITY: Final = -32021
UNSUPPORTED_VERSION: Final = -32022
STATUSES: Final[Mapping[int, int]] = MappingProxyType(
    {
        PARSE_ERROR: 400,
        INVALID_REQUEST: 400,
        INVALID_PARAMS: 400,
        HEADER_MISMATCH: 400,
        MISSING_CAPABILITY: 400,
        UNSUPPORTED_VERSION: 400,
        METHOD_NOT_FOUND: 404,
    }
)
"""The HTTP status for the code of an error."""
METHOD: Final = "mcp-method"
NAME: Final = "mcp-name"
_ROUTING: Final = (VERSION, METHOD, NAME)
_NEEDED: Final = (envelope.PROTOCOL, envelope.CAPABILITIES)


class Modern:
    """Answers messages of the modern era."""

    statuses: Mapping[int, int] = STATUSES

    def __init__(self, methods: Methods, patience: HttpPatience) -> None:
        self._methods = methods
        self._patience = patience

    def take(
        self, exchange: HttpExchange, message: Message, caller: Caller, face: AgentFace
    ) -> Awaitable[Result | Failure] | None:
        """Return the work on the answer to a message; None where it was answered. Raises HttpRefusal."""
        if not isinstance(message, Request):
            _take_other(exchange, message)
            return None
        if exchange.twice and (name := duplicated_header(exchange.twice)) is not None:
            raise twice(name)
        params, mcp, method = message.params or {}, exchange.mcp, message.method
        client, meta, said = exchange.head.client, params.get("_meta"), mcp.get(NAME)
        is_as_before = (
            client is not None
            and client.caller is caller
            and client.face.key == face.key
            and isinstance(meta, dict)
            and exchange.head.said == (mcp.get(VERSION), meta.get(envelope.CLIENT), meta.get(envelope.CAPABILITIES))
            and meta.get(envelope.PROTOCOL) == client.version
            and mcp.get(METHOD) == method
            and params.get(NAMED_BY.get(method, "")) == said
            and (said is None or "=?" not in said)  # which could stand for another name
        )
        if client is None or not is_as_before:
            client = self._client(exchange, caller, face, read_revision(method, params, mcp), params["_meta"])
        if method == "tools/call" and isinstance(name := params.get("name"), str):
            _, tool = self._methods.tool(client, name)
            if tool is not None and (tool.mirrors or exchange.twice):
                _check_mirrored(exchange, tool.definition, params.get("arguments") or {})
        exchange.watch(exchange.leave, self._patience.quiet)
        return self._methods.reply(Exchange(client, message, exchange.say, peer=exchange.head.peer), message)

    def _client(
        self, exchange: HttpExchange, caller: Caller, face: AgentFace, version: str, meta: Mapping[str, Any]
    ) -> Client:
        """Return the client of a request: the one of the request before where nothing about it has changed."""
        head, said = exchange.head, (version, meta.get(envelope.CLIENT), meta[envelope.CAPABILITIES])
        client = head.client
        if client is not None and client.caller is caller and client.face.key == face.key and head.said == said:
            return client
        client = modern_client(NETWORK, caller, face, version, meta)
        # Only what is short is kept for as long as the connection.
        is_kept = len(exchange.body) <= MOST_KEPT and isinstance(meta[envelope.CAPABILITIES], dict)
        head.client, head.said = (client, said) if is_kept else (None, None)
        return client


def _check_mirrored(exchange: HttpExchange, definition: Mapping[str, Any], arguments: object) -> None:
    """Refuse a request whose headers repeat arguments with other values than the body has."""
    if not isinstance(arguments, dict):
        return
    if any(name.startswith(MIRRORED) for name in exchange.twice):
        raise HttpRefusal(400, HEADER_MISMATCH, "a header of an argument appears more than once", "headers")
    mirrored = {name: value for name, value in exchange.mcp.items() if name.startswith(MIRRORED)}
    if sentence := disagreement(definition.get("inputSchema"), arguments, mirrored):
        raise HttpRefusal(400, HEADER_MISMATCH, sentence, "envelope")


def _take_other(exchange: HttpExchange, message: Message) -> None:
    """Answer what is no request. This revision has no notifications over HTTP; nothing is done with one."""
    if not isinstance(message, Notification):
        raise HttpRefusal(400, INVALID_REQUEST, "clients do not send responses in this protocol version", "answer")
    check_version(exchange.mcp_header(VERSION) or "")
    exchange.answer(202)


def duplicated_header(twice: Iterable[str]) -> str | None:
    """Return the first of the headers that appear twice that decides where a request goes; None if none does."""
    return next((name for name in twice if name in _ROUTING), None)


def check_version(version: str) -> None:
    """Raise HttpRefusal unless the revision is one of the modern era."""
    if version not in envelope.MODERN:
        said = {"supported": [*envelope.MODERN], "requested": version}
        raise _refusal(UNSUPPORTED_VERSION, "Unsupported protocol version", said)


def read_revision(method: str, params: Mapping[str, Any] | None, headers: Mapping[str, str]) -> str:
    """Return the revision that a request is of. Raises HttpRefusal for a body that says nothing, or other headers."""
    meta = params.get("_meta") if params else None
    if not isinstance(meta, dict):
        keys = " and ".join(map(repr, _NEEDED))
        raise _refusal(INVALID_PARAMS, f"params._meta has to be an object with {keys}")
    if envelope.PROTOCOL not in meta or envelope.CAPABILITIES not in meta:
        missing = [key for key in _NEEDED if key not in meta]
        raise _refusal(INVALID_PARAMS, f"params._meta lacks {', '.join(missing)}")
    version = meta[envelope.PROTOCOL]
    # A client that contradicts itself is told so first, whatever revision it speaks.
    if not isinstance(version, str) or headers.get(VERSION) != version:
        raise _mismatch(VERSION, "protocol version in params._meta")
    if headers.get(METHOD) != method:
        raise _mismatch(METHOD, "method of the request")
    named_by = NAMED_BY.get(method)
    name = params.get(named_by) if params and named_by else None
    said = headers.get(NAME)
    # A value that is as it was written needs no decoding, unless its form stands for another one.
    if name is not None and (said is None or said != name or "=?" in said) and decode_header(said) != name:
        raise _mismatch(NAME, f"parameter {named_by!r} of the request")
    if version not in envelope.MODERN:
        check_version(version)
    return version


def _mismatch(header: str, what: str) -> HttpRefusal:
    return _refusal(HEADER_MISMATCH, f"the header {header} differs from the {what}")


def _refusal(code: int, sentence: str, data: Mapping[str, Any] | None = None) -> HttpRefusal:
    return HttpRefusal(STATUSES[code], code, sentence, "envelope", data=data)
