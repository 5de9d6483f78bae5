"""What everything in this package says: the names of the protocol, and the shapes of what is sent."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
Id = str | int

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")

META = "io.modelcontextprotocol/"
PROTOCOL_VERSION = META + "protocolVersion"
CLIENT_INFO = META + "clientInfo"
CLIENT_CAPABILITIES = META + "clientCapabilities"
LOG_LEVEL = META + "logLevel"
SUBSCRIPTION_ID = META + "subscriptionId"
SERVER_INFO = META + "serverInfo"

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002  # legacy only
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022


@dataclass(frozen=True)
class Torn:
    """Bytes after which the connection breaks off, in the middle of a message."""

    begin: bytes


@dataclass(frozen=True)
class HangUp:
    """Over HTTP the server closes the response here and goes on; the client may come back for the rest (event ids)."""

    retry_ms: int = 1


@dataclass(frozen=True)
class Whole:
    """A message that goes out as it stands; no envelope is put around it."""

    message: Json


Said = Json | bytes | Torn | HangUp
"""What a side can send: a message; bytes in the place of one; the beginning of one; a break."""
Say = Callable[[Said], Awaitable[None]]


class RpcError(Exception):
    """An answer that there is none."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.error: Json = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data

    @property
    def code(self) -> int:
        code: int = self.error["code"]
        return code


async def unheard(_: Said) -> None:
    """Where messages go that nobody can receive."""


def text(said: str) -> Json:
    """A tool's result that is a text."""
    return {"content": [{"type": "text", "text": said}]}


def request(id_: Id, method: str, params: Json | None = None) -> Json:
    return {"jsonrpc": "2.0", "id": id_, "method": method} | ({} if params is None else {"params": params})


def notification(method: str, params: Json | None = None) -> Json:
    return {"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": params})


def result(id_: object, given: Json) -> Json:
    return {"jsonrpc": "2.0", "id": id_, "result": given}


def failure(id_: object, error: RpcError) -> Json:
    return {"jsonrpc": "2.0", "id": id_, "error": error.error}
