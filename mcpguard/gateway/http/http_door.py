"""The agents' door on the network. Everything that comes in passes here, outermost gate first.

    origin → caller → face → message → share → era → answer

Rules kept here:
1. A browser's page that is not ours is turned away before anybody looks at what it sends.
2. What is open in the name of a caller that was revoked ends.
3. What cannot be understood is answered as the specification says, and counted; it costs nobody else anything.
4. However long a caller's requests take, they take no more connections than its share, and those of all callers leave
   a reserve for everybody who is no agent. What is not a request is answered at once and, unless it is large, needs no
   place: a client whose share is full can still take its requests back, and answer what it was asked.
5. A large body has its place before all of it is taken in, and waits there until few others are being read.
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
from mcpguard.gateway.faces.direct import Direct
from mcpguard.gateway.faces.face import AgentFace
from mcpguard.gateway.faces.proxied import Proxied
from mcpguard.gateway.faces.transparent import Transparent
from mcpguard.gateway.http.legacy import Legacy
from mcpguard.gateway.http.modern import Modern
from mcpguard.gateway.http.origins import check_origin
from mcpguard.gateway.http.plain import HttpPatience, Left, RequestBody, Turned, accepted, failure, give, header
from mcpguard.gateway.http.sessions import Sessions
from mcpguard.gateway.identity import Unauthorized, caller_of_request
from mcpguard.gateway.message_reader import AgentMessageReader
from mcpguard.gateway.methods import Methods
from mcpguard.gateway.open_requests import Guests
from mcpguard.gateway.subscriptions.list_news import News
from mcpguard.gateway.tools.guard_face import Guarding
from mcpguard.gateway.wire import REFUSED
from mcpguard.guard.guard import Guard
from mcpguard.guard.servers.publisher import CatalogChange
from mcpguard.policy.scopes import reaches
from mcpguard.policy.shares import Crowded, Shares

GUARD = "/mcp"
ALL = "/mcp/all"
PROXY = "/mcp/proxy"
ONLY = "/mcp/only/"
VERSION = b"mcp-protocol-version"
AGAIN = (b"retry-after", b"1")
_JSON = {"application/json", "application/*", "*/*"}
_STREAM = {"text/event-stream", "text/*", "*/*"}


class Door:
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
        self._news = News(guard.catalog)
        self._legacy = Legacy(methods, self.sessions, limits.client_calls, self._patience)
        self._modern = Modern(methods, self._patience)
        proxy, instructs = guard.settings.proxy, guard.settings.merged_instructions
        self._direct = {each: Direct(each, instructs=instructs) for each in SEPARATORS}
        self._proxied = {each: Proxied(each, proxy.name, instructs=instructs) for each in SEPARATORS if proxy.enabled}
        self._guarding = Guarding(guard.settings)
        self._guests = Guests()
        self._shares = Shares(limits.of_caller, limits.of_agents)

    def tell(self, changed: CatalogChange) -> None:
        """What is offered is different now."""
        self.sessions.tell(self._news.of(self._guard.catalog, changed))

    def close(self) -> None:
        """End every stream that would otherwise stay open for ever."""
        self.sessions.end_streams()
        self._methods.close()

    def lost(self, caller: str) -> None:
        """This one is no caller any more."""
        self._guests.lost(caller)
        self.sessions.lost(caller)

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

            with self._guests.here(caller.id) as here:
                await self._answer(caller, scope, receive, answer)
            if here.cancelled_caught and not began:
                await self._challenge(Unauthorized(Reason.CALLER_REVOKED.sentence), send)
        except Unauthorized as error:
            await self._challenge(error, send)
        except Turned as turned:
            await self._turn(turned, send)

    async def _answer(self, caller: Caller, scope: Scope, receive: Receive, send: Send) -> None:
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
                await era.take(said, caller, face, scope, receive, send)
        except BadMessage as error:
            self._count("message")
            await give(send, 400, failure(error.code, str(error), error.id))
        except Crowded as crowded:
            await self._send_back(crowded, caller, id_, send)
        except Turned as turned:
            await self._turn(turned, send, id_)
        except Left:
            return

    async def _read(self, body: RequestBody, caller: Caller) -> Message:
        """The message in it. Raises BadMessage, Left, or Turned if the body does not come in time."""
        if not body.is_large:
            return await self._reader.read(body.data)
        async with self._reader.large(caller.id):
            try:
                await body.end()
                return await self._reader.read(body.data)
            finally:
                body.data.clear()

    async def _send_back(self, crowded: Crowded, caller: Caller, id_: Id | None, send: Send) -> None:
        """Tell a client that its request was not taken, and when it may ask again."""
        if crowded.own:
            self._count(SHARE, caller=caller.id)
            sentence = (
                f"this caller has {self._shares.of_one} requests under way, as many as one caller may; wait until some "
                "of them are answered, or close streams that are not needed, and ask again"
            )
        else:
            self._count(PLACES, caller=caller.id)
            sentence = "agents have as many requests under way as there may be; nothing was done; ask again in a moment"
        await give(send, 429 if crowded.own else 503, failure(REFUSED, sentence, id_), (AGAIN,))

    async def _challenge(self, error: Unauthorized, send: Send) -> None:
        self._count("credential")
        challenge = (b"www-authenticate", error.challenge)
        await give(send, error.status, failure(INVALID_REQUEST, str(error)), (challenge,))

    async def _turn(self, turned: Turned, send: Send, id_: Id | None = None) -> None:
        self._count(turned.why)
        headers = [(b"connection", b"close")] if turned.status == 408 else []
        if turned.wait:
            headers.append((b"retry-after", str(turned.wait).encode()))
        await give(send, turned.status, failure(turned.code, str(turned), id_, turned.data), headers)

    async def _other(self, caller: Caller, face: AgentFace, scope: Scope, receive: Receive, send: Send) -> None:
        in_sessions = header(scope, VERSION) not in envelope.MODERN
        if scope["method"] not in ("GET", "DELETE") or not in_sessions:
            self._count("http method")
            await give(send, 405, headers=((b"allow", b"GET, POST, DELETE" if in_sessions else b"POST"),))
            return
        session = self._legacy.session(caller, face, scope)
        if scope["method"] == "DELETE":
            await self._legacy.end(session, send)
        elif not accepted(scope) & _STREAM:
            raise Turned(406, INVALID_REQUEST, "accept text/event-stream to listen", "accept")
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
        if is_server_name(server) and reaches(caller.scope, server) and self._guard.servers.knows(server):
            return Transparent(server)
        places = [GUARD, ALL, *([PROXY] if self._proxied else [])]
        raise Turned(
            404,
            INVALID_REQUEST,
            f"nothing is here; agents are served at {', '.join(places)} and {ONLY}<server>",
            "path",
        )

    def _separator(self, scope: Scope) -> Separator:
        """What the client says that its model can take in names, or else what the setting says."""
        said = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True).get("separator")
        if said is None:
            return self._guard.settings.separator
        for each in SEPARATORS:
            if said == [each]:
                return each
        raise Turned(400, INVALID_REQUEST, f"separator must be one of {' '.join(SEPARATORS)}, said once", "separator")

    def _count(self, reason: str, **more: str) -> None:
        self._guard.tallies.turned_away(door=NETWORK, why=reason, **more)


def _check_headers(scope: Scope) -> None:
    kind = (header(scope, b"content-type") or "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Turned(415, INVALID_REQUEST, "send application/json", "content type")
    kinds = accepted(scope)
    if not (kinds & _JSON and kinds & _STREAM):
        raise Turned(406, INVALID_REQUEST, "accept both application/json and text/event-stream", "accept")


def _is_modern(said: Message, scope: Scope) -> bool:
    version = header(scope, VERSION)
    if version is not None and version not in envelope.HANDSHAKE:
        return True
    return isinstance(said, Request) and said.method != "initialize" and envelope.is_modern(said.params)
