"""Streams of clients on this machine, as `mcpguard stdio` relays them.

A client's first line says which face it wants, and its token if it has one; ours says whether it may go on:

    → {"mcpguard": 1, "face": "direct", "only": null, "token": null}
    ← {"mcpguard": 1}                or {"error": "…"}, and the end

Only the guard's own account can connect; without a token its clients are anonymous, as on the network.
"""

import json
from contextlib import suppress

import anyio
from anyio.abc import ByteStream
from anyio.streams.buffered import BufferedByteStream

from mcpguard.codec.names import is_server_name
from mcpguard.codec.strict import StrictError, parse
from mcpguard.domain.clock import Clock
from mcpguard.domain.errors import GuardError
from mcpguard.domain.launches import Era
from mcpguard.gateway.clients import Client
from mcpguard.gateway.faces.direct import Direct
from mcpguard.gateway.faces.face import Face
from mcpguard.gateway.faces.transparent import Transparent
from mcpguard.gateway.identity import Unauthorized, caller_of_token
from mcpguard.gateway.methods import Methods
from mcpguard.gateway.news import announcements
from mcpguard.gateway.streams.talk import Talk
from mcpguard.guard.guard import Guard
from mcpguard.guard.publish import Changed

HELLO_SECONDS = 10.0
LONGEST_HELLO = 8192


class NotWelcome(GuardError):
    """The first line is not what it must be. Says what is wrong."""


class Streams:
    """Serves streams."""

    def __init__(self, guard: Guard, methods: Methods, clock: Clock) -> None:
        self.used = clock.monotonic()
        self._clock = clock
        self._guard = guard
        self._methods = methods
        self._talks: set[Talk] = set()
        self._direct = Direct(guard.settings.separator)

    @property
    def busy(self) -> bool:
        """Whether anybody is connected."""
        return bool(self._talks)

    def tell(self, changed: Changed) -> None:
        """What is offered is different now."""
        for announcement in announcements(changed):
            for talk in self._talks:
                talk.tell(announcement)

    async def serve(self, stream: ByteStream) -> None:
        """One client, from its first line to its end."""
        async with stream:
            lines = BufferedByteStream(stream)
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                try:
                    client = await self._welcome(lines)
                except (NotWelcome, Unauthorized) as error:
                    self._guard.tallies.turned_away(door="streams", why="hello")
                    await stream.send(json.dumps({"error": str(error)}).encode() + b"\n")
                    return
                await stream.send(b'{"mcpguard":1}\n')
                await self._talk(lines, client)

    async def _talk(self, stream: ByteStream, client: Client) -> None:
        talk = Talk(stream, client, self._methods, self._guard.settings.limits)
        self._talks.add(talk)
        try:
            await talk.run()
        finally:
            self._talks.discard(talk)
            self.used = self._clock.monotonic()
            if talk.unreadable:
                self._guard.tallies.turned_away(door="streams", why="message")

    async def _welcome(self, lines: BufferedByteStream) -> Client:
        try:
            with anyio.fail_after(HELLO_SECONDS):
                hello = parse(await lines.receive_until(b"\n", LONGEST_HELLO), max_bytes=LONGEST_HELLO)
        except (StrictError, TimeoutError, anyio.IncompleteRead, anyio.DelimiterNotFound):
            raise NotWelcome("the first line must say which face is wanted") from None
        match hello:
            case {"mcpguard": 1, "face": str(face), "only": None | str() as only, "token": None | str() as token}:
                caller = caller_of_token(token, self._guard.callers)
                return Client(caller, self._face(face, only), Era.LEGACY)
            case _:
                raise NotWelcome("the first line must say which face is wanted")

    def _face(self, word: str, only: str | None) -> Face:
        match word, only:
            case "direct", None:
                return self._direct
            case "transparent", str(server) if is_server_name(server) and self._guard.servers.knows(server):
                return Transparent(server)
            case "transparent", None:
                raise NotWelcome("the transparent face shows one server; say which with --only SERVER")
            case "transparent", _:
                raise NotWelcome("there is no server of this name; the configuration file declares them")
            case "direct", _:
                raise NotWelcome("--only goes with the transparent face")
            case _:
                raise NotWelcome("this face is not there yet; use direct or transparent")
