"""Refusals of HTTP requests, and answers that are one JSON message."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mcpguard.codec.messages import Failure, Id, write
from mcpguard.domain.errors import GuardError
from mcpguard.gateway.wire import own_error

HEADER_MISMATCH = -32020
VERSION = "mcp-protocol-version"
Headers = Iterable[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class HttpPatience:
    """How many seconds a body may take to arrive, and after how many silent seconds a client is sent a sign of life."""

    body: float = 60.0
    quiet: float = 15.0


class ClientLeft(GuardError):
    """The client disconnected before its request was complete."""


class HttpRefusal(GuardError):
    """A request that is refused at once. `why` is the fixed word under which it is counted; `wait` is the number of
    seconds after which to retry, 0 where waiting does not help.
    """

    def __init__(
        self, status: int, code: int, sentence: str, why: str, data: Mapping[str, Any] | None = None, wait: int = 0
    ) -> None:
        super().__init__(sentence)
        self.status = status
        self.code = code
        self.why = why
        self.data = data
        self.wait = wait


class UncountedRefusal(GuardError):
    """A request that gets a line of text, as on every other path: it may be nobody's who speaks MCP."""

    def __init__(self, status: int, sentence: str, headers: Headers = ()) -> None:
        super().__init__(sentence)
        self.status = status
        self.headers = headers


def failure(code: int, sentence: str, id_: Id | None = None, data: Mapping[str, Any] | None = None) -> bytes:
    return write(Failure(id_, own_error(code, sentence, data)))
