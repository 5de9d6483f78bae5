"""The door for agents on the network. Every request passes these gates, in this order.

    host → size → origin → caller → face → message → share → era → answer

Rules kept here:
1. An unknown Host is 421 and a body over the limit is 413 before it is read to its end, as on every other path. A web
   page of another origin is refused before anything that it sends is read.
2. When a caller is revoked, everything open in its name ends.
3. A message that cannot be understood is answered as the specification says, and counted; nobody else pays for it.
4. However long a caller's requests take, they hold no more connections than its share, and all callers together leave
   a reserve for people. What is not a request is answered at once and, unless it is large, needs no place: a client
   whose share is used up can still cancel its requests and answer questions.
5. A large body gets a place before all of it is read, and waits there until few others are being read.
"""

import anyio
import structlog

from mcpguard.codec import envelope
from mcpguard.codec.messages import INVALID_REQUEST, BadMessage, Failure, Message, Request, write
from mcpguard.domain.callers import Caller
from mcpguard.domain.clock import Clock
from mcpguard.domain.reasons import Reason
from mcpguard.gateway.clients import NETWORK, PLACES, SHARE
from mcpguard.gateway.faces.face import AgentFace
from mcpguard.gateway.http.endpoints import Endpoints
from mcpguard.gateway.http.exchange import CLOSE, JSON, TEXT, HttpExchange
from mcpguard.gateway.http.legacy import Legacy
from mcpguard.gateway.http.modern import Modern
from mcpguard.gateway.http.plain import VERSION, ClientLeft, HttpPatience, HttpRefusal, UncountedRefusal, failure
from mcpguard.gateway.http.sessions import Sessions
from mcpguard.gateway.identity import Unauthorized
from mcpguard.gateway.message_reader import LARGE, AgentMessageReader
from mcpguard.gateway.methods import Methods
from mcpguard.gateway.open_requests import OpenRequests
from mcpguard.gateway.subscriptions.list_news import ListNews
from mcpguard.gateway.wire import REFUSED
from mcpguard.guard.guard import Guard
from mcpguard.guard.servers.publisher import CatalogChange
from mcpguard.policy.shares import Crowded, Shares
from mcpguard.settings.address import UNKNOWN_HOST, OwnHosts

AGAIN = (b"retry-after", b"1")
_Refusal = Unauthorized | UncountedRefusal | HttpRefusal | BadMessage | Crowded
log = structlog.get_logger("mcpguard.gateway")


