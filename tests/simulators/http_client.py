"""The raw client over streamable HTTP.

    async with httpx2.AsyncClient() as http:
        client = HttpClient(http, url, modern=False)
        await client.initialize()
        reply = await client.call("echo", {"a": 1})

A transport that hands over a response only when it is complete (ASGITransport) will do where nothing is streamed.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2

from tests.simulators.client import RawClient, Reply
from tests.simulators.headers import NAMED, encoded
from tests.simulators.words import Json, notification

ACCEPT = {"accept": "application/json, text/event-stream"}


class HttpClient(RawClient):
    """Each message is a POST of its own."""

    def __init__(self, http: httpx2.AsyncClient, url: str, *, modern: bool = True, version: str | None = None) -> None:
        super().__init__(modern=modern, version=version)
        self.http = http
        self.url = url
        self.session: str | None = None
        self.headers: dict[str, str] = {}  # sent with every request

    async def exchange(self, message: Json, **options: Any) -> Reply:  # noqa: ANN401 - see below
        """Send, and wait for the answer. `headers` are added, or left out where one is None; `content` is the body."""
        reply = Reply()
        async with self._posted(message, options) as response:
            reply.status = response.status_code
            reply.headers = {name.lower(): value for name, value in response.headers.items()}
            self.session = response.headers.get("mcp-session-id", self.session)
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                async for said in events(response):
                    if await self._took(said, message.get("id"), reply):
                        break
            else:
                reply.body = await response.aread()
                reply.message = _message(reply.body)
        return reply

    async def send(self, message: Json) -> Reply:
        return await self.exchange(message)

    async def end(self) -> Reply:
        """Give the session back."""
        response = await self.http.request("DELETE", self.url, headers=self.headers_for(None))
        self.session = None
        return Reply(status=response.status_code)

    @asynccontextmanager
    async def listening(self, **wanted: Any) -> AsyncIterator["Listening"]:  # noqa: ANN401 - a filter's fields
        """What the server says on the account of no call: a GET (legacy), or `subscriptions/listen` for `wanted`."""
        if self.modern:
            said = self._with_meta({"notifications": wanted})
            id_ = next(self._numbers)
            opened = self._posted({"jsonrpc": "2.0", "id": id_, "method": "subscriptions/listen", "params": said}, {})
        else:
            headers = self.headers_for(None) | {"accept": "text/event-stream"}
            opened = self.http.stream("GET", self.url, headers=headers, timeout=None)
        async with opened as response, anyio.create_task_group() as tasks:
            if response.status_code != 200:
                raise AssertionError(f"{response.status_code}: {await response.aread()!r}")
            heard = Listening()
            tasks.start_soon(self._listen, response, heard, name="listening")
            yield heard
            tasks.cancel_scope.cancel()

    async def _listen(self, response: httpx2.Response, heard: "Listening") -> None:
        try:
            async for said in events(response):
                if "id" in said and "method" in said:
                    await self.be_asked(said)
                self.heard.append(said)
                heard.take(said)
        finally:
            heard.end()

    async def _took(self, said: Json, id_: object, reply: Reply) -> bool:
        """Whether this is the answer."""
        if "method" not in said and said.get("id") == id_:
            reply.message = said
            return True
        self.heard.append(said)
        reply.before.append(said)
        if "method" in said and "id" in said:
            await self.be_asked(said)
        return False

    def _posted(self, message: Json, options: Json) -> Any:  # noqa: ANN401 - httpx2's own context manager
        given = self.headers_for(message) | {"content-type": "application/json"} | options.get("headers", {})
        headers = {name: value for name, value in given.items() if value is not None}
        content = options.get("content", json.dumps(message).encode())
        return self.http.stream("POST", self.url, content=content, headers=headers, timeout=None)

    def headers_for(self, message: Json | None) -> dict[str, str]:
        """What this client says in the headers of a message."""
        headers = ACCEPT | {"mcp-protocol-version": self.version}
        if message is not None and message.get("method") == "initialize":
            del headers["mcp-protocol-version"]
        if self.modern and message is not None and "method" in message:
            headers["mcp-method"] = message["method"]
            if (field := NAMED.get(message["method"])) is not None:
                headers["mcp-name"] = encoded((message.get("params") or {}).get(field, ""))
        if not self.modern and self.session is not None:
            headers["mcp-session-id"] = self.session
        return headers | self.headers


class Listening:
    """What was heard, in order."""

    def __init__(self) -> None:
        self.heard: list[Json] = []
        self.ended = False
        self._changed = anyio.Event()

    def take(self, message: Json) -> None:
        self.heard.append(message)
        self._wake()

    def end(self) -> None:
        self.ended = True
        self._wake()

    async def until(self, method: str, count: int = 1) -> Json:
        """Wait for the `count`th message of this method."""
        while len(found := [each for each in self.heard if each.get("method") == method]) < count:
            assert not self.ended, f"ended without {method}: {self.heard}"
            await self._changed.wait()
        return found[count - 1]

    async def until_ended(self) -> None:
        while not self.ended:
            await self._changed.wait()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


async def events(response: httpx2.Response) -> AsyncIterator[Json]:
    """The messages of a stream of events."""
    data: list[str] = []
    async for line in response.aiter_lines():
        name, _, value = line.partition(":")
        if name == "data":
            data.append(value.removeprefix(" "))
        elif not line and data:
            if said := "\n".join(data):
                yield _message(said.encode()) or notification("unreadable", {"data": said})
            data = []


def _message(body: bytes) -> Json | None:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None
