"""Self-contained requests (from revision 2026-07-28 on): no session, one POST, one answer.

Closing the connection cancels the request.
"""

from collections.abc import Awaitable

from starlette.types import Receive, Scope, Send

from mcpguard.codec import envelope
from mcpguard.codec.headers.mirrored_arguments import PREFIX, disagreement
from mcpguard.codec.messages import INVALID_REQUEST, Failure, Message, Notification, Request, Result
from mcpguard.domain.callers import Caller
from mcpguard.domain.servers.launches import Era
from mcpguard.gateway.client_request import Exchange, Say
from mcpguard.gateway.clients import NETWORK, Client, can_do, client_name
from mcpguard.gateway.faces.face import AgentFace
from mcpguard.gateway.http.modern_headers import STATUSES, check_version, duplicated_header, read_client
from mcpguard.gateway.http.plain import HEADER_MISMATCH, HttpPatience, HttpRefusal, header, headers, send_answer
from mcpguard.gateway.http.reply import reply
from mcpguard.gateway.methods import Methods
from mcpguard.gateway.open_requests import OpenRequest

VERSION = b"mcp-protocol-version"
MIRRORED = PREFIX.lower()
Headers = list[tuple[str, str]]


class Modern:
    """Answers messages of the modern era."""

    def __init__(self, methods: Methods, patience: HttpPatience) -> None:
        self._methods = methods
        self._patience = patience

    def take(
        self,
        here: OpenRequest,
        message: Message,
        caller: Caller,
        face: AgentFace,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> Awaitable[None]:
        """Answer one message."""
        match message:
            case Request():
                pairs = headers(scope)
                client = self._client(message, caller, face, pairs)
                self._check_mirrored(message, client, pairs)
                return self._answer(here, message, client, receive, send)
            case Notification():
                check_version(header(scope, VERSION) or "")
                return send_answer(send, 202)  # this revision has none over HTTP; nothing is done with it
            case _:
                raise HttpRefusal(
                    400, INVALID_REQUEST, "clients do not send responses in this protocol version", "answer"
                )

    def _client(self, request: Request, caller: Caller, face: AgentFace, pairs: Headers) -> Client:
        if (twice := duplicated_header(pairs)) is not None:
            raise HttpRefusal(400, HEADER_MISMATCH, f"the header {twice} appears more than once", "headers")
        said = read_client(request.method, request.params, dict(pairs))
        name, can = client_name(said.info), can_do(envelope.meta(request.params).get(envelope.CAPABILITIES))
        return Client(NETWORK, caller, face, Era.MODERN, said.version, name, can)

    def _check_mirrored(self, request: Request, client: Client, pairs: Headers) -> None:
        """Refuse a request whose headers repeat arguments with other values than the body has."""
        params = request.params or {}
        name, arguments = params.get("name"), params.get("arguments") or {}
        if request.method != "tools/call" or not isinstance(name, str) or not isinstance(arguments, dict):
            return
        pinned = self._methods.tool(client, name)
        if pinned is None:
            return
        mirrored = [pair for pair in pairs if pair[0].startswith(MIRRORED)]
        if len(dict(mirrored)) < len(mirrored):
            raise HttpRefusal(400, HEADER_MISMATCH, "a header of an argument appears more than once", "headers")
        if sentence := disagreement(pinned.definition.get("inputSchema"), arguments, dict(mirrored)):
            raise HttpRefusal(400, HEADER_MISMATCH, sentence, "envelope")

    def _answer(
        self, here: OpenRequest, request: Request, client: Client, receive: Receive, send: Send
    ) -> Awaitable[None]:
        def work(say: Say) -> Awaitable[Result | Failure]:
            return self._methods.reply(Exchange(client, request, say), request)

        return reply(here, receive, send, work, statuses=STATUSES, left=here.leave, quiet=self._patience.quiet)
