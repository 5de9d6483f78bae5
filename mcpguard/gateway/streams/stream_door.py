"""Streams of clients on this machine, as `mcpguard stdio` relays them.

A client's first line says which face it wants, and its token if it has one; ours says whether it may go on:

    → {"mcpguard": 1, "face": "direct", "only": null, "separator": null, "token": null}
    ← {"mcpguard": 1}                or {"error": "…"}, and the end

Only the guard's own account can connect; without a token its clients are anonymous, as on the network.

Rules kept here:
1. Of those who have not said their first line there are only so many; the one that has said nothing for longest makes
   room for a newcomer.
2. A caller has no more streams than its share, however many there may be in all. An open stream is never ended for
   another's sake.
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
from mcpguard.gateway.faces.direct import Direct
from mcpguard.gateway.faces.face import AgentFace
from mcpguard.gateway.faces.proxied import Proxied
from mcpguard.gateway.faces.transparent import Transparent
from mcpguard.gateway.identity import Unauthorized, caller_of_token
from mcpguard.gateway.message_reader import AgentMessageReader
from mcpguard.gateway.methods import Methods
from mcpguard.gateway.open_requests import Guests
from mcpguard.gateway.streams.talk import Talk
from mcpguard.gateway.subscriptions.list_news import News
from mcpguard.gateway.tools.guard_face import Guarding
from mcpguard.guard.guard import Guard
from mcpguard.guard.servers.publisher import CatalogChange
from mcpguard.policy.scopes import reaches
from mcpguard.policy.shares import Crowded, SharePlace, Shares

HELLO_SECONDS = 10.0
PAUSE_SECONDS = 1.0
LONGEST_HELLO = 8192
log = structlog.get_logger("mcpguard.gateway")


class NotWelcome(GuardError):
    """A stream goes no further than its first line. Says what is wrong; `why` and `more` are what it is counted as."""

    def __init__(self, sentence: str, why: str = "hello", **more: str) -> None:
        super().__init__(sentence)
        self.why = why
        self.more = more


class Streams:
    """Serves streams."""

    def __init__(self, guard: Guard, methods: Methods, clock: Clock, hello_seconds: float = HELLO_SECONDS) -> None:
        self.used = clock.monotonic()
        self._clock = clock
        self._guard = guard
        self._methods = methods
        self._hello_seconds = hello_seconds
        self._reader = AgentMessageReader(guard.settings.limits)
        self._news = News(guard.catalog)
        self._talks: set[Talk] = set()
        self._silent: dict[anyio.CancelScope, None] = {}
        proxy, instructs = guard.settings.proxy, guard.settings.merged_instructions
        self._direct = {each: Direct(each, instructs=instructs) for each in SEPARATORS}
        self._proxied = {each: Proxied(each, proxy.name, instructs=instructs) for each in SEPARATORS if proxy.enabled}
        self._guarding = Guarding(guard.settings)
        self._guests = Guests()
        self._shares = Shares(guard.settings.limits.of_caller, guard.settings.limits.connections)

    @property
    def busy(self) -> bool:
        """Whether anybody is connected."""
        return bool(self._talks)

    def tell(self, changed: CatalogChange) -> None:
        """What is offered is different now."""
        news = self._news.of(self._guard.catalog, changed)
        for talk in self._talks:
            talk.tell(news)

    def lost(self, caller: str) -> None:
        """This one is no caller any more."""
        self._guests.lost(caller)
        for talk in self._talks:
            if talk.caller == caller:
                talk.end()

    async def listen(self, listener: SocketListener) -> None:
        """Whoever connects, until cancelled. Where a connection cannot be taken there is no reason to stop."""
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
        """One client, from its first line to its end."""
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
        talk = Talk(stream, client, self._methods, self._guard.settings.limits, self._reader, self._count)
        self._talks.add(talk)
        try:
            with self._guests.here(client.caller.id):
                await stream.send(b'{"mcpguard":1}\n')
                await talk.run()
        finally:
            self._talks.discard(talk)
            self._methods.left(client.session)
            self.used = self._clock.monotonic()

    def _count(self, why: str, **more: str) -> None:
        self._guard.tallies.turned_away(door=STREAMS, why=why, **more)

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
            raise NotWelcome("the first line must say which face is wanted") from None

    def _place(self, caller: Caller) -> SharePlace:
        try:
            return self._shares.take(caller.id)
        except Crowded as crowded:
            if not crowded.own:
                raise NotWelcome("too many clients are connected", PLACES, caller=caller.id) from None
            sentence = f"this caller has {self._shares.of_one} clients connected, as many as one may; end some of them"
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
                raise NotWelcome("the first line must say which face is wanted")

    def _face(self, word: str, only: str | None, separator: object, caller: Caller) -> AgentFace:
        if separator is not None and word not in ("direct", "proxy"):
            raise NotWelcome("--separator goes with the faces direct and proxy")
        match word, only:
            case "guard", None:
                return self._guarding
            case "direct", None:
                return self._direct[self._separator(separator)]
            case "proxy", None if self._proxied:
                return self._proxied[self._separator(separator)]
            case "proxy", None:
                raise NotWelcome("the proxy tool is switched off; proxy.enabled switches it on")
            case "transparent", str(server) if self._knows(server, caller):
                return Transparent(server)
            case "transparent", None:
                raise NotWelcome("the transparent face shows one server; say which with --only SERVER")
            case "transparent", _:
                raise NotWelcome("there is no server of this name; the configuration file declares them")
            case "direct" | "guard" | "proxy", _:
                raise NotWelcome("--only goes with the transparent face")
            case _:
                raise NotWelcome("there is no such face; use guard, direct, proxy or transparent")

    def _separator(self, said: object) -> Separator:
        for each in SEPARATORS:
            if each == (self._guard.settings.separator if said is None else said):
                return each
        raise NotWelcome(f"there is no such separator; use one of {' '.join(SEPARATORS)}")

    def _knows(self, server: str, caller: Caller) -> bool:
        return is_server_name(server) and reaches(caller.scope, server) and self._guard.servers.knows(server)


async def _refuse(stream: ByteStream, error: GuardError) -> None:
    await stream.send(json.dumps({"error": str(error)}).encode() + b"\n")