class HttpDoor:
    """Answers the requests for every path below /mcp."""

    def __init__(
        self, guard: Guard, methods: Methods, clock: Clock, hosts: OwnHosts, patience: HttpPatience | None = None
    ) -> None:
        limits = guard.settings.limits
        self.used = clock.monotonic()
        self.sessions = Sessions(limits.sessions, limits.session_seconds, clock)
        self._clock = clock
        self._guard = guard
        self._methods = methods
        self.hosts = hosts
        self.longest_body = limits.body_bytes
        self._patience = patience or HttpPatience()
        self._reader = AgentMessageReader(limits)
        self._news = ListNews(guard.catalog)
        self._endpoints = Endpoints(guard)
        self._legacy = Legacy(methods, self.sessions, limits.client_calls, self._patience)
        self._modern = Modern(methods, self._patience)
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

    async def answer(self, exchange: HttpExchange) -> None:
        """Answer a request, whatever it is."""
        self.used = self._clock.monotonic()
        caller: Caller | None = None
        try:
            if exchange.flow.write_paused:
                await exchange.room()
            if exchange.is_strange:
                _refuse_strangers(exchange)
            callers, credential = self._guard.callers, exchange.head.credential
            caller = callers.anonymous if credential.is_local else None
            caller = caller or credential.caller(callers)
            scope = exchange.scope = anyio.CancelScope()
            self._guests.callers[scope] = caller.id
            try:
                with scope:
                    await self._take(exchange, caller)
            finally:
                del self._guests.callers[scope]
            if scope.cancelled_caught and not exchange.has_left and not exchange.response_started:
                raise Unauthorized(Reason.CALLER_REVOKED.sentence)  # noqa: TRY301 - as it is refused before it is read
        except (Unauthorized, UncountedRefusal, HttpRefusal, BadMessage, Crowded) as refusal:
            self._refuse(exchange, refusal, caller)
        except ClientLeft:
            return
        except Exception:
            log.exception("door.failed")
        finally:
            if not exchange.response_complete:
                exchange.abandon()

    async def _take(self, exchange: HttpExchange, caller: Caller) -> None:
        """Read the message of a request, and answer it."""
        head = exchange.head
        face = head.face or self._endpoints.face(head, caller)
        if head.method != b"POST":
            await self._other(exchange, caller, face)
            return
        if head.has_other_types:
            head.check_types()
        if exchange.more_body or exchange.disconnected or len(exchange.body) > self.longest_body:
            await exchange.receive(LARGE, self._patience.body)
        if is_placed := len(exchange.body) > LARGE:
            self._shares.begin(caller.id)
        try:
            said = await self._read_large(exchange, caller) if is_placed else self._reader.read_small(exchange.body)
            exchange.id = said.id if isinstance(said, Request) else None
            if exchange.id is not None and not is_placed:
                self._shares.begin(caller.id)
                is_placed = True
            is_modern = exchange.mcp.get(VERSION) in envelope.MODERN and not exchange.twice
            era = self._modern if is_modern or _is_modern(said, exchange) else self._legacy
            work = era.take(exchange, said, caller, face)
            answer = None if work is None else await work
            if answer is not None:
                status = era.statuses.get(answer.error["code"], 200) if isinstance(answer, Failure) else 200
                if exchange.stream is None:
                    exchange.answer(status, write(answer), (JSON, *exchange.headers))
                else:
                    await exchange.finish(write(answer))
        finally:
            exchange.body.clear()
            if is_placed:
                self._shares.end(caller.id)
            if not exchange.response_complete:
                await exchange.end()

    async def _read_large(self, exchange: HttpExchange, caller: Caller) -> Message:
        async with self._reader.large(caller.id):
            try:
                await exchange.receive(self.longest_body, self._patience.body)
                return await self._reader.read(exchange.body)
            finally:
                exchange.body.clear()

    async def _other(self, exchange: HttpExchange, caller: Caller, face: AgentFace) -> None:
        method, in_sessions = exchange.head.method, exchange.mcp_header(VERSION) not in envelope.MODERN
        if method not in (b"GET", b"DELETE") or not in_sessions:
            self._count("http method")
            exchange.answer(405, headers=((b"allow", b"GET, POST, DELETE" if in_sessions else b"POST"),))
            return
        session = self._legacy.session(caller, face, exchange)
        if method == b"DELETE":
            self._legacy.end(session, exchange)
            return
        exchange.head.check_accepts_stream()
        with self._shares.take(caller.id):
            await self._legacy.listen(session, exchange)

    def _refuse(self, exchange: HttpExchange, refusal: _Refusal, caller: Caller | None) -> None:
        match refusal:
            case Unauthorized():
                self._count("credential")
                challenge = (b"www-authenticate", refusal.challenge)
                exchange.answer(refusal.status, failure(INVALID_REQUEST, str(refusal)), (JSON, challenge))
            case BadMessage():
                self._count("message")
                exchange.answer(400, failure(refusal.code, str(refusal), refusal.id), (JSON,))
            case HttpRefusal():
                self._turn(refusal, exchange)
            case Crowded():
                self._send_back(refusal, caller.id if caller else "", exchange)
            case UncountedRefusal():
                exchange.answer(refusal.status, str(refusal).encode(), (TEXT, *refusal.headers))

    def _send_back(self, crowded: Crowded, caller: str, exchange: HttpExchange) -> None:
        """Tell a client that its request was not taken, and when to retry."""
        if crowded.own:
            self._count(SHARE, caller=caller)
            sentence = (
                f"this caller has {self._shares.of_one} requests in progress, the limit for one caller; wait for some "
                "of them to finish or close unused streams, then retry"
            )
        else:
            self._count(PLACES, caller=caller)
            sentence = (
                "the limit of requests in progress is reached for all agents; nothing was done; retry in a moment"
            )
        said = failure(REFUSED, sentence, exchange.id)
        exchange.answer(429 if crowded.own else 503, said, (JSON, AGAIN))

    def _turn(self, turned: HttpRefusal, exchange: HttpExchange) -> None:
        self._count(turned.why)
        headers = [JSON, CLOSE] if turned.status == 408 else [JSON]
        if turned.wait:
            headers.append((b"retry-after", str(turned.wait).encode()))
        exchange.answer(turned.status, failure(turned.code, str(turned), exchange.id, turned.data), headers)

    def _count(self, reason: str, **more: str) -> None:
        self._guard.tallies.count_refused(door=NETWORK, why=reason, **more)


def _refuse_strangers(exchange: HttpExchange) -> None:
    """Raise what a request is refused with, whoever its caller is."""
    if exchange.is_crowded:
        raise UncountedRefusal(503, "Service Unavailable", (CLOSE,))
    if exchange.head.scheme is None:
        raise UncountedRefusal(421, f"{UNKNOWN_HOST}\n")
    exchange.check_size()
    exchange.head.check_origin()


def _is_modern(said: Message, exchange: HttpExchange) -> bool:
    version = exchange.mcp_header(VERSION) if exchange.twice else exchange.mcp.get(VERSION)
    if version is not None and version not in envelope.HANDSHAKE:
        return True
    return isinstance(said, Request) and said.method != "initialize" and envelope.is_modern(said.params)
