"""Self-contained requests (from revision 2026-07-28 on): no session, one POST, one answer.

Closing the connection cancels the request.
"""

from collections.abc import Awaitable, Mapping
from typing import Any

from mcpguard.codec import envelope
from mcpguard.codec.headers.mirrored_arguments import PREFIX, disagreement
from mcpguard.codec.messages import INVALID_REQUEST, Failure, Message, Notification, Request, Result
from mcpguard.domain.callers import Caller
from mcpguard.gateway.client_request import Exchange
from mcpguard.gateway.clients import NETWORK, Client, modern_client
from mcpguard.gateway.faces.face import AgentFace
from mcpguard.gateway.http.exchange import HttpExchange
from mcpguard.gateway.http.modern_headers import STATUSES, VERSION, check_version, duplicated_header, read_revision
from mcpguard.gateway.http.plain import HEADER_MISMATCH, HttpPatience, HttpRefusal
from mcpguard.gateway.http.request_head import twice
from mcpguard.gateway.methods import Methods

MIRRORED = PREFIX.lower()
MOST_KEPT = 4096
"""Bytes of a request whose client is remembered."""


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
        params = message.params or {}
        version = read_revision(message.method, params, exchange.mcp)
        client = self._client(exchange, caller, face, version, params["_meta"])
        if message.method == "tools/call":
            self._check_mirrored(exchange, client, params)
        exchange.watch(exchange.leave, self._patience.quiet)
        return self._methods.reply(Exchange(client, message, exchange.say), message)

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
        head.client, head.said = (client, said) if len(exchange.body) <= MOST_KEPT else (None, None)
        return client

    def _check_mirrored(self, exchange: HttpExchange, client: Client, params: Mapping[str, Any]) -> None:
        """Refuse a request whose headers repeat arguments with other values than the body has."""
        name, arguments = params.get("name"), params.get("arguments") or {}
        if not isinstance(name, str) or not isinstance(arguments, dict):
            return
        _, tool = self._methods.tool(client, name)
        if tool is None or not (tool.mirrors or exchange.twice):
            return
        if any(name.startswith(MIRRORED) for name in exchange.twice):
            raise HttpRefusal(400, HEADER_MISMATCH, "a header of an argument appears more than once", "headers")
        mirrored = {name: value for name, value in exchange.mcp.items() if name.startswith(MIRRORED)}
        if sentence := disagreement(tool.definition.get("inputSchema"), arguments, mirrored):
            raise HttpRefusal(400, HEADER_MISMATCH, sentence, "envelope")


def _take_other(exchange: HttpExchange, message: Message) -> None:
    """Answer what is no request. This revision has no notifications over HTTP; nothing is done with one."""
    if not isinstance(message, Notification):
        raise HttpRefusal(400, INVALID_REQUEST, "clients do not send responses in this protocol version", "answer")
    check_version(exchange.mcp_header(VERSION) or "")
    exchange.answer(202)
