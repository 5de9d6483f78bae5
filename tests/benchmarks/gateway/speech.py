"""What a client of the measurements says, in either era, and how it reads what it is told.

Bodies are put together from pieces and not serialized: making them is timed too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import orjson

from tests.benchmarks.gateway.upstream import HANDSHAKE, META, MODERN

_CLIENT = {"name": "benchmark", "version": "1"}
_ENVELOPE = {META + "protocolVersion": MODERN, META + "clientInfo": _CLIENT, META + "clientCapabilities": {}}
_TAIL = b',"_meta":' + orjson.dumps(_ENVELOPE)


class Era(StrEnum):
    """Which half of the protocol's history a client belongs to."""

    MODERN = "modern"
    HANDSHAKE = "handshake"


class Failed(Exception):
    """There was no answer, or not the one that was due. Says which."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message, and what a request over HTTP repeats of it in its headers."""

    id: int
    method: str
    body: bytes
    name: str = ""


@dataclass(slots=True)
class Speech:
    """Makes the messages of one client."""

    era: Era
    by: str = ""
    """The tool by which others are called; "" where they are called by themselves."""
    _number: int = field(default=0, init=False)

    def call(self, tool: str, text: str) -> Said:
        given = b'"name":"%b","arguments":{"text":"%b"}' % (tool.encode(), text.encode())
        if self.by:
            given = b'"name":"%b","arguments":{%b}' % (self.by.encode(), given)
        return self._request("tools/call", given, self.by or tool)

    def use(self, tool: str, arguments: Mapping[str, object]) -> Said:
        """A call with any arguments, of a tool by itself. What it takes to serialize them is timed."""
        return self._request("tools/call", orjson.dumps({"name": tool, "arguments": arguments})[1:-1], tool)

    def list(self, cursor: str | None) -> Said:
        return self._request("tools/list", b"" if cursor is None else b'"cursor":' + orjson.dumps(cursor))

    def initialize(self) -> Said:
        given = {"protocolVersion": HANDSHAKE[-1], "capabilities": {}, "clientInfo": _CLIENT}
        return self._request("initialize", orjson.dumps(given)[1:-1])

    def initialized(self) -> Said:
        return Said(0, "notifications/initialized", b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def _request(self, method: str, given: bytes, name: str = "") -> Said:
        self._number += 1
        params = (given + _TAIL).lstrip(b",") if self.era is Era.MODERN else given
        body = b'{"jsonrpc":"2.0","id":%d,"method":"%b","params":{%b}}' % (self._number, method.encode(), params)
        return Said(self._number, method, body, name)


def result(said: Said, answer: bytes) -> dict[str, Any]:
    """The result in an answer. Raises Failed."""
    try:
        message = orjson.loads(answer)
    except orjson.JSONDecodeError:
        raise Failed(f"no JSON: {answer[:200]!r}") from None
    if message.get("id") != said.id or not isinstance(found := message.get("result"), dict):
        raise Failed(f"{said.method} was answered with {answer[:200]!r}")
    return found


def text(said: Said, answer: bytes) -> str:
    """The text in the answer to a call. Raises Failed."""
    match result(said, answer):
        case {"content": [{"type": "text", "text": str(found)}], **more} if more.get("isError") is not True:
            return found
        case _:
            raise Failed(f"{said.method} was answered with {answer[:300]!r}")
