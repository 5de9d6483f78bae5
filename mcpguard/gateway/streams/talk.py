"""A conversation with one client over a stream.

Rules kept here:
1. Reading goes on while requests are answered, so that a client can always cancel one. The number in progress is
   bounded; what comes beyond it is refused.
2. The first request decides the era: a handshake, or a self-contained request. The other is refused from then on.
3. One task writes whole messages in order. A client that does not read holds up only itself: nothing more is read from
   it until it does.
4. When the client's caller is revoked, nothing more is read; cut-off calls say so, and then the stream ends.
5. When a client's input ends, its open requests are still answered. Those that would never be answered are ended, as
   nobody can cancel them any more.
"""

from collections.abc import Callable, Mapping
from contextlib import closing
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
    is_id,
    write,
)
from mcpguard.domain.servers.launches import Era
from mcpguard.gateway.client_request import Exchange
from mcpguard.gateway.clients import STREAMS, Client, modern_client
from mcpguard.gateway.message_reader import AgentMessageReader
from mcpguard.gateway.methods import Methods
from mcpguard.gateway.outbox import Outbox
from mcpguard.gateway.questions import OpenQuestions
from mcpguard.gateway.subscriptions.list_news import For
from mcpguard.gateway.wire import INVALID_PARAMS, METHOD_NOT_FOUND, REFUSED, RequestRejected, own_error
from mcpguard.settings.guard_groups import LimitSettings

CHUNK = 65_536
UNSUPPORTED_VERSION = -32022
LISTEN = "subscriptions/listen"


