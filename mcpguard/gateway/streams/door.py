"""Streams of clients on this machine, as `mcpguard stdio` relays them.

A client's first line says which face it wants, and its token if it has one; ours says whether it may go on:

    → {"mcpguard": 1, "face": "direct", "only": null, "separator": null, "token": null}
    ← {"mcpguard": 1}                or {"error": "…"}, and the end

Only the guard's own account can connect; without a token its clients are anonymous, as on the network.
"""

import json
from contextlib import suppress
from secrets import token_urlsafe

import anyio
import structlog
from anyio.abc import ByteStream, SocketListener
from anyio.streams.buffered import BufferedByteStream

from mcpguard.codec.names import is_server_name
from mcpguard.codec.separators import SEPARATORS
from mcpguard.codec.strict import StrictError, parse
from mcpguard.domain.callers import Caller
from mcpguard.domain.clock import Clock
from mcpguard.domain.errors import GuardError
from mcpguard.domain.launches import Era
from mcpguard.gateway.clients import STREAMS, Client
from mcpguard.gateway.faces.direct import Direct
from mcpguard.gateway.faces.face import Face
from mcpguard.gateway.faces.guarding import Guarding
from mcpguard.gateway.faces.transparent import Transparent
from mcpguard.gateway.guests import Guests
from mcpguard.gateway.identity import Unauthorized, caller_of_token
from mcpguard.gateway.methods import Methods
from mcpguard.gateway.news import News
from mcpguard.gateway.reading import Reader
from mcpguard.gateway.streams.talk import Talk
from mcpguard.guard.guard import Guard
from mcpguard.guard.publish import Changed
from mcpguard.policy.scopes import reaches

HELLO_SECONDS = 10.0
PAUSE_SECONDS = 1.0
LONGEST_HELLO = 8192
log = structlog.get_logger("mcpguard.gateway")


class NotWelcome(GuardError):
    """The first line is not what it must be. Says what is wrong."""


class Streams:
    """Serves streams."""

    def __init__(self, guard: Guard, methods: Methods, clock: Clock, hello_seconds: float = HELLO_SECONDS) -> None:
        self.used = clock.monotonic()
        self._clock = clock
        self._guard = guard
        self._methods = methods
        self._hello_seconds = hello_seconds
        self._reader = Reader(guard.settings.limits)
        self._news = News(guard.catalog)
        self._talks: set[Talk] = set()
        self._open = 0
        self._direct = {each: Direct(each) for each in SEPARATORS}
        self._guarding = Guarding(guard.settings)
        self._guests = Guests()

    @property
    def busy(self) -> bool:
        """Whether anybody is connected."""
        return bool(self._talks)

    def tell(self, changed: Changed) -> None:
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
        self._open += 1
        try:
            async with stream:
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    await self._serve(stream)
        finally:
            self._open -= 1

    async def _serve(self, stream: ByteStream) -> None:
        lines = BufferedByteStream(stream)
        try:
            client = await self._welcome(lines)
        except (NotWelcome, Unauthorized) as error:
            self._count("credential" if isinstance(error, Unauthorized) else "hello")
            await stream.send(json.dumps({"error": str(error)}).encode() + b"\n")
            return
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

    def _count(self, why: str) -> None:
        self._guard.tallies.turned_away(door=STREAMS, why=why)

    async def _welcome(self, lines: BufferedByteStream) -> Client:
        try:
            with anyio.fail_after(self._hello_seconds):
                hello = parse(await lines.receive_until(b"\n", LONGEST_HELLO), max_bytes=LONGEST_HELLO)
        except (StrictError, TimeoutError, anyio.IncompleteRead, anyio.DelimiterNotFound):
            raise NotWelcome("the first line must say which face is wanted") from None
        if self._open > self._guard.settings.limits.connections:
            raise NotWelcome("too many clients are connected")
        match hello:
            case {
                "mcpguard": 1, "face": str(face), "only": None | str() as only, "token": None | str() as token, **more
            }:  # fmt: skip
                caller = caller_of_token(token, self._guard.callers)
                shown = self._face(face, only, more.get("separator"), caller)
                return Client(STREAMS, caller, shown, Era.LEGACY, session=token_urlsafe(16))
            case _:
                raise NotWelcome("the first line must say which face is wanted")

    def _face(self, word: str, only: str | None, separator: object, caller: Caller) -> Face:
        if separator is not None and word != "direct":
            raise NotWelcome("--separator goes with the direct face")
        match word, only:
            case "guard", None:
                return self._guarding
            case "direct", None:
                return self._separated(separator)
            case "transparent", str(server) if self._knows(server, caller):
                return Transparent(server)
            case "transparent", None:
                raise NotWelcome("the transparent face shows one server; say which with --only SERVER")
            case "transparent", _:
                raise NotWelcome("there is no server of this name; the configuration file declares them")
            case "direct" | "guard", _:
                raise NotWelcome("--only goes with the transparent face")
            case _:
                raise NotWelcome("there is no such face; use guard, direct or transparent")

    def _separated(self, said: object) -> Direct:
        for each in SEPARATORS:
            if each == (self._guard.settings.separator if said is None else said):
                return self._direct[each]
        raise NotWelcome(f"there is no such separator; use one of {' '.join(SEPARATORS)}")

    def _knows(self, server: str, caller: Caller) -> bool:
        return is_server_name(server) and reaches(caller.scope, server) and self._guard.servers.knows(server)
