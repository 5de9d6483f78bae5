"""A conversation with one client over a stream.

Rules kept here:
1. Reading goes on while requests are answered, so that a client can always take one back. How many are in progress is
   bounded; what comes beyond it is refused.
2. The first request decides the era: a handshake, or a request that says everything itself. The other is refused from
   then on.
3. One task writes, whole messages in the order in which they were said. A client that does not read holds up only
   itself: nothing more is read from it until it does.
"""

from collections.abc import Mapping
from typing import Any

import anyio
from anyio.abc import ByteStream, TaskGroup

from mcpguard.codec import envelope
from mcpguard.codec.framing import Decoder, Framing, FramingError
from mcpguard.codec.messages import (
    INVALID_REQUEST,
    BadMessage,
    Failure,
    Id,
    Message,
    Notification,
    Request,
    Result,
    read,
    write,
)
from mcpguard.domain.launches import Era
from mcpguard.gateway.clients import Client, Exchange, client_name
from mcpguard.gateway.methods import Methods
from mcpguard.gateway.outbox import Outbox
from mcpguard.gateway.wire import REFUSED, Rejected
from mcpguard.settings.model import Limits

CHUNK = 65_536
UNSUPPORTED_VERSION = -32022


class Talk:
    """One client. `run` ends when the client does; `tell` may be called by anyone meanwhile."""

    def __init__(self, stream: ByteStream, client: Client, methods: Methods, limits: Limits) -> None:
        self.unreadable = 0
        self._stream = stream
        self._client = client
        self._methods = methods
        self._limits = limits
        self._era: Era | None = None
        self._outbox = Outbox()
        self._calls: dict[Id, anyio.CancelScope] = {}

    def tell(self, message: Notification) -> None:
        """News that belongs to no request. Only a client that began with a handshake expects any."""
        if self._era is Era.LEGACY:
            self._outbox.put(write(message) + b"\n")

    async def run(self) -> None:
        """Until the client has ended, and has been told what it still waits for."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._write, name="writing to a stream")
            async with anyio.create_task_group() as requests:
                await self._listen(requests)
            self._outbox.close()

    async def _listen(self, requests: TaskGroup) -> None:
        decoder = Decoder(self._limits.body_bytes, Framing.LINES)
        while True:
            await self._outbox.room()
            try:
                for line in decoder.feed(await self._stream.receive(CHUNK)):
                    await self._take(line, requests)
            except FramingError as error:
                self.unreadable += 1
                self._send(Failure(None, {"code": INVALID_REQUEST, "message": str(error)}))
                return
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                return

    async def _take(self, line: bytes, requests: TaskGroup) -> None:
        try:
            message = read(line, max_bytes=self._limits.body_bytes, max_depth=self._limits.depth)
        except BadMessage as error:
            self.unreadable += 1
            self._send(Failure(error.id, {"code": error.code, "message": str(error)}))
            return
        match message:
            case Request():
                await self._take_request(message, requests)
            case Notification("notifications/cancelled", params):
                self._cancel(params or {})
            case _:
                return

    async def _take_request(self, request: Request, requests: TaskGroup) -> None:
        try:
            client = self._speaker(request)
            self._check_room(request.id)
        except Rejected as rejected:
            self._send(Failure(request.id, rejected.error))
            return
        if request.method == "initialize":
            await self._initialize(request)
            return
        self._calls[request.id] = anyio.CancelScope()
        requests.start_soon(self._answer, request, client, name=f"request {request.method[:40]}")

    def _speaker(self, request: Request) -> Client:
        """Who speaks in this request."""
        modern = envelope.is_modern(request.params) and request.method != "initialize"
        era = Era.MODERN if modern else Era.LEGACY
        if self._era not in (None, era):
            if request.method == "initialize":
                asked = (request.params or {}).get("protocolVersion")
                raise Rejected(
                    UNSUPPORTED_VERSION,
                    "this stream is spoken on without a handshake",
                    {"supported": list(envelope.MODERN), "requested": asked},
                )
            raise Rejected(INVALID_REQUEST, "this stream began otherwise; both eras cannot be spoken on one stream")
        if not modern:
            if self._era is None and request.method not in ("initialize", "ping"):
                self._refuse_unready(request)
            return self._client
        return self._modern(request.params or {})

    def _check_room(self, id_: Id) -> None:
        if id_ in self._calls:
            raise Rejected(INVALID_REQUEST, "a request with this id is in progress")
        if len(self._calls) >= self._limits.client_calls:
            raise Rejected(REFUSED, "too many requests are in progress on this stream")

    def _refuse_unready(self, request: Request) -> None:
        if request.method == "server/discover":  # a probe of the other era that lacks its envelope
            raise Rejected(-32601, "there is no such method in this revision of the protocol")
        raise Rejected(INVALID_REQUEST, "begin with initialize")

    def _modern(self, params: Mapping[str, Any]) -> Client:
        said = envelope.meta(params)
        version = said.get(envelope.PROTOCOL)
        if not isinstance(version, str) or not isinstance(said.get(envelope.CAPABILITIES), dict):
            raise Rejected(-32602, "_meta must say the protocol version and the client's capabilities")
        if version not in envelope.MODERN:
            data = {"supported": list(envelope.MODERN), "requested": version}
            raise Rejected(UNSUPPORTED_VERSION, "this revision of the protocol is not spoken here", data)
        self._era = Era.MODERN
        name = client_name(said.get(envelope.CLIENT))
        return Client(self._client.caller, self._client.face, Era.MODERN, version, name)

    async def _initialize(self, request: Request) -> None:
        if self._era is Era.LEGACY:
            self._send(Failure(request.id, Rejected(INVALID_REQUEST, "the handshake was made already").error))
            return
        try:
            said = await self._methods.initialize(self._client, request.params or {})
        except Rejected as rejected:
            self._send(Failure(request.id, rejected.error))
            return
        self._era = Era.LEGACY
        self._send(Result(request.id, said))

    async def _answer(self, request: Request, client: Client) -> None:
        try:
            with self._calls[request.id]:
                exchange = Exchange(client, request.params or {}, self._say)
                answer = await self._methods.reply(exchange, request)
                self._send(answer)
        finally:
            del self._calls[request.id]

    def _cancel(self, params: Mapping[str, Any]) -> None:
        id_ = params.get("requestId")
        scope = self._calls.get(id_) if isinstance(id_, str | int) else None
        if scope is not None:
            scope.cancel()

    def _say(self, notification: Notification) -> None:
        self._outbox.put(write(notification) + b"\n")

    def _send(self, message: Message) -> None:
        self._outbox.add(write(message) + b"\n")

    async def _write(self) -> None:
        """Everything that waits, whole messages at a time, until nothing more will come."""
        try:
            while True:
                await self._outbox.wait()
                if waiting := self._outbox.take():
                    await self._stream.send(waiting)
                elif self._outbox.closed:
                    return
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._outbox.close()  # it does not want to hear any more
