"""The agents' door on the network. Everything that comes in passes here, outermost gate first.

    origin → caller → face → message → era → answer

Rules kept here:
1. A browser's page that is not ours is turned away before anybody looks at what it sends.
2. What cannot be understood is answered as the specification says, and counted; it costs nobody else anything.
"""

from starlette.types import Receive, Scope, Send

from mcpguard.codec import envelope
from mcpguard.codec.messages import INVALID_REQUEST, BadMessage, Id, Message, Request, write
from mcpguard.codec.names import is_server_name
from mcpguard.domain.callers import Caller
from mcpguard.domain.clock import Clock
from mcpguard.gateway.faces.direct import Direct
from mcpguard.gateway.faces.face import Face
from mcpguard.gateway.faces.transparent import Transparent
from mcpguard.gateway.http.legacy import Legacy
from mcpguard.gateway.http.modern import Modern
from mcpguard.gateway.http.origins import check_origin
from mcpguard.gateway.http.plain import Left, Turned, failure, give, header, message
from mcpguard.gateway.http.reply import event
from mcpguard.gateway.http.sessions import Sessions
from mcpguard.gateway.identity import Unauthorized, caller_of_request
from mcpguard.gateway.methods import Methods
from mcpguard.gateway.news import announcements
from mcpguard.gateway.wire import METHOD_NOT_FOUND
from mcpguard.guard.guard import Guard
from mcpguard.guard.publish import Changed

ALL = "/mcp/all"
ONLY = "/mcp/only/"
UNAUTHORIZED = -32001
VERSION = b"mcp-protocol-version"


class Door:
    """An ASGI application for every path below /mcp."""

    def __init__(self, guard: Guard, methods: Methods, clock: Clock) -> None:
        limits = guard.settings.limits
        self.used = clock.monotonic()
        self._clock = clock
        self._guard = guard
        self._sessions = Sessions(limits.sessions, limits.session_seconds, clock)
        self._legacy = Legacy(guard, methods, self._sessions)
        self._modern = Modern(guard, methods)
        self._direct = Direct(guard.settings.separator)

    def tell(self, changed: Changed) -> None:
        """What is offered is different now."""
        for announcement in announcements(changed):
            self._sessions.tell(event(write(announcement)))

    def close(self) -> None:
        """End every stream that would otherwise stay open for ever."""
        self._sessions.end_all()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        id_: Id | None = None
        self.used = self._clock.monotonic()
        try:
            check_origin(scope)
            caller = caller_of_request(scope, self._guard.callers)
            face = self._face(scope["path"])
            if scope["method"] != "POST":
                await self._other(caller, face, scope, receive, send)
                return
            _check_headers(scope)
            limits = self._guard.settings.limits
            said = await message(receive, limits.body_bytes, limits.depth)
            id_ = said.id if isinstance(said, Request) else None
            era = self._modern if _is_modern(said, scope) else self._legacy
            await era.take(said, caller, face, scope, receive, send)
        except BadMessage as error:
            self._count("message")
            await give(send, 400, failure(error.code, str(error), error.id))
        except Unauthorized as error:
            self._count("credential")
            challenge = (b"www-authenticate", b'Bearer realm="mcpguard", error="invalid_token"')
            await give(send, 401, failure(UNAUTHORIZED, str(error)), (challenge,))
        except Turned as turned:
            self._count(turned.reason)
            await give(send, turned.status, failure(turned.code, str(turned), id_, turned.data))
        except Left:
            return

    async def _other(self, caller: Caller, face: Face, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "DELETE") or header(scope, VERSION) in envelope.MODERN:
            await give(send, 405, headers=((b"allow", b"GET, POST, DELETE"),))
            return
        session = self._legacy.session(caller, face, scope)
        if scope["method"] == "DELETE":
            await self._legacy.end(session, send)
        elif "text/event-stream" not in (header(scope, b"accept") or ""):
            raise Turned(406, INVALID_REQUEST, "accept text/event-stream to listen", "accept")
        else:
            await self._legacy.listen(session, receive, send)

    def _face(self, path: str) -> Face:
        if path == ALL:
            return self._direct
        server = path.removeprefix(ONLY)
        if path.startswith(ONLY) and is_server_name(server) and self._guard.servers.knows(server):
            return Transparent(server)
        raise Turned(404, METHOD_NOT_FOUND, f"nothing is here; agents are served at {ALL} and {ONLY}<server>", "path")

    def _count(self, reason: str) -> None:
        self._guard.tallies.turned_away(door="network", why=reason)


def _check_headers(scope: Scope) -> None:
    kind = (header(scope, b"content-type") or "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Turned(415, INVALID_REQUEST, "send application/json", "content type")
    accepted = header(scope, b"accept") or ""
    if "*/*" not in accepted and not ("application/json" in accepted and "text/event-stream" in accepted):
        raise Turned(406, INVALID_REQUEST, "accept both application/json and text/event-stream", "accept")


def _is_modern(said: Message, scope: Scope) -> bool:
    version = header(scope, VERSION)
    if version is not None and version not in envelope.HANDSHAKE:
        return True
    return isinstance(said, Request) and said.method != "initialize" and envelope.is_modern(said.params)