class StreamConversation:
    """Serves one client. `run` ends when the client does; `tell` may be called by anyone meanwhile.

    `count` is called, with a fixed word, for every message that is not taken.
    """

    def __init__(
        self,
        stream: ByteStream,
        client: Client,
        methods: Methods,
        limits: LimitSettings,
        reader: AgentMessageReader,
        count: Callable[[str], None],
    ) -> None:
        self._reader = reader
        self._count = count
        self._stream = stream
        self._client = client
        client.tell = self._say
        self._methods = methods
        self._limits = limits
        self._era: Era | None = None
        self._outbox = Outbox()
        self._calls: dict[Id, anyio.CancelScope] = {}
        self._questions = OpenQuestions()
        self._line = self._questions.line()
        self._listens: dict[Id, anyio.CancelScope] = {}
        self._reading = anyio.CancelScope()

    @property
    def caller(self) -> str:
        return self._client.caller.id

    def tell(self, news: For) -> None:
        """Send news that belongs to no request. Only a client that began with a handshake expects it."""
        if self._era is Era.LEGACY:
            for told in news(self._client):
                self._say(told)

    def end(self) -> None:
        """Stop reading from the client."""
        self._reading.cancel()

    async def run(self) -> None:
        """Run until the client has ended, or has to, and has received the answers it still waits for."""
        with closing(self._client.subscribed):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._write, name="writing to a stream")
                async with anyio.create_task_group() as requests:
                    with self._reading:
                        await self._listen(requests)
                    self._line.lose()
                    for listen in self._listens.values():  # those would never end
                        listen.cancel()
                self._outbox.close()

    async def _listen(self, requests: TaskGroup) -> None:
        decoder = Decoder(self._limits.body_bytes, Framing.LINES)
        while True:
            await self._outbox.room()
            try:
                for line in decoder.feed(await self._stream.receive(CHUNK)):
                    await self._take(line, requests)
            except FramingError as error:
                self._count("message")
                self._send(Failure(None, own_error(INVALID_REQUEST, str(error))))
                return
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                return

    async def _take(self, line: bytes, requests: TaskGroup) -> None:
        try:
            message = await self._reader.read(line)
        except BadMessage as error:
            self._count("message")
            self._send(Failure(error.id, own_error(error.code, str(error))))
            return
        match message:
            case Request():
                await self._take_request(message, requests)
            case Notification("notifications/cancelled", params):
                self._cancel(params or {})
            case Notification(method):
                self._methods.take_notification(self._client, method)
            case Result() | Failure():
                if not self._questions.take_answer(message):
                    self._methods.count_stray_answer(self._client)

    async def _take_request(self, request: Request, requests: TaskGroup) -> None:
        try:
            client = self._speaker(request)
            self._check_room(request.id)
            if request.method == "initialize":
                answer = await self._methods.initialize(client, request)
                self._era = Era.LEGACY if isinstance(answer, Result) else None
                self._send(answer)
                return
        except RequestRejected as rejected:
            self._count(rejected.why)
            self._send(Failure(request.id, rejected.error))
            return
        self._calls[request.id] = anyio.CancelScope()
        if request.method == LISTEN:
            self._listens[request.id] = self._calls[request.id]
        requests.start_soon(self._answer, request, client, name=f"request {request.method[:40]}")

    def _speaker(self, request: Request) -> Client:
        """Return the client of this request. The first request decides the era."""
        if request.method == "initialize":
            self._check_handshake(request.params or {})
        elif self._era is Era.MODERN or (envelope.is_modern(request.params) and self._era is None):
            return self._modern(request.params or {})
        elif envelope.is_modern(request.params):
            raise RequestRejected(
                INVALID_REQUEST, "this stream began with a handshake; requests must not carry their own", "era"
            )
        elif (
            self._era is None and request.method == "server/discover"
        ):  # a probe of the other era, without its envelope
            raise RequestRejected(METHOD_NOT_FOUND, "unknown method in this protocol version", "method")
        elif self._era is None and request.method != "ping":
            raise RequestRejected(INVALID_REQUEST, "begin with initialize", "no handshake")
        return self._client

    def _check_handshake(self, params: Mapping[str, Any]) -> None:
        if self._era is Era.LEGACY:
            raise RequestRejected(INVALID_REQUEST, "the handshake is complete already", "second initialize")
        if self._era is Era.MODERN:
            raise _unsupported("this stream began without a handshake", params.get("protocolVersion"))

    def _check_room(self, id_: Id) -> None:
        if id_ in self._calls:
            raise RequestRejected(INVALID_REQUEST, "a request with this id is in progress", "id in use")
        if len(self._calls) >= self._limits.client_calls:
            raise RequestRejected(REFUSED, "too many requests are in progress on this stream", "too many requests")

    def _modern(self, params: Mapping[str, Any]) -> Client:
        said = envelope.meta(params)
        version = said.get(envelope.PROTOCOL)
        if not isinstance(version, str) or not isinstance(said.get(envelope.CAPABILITIES), dict):
            sentence = "_meta must contain the protocol version and the client's capabilities"
            raise RequestRejected(INVALID_PARAMS, sentence, "envelope")
        if version not in envelope.MODERN:
            raise _unsupported("this protocol version is not supported", version)
        self._era = Era.MODERN
        mine = self._client
        return modern_client(STREAMS, mine.caller, mine.face, version, said, mine.session)

    async def _answer(self, request: Request, client: Client) -> None:
        try:
            with self._calls[request.id]:
                way = self._line if client.era is Era.LEGACY else None  # the other era knows no requests to clients
                exchange = Exchange(client, request, self._say, way)
                answer = await self._methods.reply(exchange, request)
                self._send(answer)
        finally:
            del self._calls[request.id]
            self._listens.pop(request.id, None)

    def _cancel(self, params: Mapping[str, Any]) -> None:
        id_ = params.get("requestId")
        scope = self._calls.get(id_) if is_id(id_) else None
        if scope is not None:
            scope.cancel()

    def _say(self, said: Notification | Request) -> None:
        if isinstance(said, Request):
            self._send(said)  # somebody waits for the answer to it
        else:
            self._outbox.put(write(said) + b"\n")

    def _send(self, message: Message) -> None:
        self._outbox.add(write(message) + b"\n")

    async def _write(self) -> None:
        """Write everything that waits, whole messages at a time, until the queue is closed."""
        try:
            while True:
                await self._outbox.wait()
                if waiting := self._outbox.take():
                    await self._stream.send(waiting)
                elif self._outbox.closed:
                    return
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._outbox.close()  # it does not want to hear any more


def _unsupported(sentence: str, asked: object) -> RequestRejected:
    data = {"supported": list(envelope.MODERN), "requested": asked}
    return RequestRejected(UNSUPPORTED_VERSION, sentence, "version", data)
