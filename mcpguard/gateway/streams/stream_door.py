"""Serves clients on this host, as `mcpguard stdio` relays them.

A client's first line says which face it wants, and its token if it has one; the guard's says whether it may go on:

    → {"mcpguard": 1, "face": "direct", "only": null, "separator": null, "token": null}
    ← {"mcpguard": 1}                or {"error": "…"}, and the end

Only the guard's own account can connect; without a token its clients are anonymous, as on the network.

Rules kept here:
1. The number of clients that have not sent their first line is bounded; the one that is silent for longest makes room
   for a new one.
2. A caller has no more streams than its share, however many there may be in all. An open stream is never ended to make
   room for another.
"""

import json
from contextlib import suppress
from secrets import token_urlsafe

import anyio
import structlog
from anyio.abc import ByteStream, SocketListener
from anyio.streams.buffered import BufferedByteStream

from mcpguard.codec.names import SEPARATORS, Separator, is_server_name
from mcpguard.codec.strict import StrictError, parse
from mcpguard.domain.callers import Caller
from mcpguard.domain.clock import Clock
from mcpguard.domain.errors import GuardError
from mcpguard.domain.servers.launches import Era
from mcpguard.gateway.clients import PLACES, SHARE, STREAMS, Client
from mcpguard.gateway.faces.direct import DirectFace
from mcpguard.gateway.faces.direct_with_proxy import DirectFaceWithProxy
from mcpguard.gateway.faces.face import AgentFace
from mcpguard.gateway.faces.transparent import TransparentFace
from mcpguard.gateway.identity import Unauthorized, caller_of_token
from mcpguard.gateway.message_reader import AgentMessageReader
from mcpguard.gateway.methods import Methods
from mcpguard.gateway.open_requests import OpenRequests
from mcpguard.gateway.streams.talk import StreamConversation
from mcpguard.gateway.subscriptions.list_news import ListNews
from mcpguard.gateway.tools.guard_face import GuardFace
from mcpguard.guard.guard import Guard
from mcpguard.guard.servers.publisher import CatalogChange
from mcpguard.policy.scopes import is_server_in_scope
from mcpguard.policy.shares import Crowded, SharePlace, Shares

HELLO_SECONDS = 10.0
PAUSE_SECONDS = 1.0
LONGEST_HELLO = 8192
log = structlog.get_logger("mcpguard.gateway")


class NotWelcome(GuardError):
    """A stream is refused at its first line. The sentence says what is wrong; `why` and `more` are what is counted."""

    def __init__(self, sentence: str, why: str = "hello", **more: str) -> None:
        super().__init__(sentence)
        self.why = why
        self.more = more


