"""A client that says what it is told to, in both eras: raw requests out, raw messages back.

Rules kept here:
1. It sends what the test gives it and adds only what the era demands; `bare=True` adds nothing at all.
2. It checks nothing and understands nothing: a reply is the message that came, with everything that came before it.
3. What the server asks (legacy) is answered by `on`, or refused with "method not found". Input that is required
   (modern) is the reply; `fulfil` makes the rounds.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.simulators.words import (
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    LEGACY,
    METHOD_NOT_FOUND,
    MODERN,
    PROTOCOL_VERSION,
    Id,
    Json,
    RpcError,
    failure,
    notification,
    request,
    result,
)

OnRequest = Callable[[Json], Json]
CAPABILITIES: Json = {"elicitation": {"form": {}}, "sampling": {}, "roots": {"listChanged": True}}


@dataclass
class Reply:
    """What came for a request: its answer, and what came before it. Over HTTP, the status and headers too."""

    message: Json | None = None
    before: list[Json] = field(default_factory=list)
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def result(self) -> Json:
        """The result. A test that gets an error instead sees it."""
        assert self.message is not None, f"no answer: {self}"
        assert "result" in self.message, self.message
        found: Json = self.message["result"]
        return found

    @property
    def error(self) -> Json:
        assert self.message is not None, f"no answer: {self}"
        assert "error" in self.message, self.message
        found: Json = self.message["error"]
        return found

    @property
    def text(self) -> str:
        """The text of a tool's result."""
        return "".join(part.get("text", "") for part in self.result["content"])

    @property
    def notifications(self) -> list[Json]:
        """What the server told before it answered."""
        return [each for each in self.before if "id" not in each]


class RawClient:
    """What is the same over any transport; `exchange` is the transport."""

    def __init__(self, *, modern: bool = True, version: str | None = None) -> None:
        self.modern = modern
        self.version = version or (MODERN if modern else LEGACY[0])
        self.info: Json = {"name": "simulated client", "version": "1.0"}
        self.capabilities: Json = dict(CAPABILITIES)
        self.meta: Json = {}  # said with every request
        self.on: dict[str, OnRequest] = {}
        self.asked: list[Json] = []  # the server's requests
        self.by_hand = False  # whether the test answers them itself, or leaves them unanswered
        self.heard: list[Json] = []  # everything the server said that was no answer
        self.stray: list[Json] = []  # answers to nothing that was asked, or to what was answered before
        self.last: Id = 0  # the id of the request that was made last
        self._numbers = itertools.count(1)

    async def exchange(self, message: Json, **options: Any) -> Reply:  # noqa: ANN401 - the transport's own
        """Send a request and wait for its answer."""
        raise NotImplementedError

    async def send(self, message: Json) -> Reply:
        """Send what wants no answer."""
        raise NotImplementedError

    async def request(self, method: str, params: Json | None = None, *, bare: bool = False, **options: Any) -> Reply:  # noqa: ANN401 - the transport's own
        """Ask. `options` are for the transport: `id_`, and over HTTP `headers`."""
        id_ = self.last = options.pop("id_", None) or next(self._numbers)
        said = params if bare else self._with_meta(params)
        return await self.exchange(request(id_, method, said), **options)

    async def notify(self, method: str, params: Json | None = None) -> Reply:
        return await self.send(notification(method, params))

    async def initialize(self) -> Reply:
        """The legacy handshake."""
        params = {"protocolVersion": self.version, "capabilities": self.capabilities, "clientInfo": self.info}
        reply = await self.request("initialize", params)
        if reply.message is not None and "result" in reply.message:
            self.version = reply.result["protocolVersion"]
            await self.notify("notifications/initialized")
        return reply

    async def discover(self) -> Reply:
        return await self.request("server/discover")

    async def call(self, name: str, arguments: Json | None = None, **options: Any) -> Reply:  # noqa: ANN401 - see request
        """Call a tool."""
        return await self.request("tools/call", {"name": name, "arguments": arguments or {}}, **options)

    async def names(self, method: str = "tools/list") -> list[str]:
        """The names in a listing, page after page."""
        key = {"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources"}[method]
        found: list[str] = []
        params: Json = {}
        while True:
            page = (await self.request(method, params)).result
            found += [each["name"] for each in page[key]]
            if "nextCursor" not in page:
                return found
            params = {"cursor": page["nextCursor"]}

    async def fulfil(self, method: str, params: Json, rounds: int = 5, **options: Any) -> Reply:  # noqa: ANN401 - see request
        """Ask, and give the input that is required (by `on`) until there is an answer."""
        said = dict(params)
        for _ in range(rounds):
            reply = await self.request(method, said, **options)
            if reply.message is None or (reply.message.get("result") or {}).get("resultType") != "input_required":
                return reply
            wanted = reply.result.get("inputRequests") or {}
            given = {name: self.on[each["method"]](each.get("params") or {}) for name, each in wanted.items()}
            said = params | ({"inputResponses": given} if given else {})
            if "requestState" in reply.result:
                said["requestState"] = reply.result["requestState"]
        raise AssertionError(f"still asking after {rounds} rounds")

    async def be_asked(self, message: Json) -> None:
        """The server makes a request."""
        self.asked.append(message)
        if not self.by_hand:
            await self.send(self.answer_to(message))

    def answer_to(self, message: Json) -> Json:
        """What this client says to a request of the server."""
        if (answer := self.on.get(message["method"])) is None:
            return failure(message["id"], RpcError(METHOD_NOT_FOUND, "Method not found"))
        try:
            return result(message["id"], answer(message.get("params") or {}))
        except RpcError as error:
            return failure(message["id"], error)

    def _with_meta(self, params: Json | None) -> Json | None:
        meta = dict(self.meta)
        if self.modern:
            meta = {
                PROTOCOL_VERSION: self.version,
                CLIENT_INFO: self.info,
                CLIENT_CAPABILITIES: self.capabilities,
            } | meta
        if not meta:
            return params
        return (params or {}) | {"_meta": meta | ((params or {}).get("_meta") or {})}
