"""The door for agents on the network. Every request passes these gates, outermost first.

    origin → caller → face → message → share → era → answer

Rules kept here:
1. A web page of another origin is refused before anything that it sends is read.
2. When a caller is revoked, everything open in its name ends.
3. A message that cannot be understood is answered as the specification says, and counted; nobody else pays for it.
4. However long a caller's requests take, they hold no more connections than its share, and all callers together leave
   a reserve for people. What is not a request is answered at once and, unless it is large, needs no place: a client
   whose share is used up can still cancel its requests and answer questions.
5. A large body gets a place before all of it is read, and waits there until few others are being read.
"""

from contextlib import ExitStack
from urllib.parse import parse_qs

from starlette.types import Message as ASGIMessage
from starlette.types import Receive, Scope, Send

from mcpguard.codec import envelope
from mcpguard.codec.messages import INVALID_REQUEST, BadMessage, Id, Message, Request
from mcpguard.codec.names import SEPARATORS, Separator, is_server_name
from mcpguard.domain.callers import Caller
from mcpguard.domain.clock import Clock
from mcpguard.domain.reasons import Reason
from mcpguard.gateway.clients import NETWORK, PLACES, SHARE
from mcpguard.gateway.faces.direct import DirectFace
from mcpguard.gateway.faces.direct_with_proxy import DirectFaceWithProxy
from mcpguard.gateway.faces.face import AgentFace
from mcpguard.gateway.faces.transparent import TransparentFace
from mcpguard.gateway.http.legacy import Legacy
from mcpguard.gateway.http.modern import Modern
from mcpguard.gateway.http.origins import check_origin
from mcpguard.gateway.http.plain import (
    ClientLeft,
    HttpPatience,
    HttpRefusal,
    RequestBody,
    accepted_types,
    failure,
    header,
    send_answer,
)
from mcpguard.gateway.http.sessions import Sessions
from mcpguard.gateway.identity import Unauthorized, caller_of_request
from mcpguard.gateway.message_reader import AgentMessageReader
from mcpguard.gateway.methods import Methods
from mcpguard.gateway.open_requests import OpenRequest, OpenRequests
from mcpguard.gateway.subscriptions.list_news import ListNews
from mcpguard.gateway.tools.guard_face import GuardFace
from mcpguard.gateway.wire import REFUSED
from mcpguard.guard.guard import Guard
from mcpguard.guard.servers.publisher import CatalogChange
from mcpguard.policy.scopes import is_server_in_scope
from mcpguard.policy.shares import Crowded, Shares

GUARD = "/mcp"
ALL = "/mcp/all"
PROXY = "/mcp/proxy"
ONLY = "/mcp/only/"
VERSION = b"mcp-protocol-version"
AGAIN = (b"retry-after", b"1")
_JSON = {"application/json", "application/*", "*/*"}
_STREAM = {"text/event-stream", "text/*", "*/*"}