class StreamDoor:
    """Serves the streams of clients on this host."""

    def __init__(self, guard: Guard, methods: Methods, clock: Clock, hello_seconds: float = HELLO_SECONDS) -> None:
        self.used = clock.monotonic()
        self._clock = clock
        self._guard = guard
        self._methods = methods
        self._hello_seconds = hello_seconds
        self._reader = AgentMessageReader(guard.settings.limits)
        self._news = ListNews(guard.catalog)
        self._talks: set[StreamConversation] = set()
        self._silent: dict[anyio.CancelScope, None] = {}
        proxy, instructs = guard.settings.proxy, guard.settings.merged_instructions
        self._direct = {each: DirectFace(each, instructs=instructs) for each in SEPARATORS}
        self._proxied = {
            each: DirectFaceWithProxy(each, proxy.name, instructs=instructs) for each in SEPARATORS if proxy.enabled
        }
        self._guarding = GuardFace(guard.settings)
        self._guests = OpenRequests()
        self._shares = Shares(guard.settings.limits.of_caller, guard.settings.limits.connections)

    @property
    def busy(self) -> bool:
        """Tells whether anybody is connected."""
        return bool(self._talks)

    def tell(self, changed: CatalogChange) -> None:
        """Tell all clients that other capabilities are offered now."""
        news = self._news.news_for_clients(self._guard.catalog, changed)
        for talk in self._talks:
            talk.tell(news)

    def end_caller(self, caller: str) -> None:
        """End the streams of a caller that was revoked."""
        self._guests.end_caller(caller)
        for talk in self._talks:
            if talk.caller == caller:
                talk.end()

    async def listen(self, listener: SocketListener) -> None:
        """Serve whoever connects, until cancelled. A connection that cannot be accepted is no reason to stop."""
        async with anyio.create_task_group() as tasks:
            while True:
                try:
                    stream = await listener.accept()
                except anyio.BrokenResourceError as error:  # no descriptor is left for it, mostly
                    log.warning("streams.refused", why=str(error.__cause__))
                    await self._clock.sleep(PAUSE_SECONDS)
                else:
                    tasks.start_soon(self.serve, stream, name="stream of an agent")

    async def serve(self, stream: ByteStream) -> None:
        """Serve one client, from its first line to its end."""
        async with stream:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await self._serve(stream)

    async def _serve(self, stream: ByteStream) -> None:
        lines = BufferedByteStream(stream)
        try:
            client = self._welcome(await self._first_line(lines))
            place = self._place(client.caller)
        except NotWelcome as error:
            self._count(error.why, **error.more)
            await _refuse(stream, error)
        except Unauthorized as error:
            self._count("credential")
            await _refuse(stream, error)
        else:
            with place:
                await self._talk(lines, client)

    async def _talk(self, stream: ByteStream, client: Client) -> None:
        talk = StreamConversation(stream, client, self._methods, self._guard.settings.limits, self._reader, self._count)
        self._talks.add(talk)
        try:
            with self._guests.hold_open(client.caller.id):
                await stream.send(b'{"mcpguard":1}\n')
                await talk.run()
        finally:
            self._talks.discard(talk)
            self._methods.end_session(client.session)
            self.used = self._clock.monotonic()

    def _count(self, why: str, **more: str) -> None:
        self._guard.tallies.count_refused(door=STREAMS, why=why, **more)

    async def _first_line(self, lines: BufferedByteStream) -> object:
        if len(self._silent) >= self._guard.settings.limits.connections:
            longest = next(iter(self._silent))
            del self._silent[longest]
            longest.cancel()
        line = b""
        with anyio.move_on_after(self._hello_seconds) as waiting:
            self._silent[waiting] = None
            try:
                line = await lines.receive_until(b"\n", LONGEST_HELLO)
            except (anyio.IncompleteRead, anyio.DelimiterNotFound):
                pass
            finally:
                self._silent.pop(waiting, None)
        try:
            return parse(line, max_bytes=LONGEST_HELLO)
        except StrictError:
            raise NotWelcome("the first line must name a face") from None

    def _place(self, caller: Caller) -> SharePlace:
        try:
            return self._shares.take(caller.id)
        except Crowded as crowded:
            if not crowded.own:
                raise NotWelcome("too many clients are connected", PLACES, caller=caller.id) from None
            sentence = (
                f"this caller has {self._shares.of_one} clients connected, the limit for one caller; disconnect some"
            )
            raise NotWelcome(sentence, SHARE, caller=caller.id) from None

    def _welcome(self, hello: object) -> Client:
        match hello:
            case {
                "mcpguard": 1, "face": str(face), "only": None | str() as only, "token": None | str() as token, **more
            }:  # fmt: skip
                caller = caller_of_token(token, self._guard.callers)
                shown = self._face(face, only, more.get("separator"), caller)
                return Client(STREAMS, caller, shown, Era.LEGACY, session=token_urlsafe(16))
            case _:
                raise NotWelcome("the first line must name a face")

    def _face(self, word: str, only: str | None, separator: object, caller: Caller) -> AgentFace:
        if separator is not None and word not in ("direct", "proxy"):
            raise NotWelcome("--separator is only for the faces direct and proxy")
        match word, only:
            case "guard", None:
                return self._guarding
            case "direct", None:
                return self._direct[self._separator(separator)]
            case "proxy", None if self._proxied:
                return self._proxied[self._separator(separator)]
            case "proxy", None:
                raise NotWelcome("the proxy tool is disabled; enable it with proxy.enabled")
            case "transparent", str(server) if self._knows(server, caller):
                return TransparentFace(server)
            case "transparent", None:
                raise NotWelcome("the transparent face shows one server; choose it with --only SERVER")
            case "transparent", _:
                raise NotWelcome("unknown server; servers are declared in the configuration file")
            case "direct" | "guard" | "proxy", _:
                raise NotWelcome("--only is only for the transparent face")
            case _:
                raise NotWelcome("unknown face; use guard, direct, proxy or transparent")

    def _separator(self, said: object) -> Separator:
        for each in SEPARATORS:
            if each == (self._guard.settings.separator if said is None else said):
                return each
        raise NotWelcome(f"unknown separator; use one of {' '.join(SEPARATORS)}")

    def _knows(self, server: str, caller: Caller) -> bool:
        return is_server_name(server) and is_server_in_scope(caller.scope, server) and self._guard.servers.knows(server)


async def _refuse(stream: ByteStream, error: GuardError) -> None:
    await stream.send(json.dumps({"error": str(error)}).encode() + b"\n")