class HttpDoor:
    """An ASGI application for every path below /mcp."""

    def __init__(self, guard: Guard, methods: Methods, clock: Clock, patience: HttpPatience | None = None) -> None:
        limits = guard.settings.limits
        self.used = clock.monotonic()
        self.sessions = Sessions(limits.sessions, limits.session_seconds, clock)
        self._clock = clock
        self._guard = guard
        self._methods = methods
        self._patience = patience or HttpPatience()
        self._reader = AgentMessageReader(limits)
        self._news = ListNews(guard.catalog)
        self._legacy = Legacy(methods, self.sessions, limits.client_calls, self._patience)
        self._modern = Modern(methods, self._patience)
        proxy, instructs = guard.settings.proxy, guard.settings.merged_instructions
        self._direct = {each: DirectFace(each, instructs=instructs) for each in SEPARATORS}
        self._proxied = {
            each: DirectFaceWithProxy(each, proxy.name, instructs=instructs) for each in SEPARATORS if proxy.enabled
        }
        self._guarding = GuardFace(guard.settings)
        self._guests = OpenRequests()
        self._shares = Shares(limits.of_caller, limits.of_agents)

    def tell(self, changed: CatalogChange) -> None:
        """Tell the clients that listen that other capabilities are offered now."""
        self.sessions.tell(self._news.news_for_clients(self._guard.catalog, changed))

    def close(self) -> None:
        """End every stream that would otherwise stay open."""
        self.sessions.end_streams()
        self._methods.close()

    def end_caller(self, caller: str) -> None:
        """End what is open in the name of a caller that was revoked."""
        self._guests.end_caller(caller)
        self.sessions.end_caller(caller)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.used = self._clock.monotonic()
        try:
            check_origin(scope)
            caller = caller_of_request(scope, self._guard.callers)
            began = False

            async def answer(said: ASGIMessage) -> None:
                nonlocal began
                began = True
                await send(said)

            with self._guests.hold_open(caller.id) as here:
                await self._answer(here, caller, scope, receive, answer)
            if here.was_revoked and not began:
                await self._challenge(Unauthorized(Reason.CALLER_REVOKED.sentence), send)
        except Unauthorized as error:
            await self._challenge(error, send)
        except HttpRefusal as turned:
            await self._turn(turned, send)

    async def _answer(self, here: OpenRequest, caller: Caller, scope: Scope, receive: Receive, send: Send) -> None:
        id_: Id | None = None
        try:
            face = self._face(scope, caller)
            if scope["method"] != "POST":
                await self._other(caller, face, scope, receive, send)
                return
            _check_headers(scope)
            body = RequestBody(receive, self._patience.body)
            await body.begin()
            with ExitStack() as place:
                if large := body.is_large:
                    place.enter_context(self._shares.take(caller.id))
                said = await self._read(body, caller)
                id_ = said.id if isinstance(said, Request) else None
                if id_ is not None and not large:
                    place.enter_context(self._shares.take(caller.id))
                era = self._modern if _is_modern(said, scope) else self._legacy
                await era.take(here, said, caller, face, scope, receive, send)
        except BadMessage as error:
            self._count("message")
            await send_answer(send, 400, failure(error.code, str(error), error.id))
        except Crowded as crowded:
            await self._send_back(crowded, caller, id_, send)
        except HttpRefusal as turned:
            await self._turn(turned, send, id_)
        except ClientLeft:
            return

    async def _read(self, body: RequestBody, caller: Caller) -> Message:
        """Return the message in the body. Raises BadMessage, ClientLeft, or HttpRefusal if the body does not arrive in
        time.
        """
        if not body.is_large:
            return await self._reader.read(body.data)
        async with self._reader.large(caller.id):
            try:
                await body.end()
                return await self._reader.read(body.data)
            finally:
                body.data.clear()

    async def _send_back(self, crowded: Crowded, caller: Caller, id_: Id | None, send: Send) -> None:
        """Tell a client that its request was not taken, and when to retry."""
        if crowded.own:
            self._count(SHARE, caller=caller.id)
            sentence = (
                f"this caller has {self._shares.of_one} requests in progress, the limit for one caller; wait for some "
                "of them to finish or close unused streams, then retry"
            )
        else:
            self._count(PLACES, caller=caller.id)
            sentence = (
                "the limit of requests in progress is reached for all agents; nothing was done; retry in a moment"
            )
        await send_answer(send, 429 if crowded.own else 503, failure(REFUSED, sentence, id_), (AGAIN,))

    async def _challenge(self, error: Unauthorized, send: Send) -> None:
        self._count("credential")
        challenge = (b"www-authenticate", error.challenge)
        await send_answer(send, error.status, failure(INVALID_REQUEST, str(error)), (challenge,))

    async def _turn(self, turned: HttpRefusal, send: Send, id_: Id | None = None) -> None:
        self._count(turned.why)
        headers = [(b"connection", b"close")] if turned.status == 408 else []
        if turned.wait:
            headers.append((b"retry-after", str(turned.wait).encode()))
        await send_answer(send, turned.status, failure(turned.code, str(turned), id_, turned.data), headers)

    async def _other(self, caller: Caller, face: AgentFace, scope: Scope, receive: Receive, send: Send) -> None:
        in_sessions = header(scope, VERSION) not in envelope.MODERN
        if scope["method"] not in ("GET", "DELETE") or not in_sessions:
            self._count("http method")
            await send_answer(send, 405, headers=((b"allow", b"GET, POST, DELETE" if in_sessions else b"POST"),))
            return
        session = self._legacy.session(caller, face, scope)
        if scope["method"] == "DELETE":
            await self._legacy.end(session, send)
        elif not accepted_types(scope) & _STREAM:
            raise HttpRefusal(406, INVALID_REQUEST, "Accept must list text/event-stream", "accept")
        else:
            with self._shares.take(caller.id):
                await self._legacy.listen(session, receive, send)

    def _face(self, scope: Scope, caller: Caller) -> AgentFace:
        path = scope["path"]
        if scope["raw_path"].endswith(b"/"):  # some clients put one behind every URL; encoded, it is part of a name
            path = path.removesuffix("/")
        if path == GUARD:
            return self._guarding
        if path == ALL:
            return self._direct[self._separator(scope)]
        if path == PROXY and self._proxied:
            return self._proxied[self._separator(scope)]
        server = path.removeprefix(ONLY) if path.startswith(ONLY) else ""
        if is_server_name(server) and is_server_in_scope(caller.scope, server) and self._guard.servers.knows(server):
            return TransparentFace(server)
        places = [GUARD, ALL, *([PROXY] if self._proxied else [])]
        raise HttpRefusal(
            404,
            INVALID_REQUEST,
            f"there is no endpoint at this path; agents connect to {', '.join(places)} and {ONLY}<server>",
            "path",
        )

    def _separator(self, scope: Scope) -> Separator:
        """Return the separator that the client asks for in its URL, or else the configured one."""
        query: bytes = scope["query_string"]
        said = parse_qs(query.decode("latin-1"), keep_blank_values=True).get("separator") if query else None
        if said is None:
            return self._guard.settings.separator
        for each in SEPARATORS:
            if said == [each]:
                return each
        raise HttpRefusal(
            400, INVALID_REQUEST, f"separator must be one of {' '.join(SEPARATORS)}, given once", "separator"
        )

    def _count(self, reason: str, **more: str) -> None:
        self._guard.tallies.count_refused(door=NETWORK, why=reason, **more)


def _check_headers(scope: Scope) -> None:
    kind = (header(scope, b"content-type") or "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HttpRefusal(415, INVALID_REQUEST, "send application/json", "content type")
    kinds = accepted_types(scope)
    if not (kinds & _JSON and kinds & _STREAM):
        raise HttpRefusal(
            406, INVALID_REQUEST, "Accept must list both application/json and text/event-stream", "accept"
        )


def _is_modern(said: Message, scope: Scope) -> bool:
    version = header(scope, VERSION)
    if version is not None and version not in envelope.HANDSHAKE:
        return True
    return isinstance(said, Request) and said.method != "initialize" and envelope.is_modern(said.params)
