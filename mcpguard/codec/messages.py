"""JSON-RPC messages as MCP uses them, read strictly and kept raw.

Rules kept here:
1. What a message carries (parameters, results, errors) stays what it was: plain values, no models, nothing added and
   nothing lost, not even a null that was said aloud.
2. An id is a string or an integer. `true`, `1.5`, `null` or a list as an id does not make a request into a
   notification: it is refused. So are batches, and messages that are two things at once.
3. What was read is what is sent on: a message is written anew from the values that were checked, so two readers cannot
   see two different things in it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

import orjson

from mcpguard.codec.canonical import LARGEST
from mcpguard.codec.strict import StrictError, parse

PARSE_ERROR = -32700
INVALID_REQUEST = -32600

Id = str | int


class BadMessage(ValueError):
    """This is no message. `id` is the one to answer with, where one could be read."""

    def __init__(self, code: int, sentence: str, id_: Id | None = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.id = id_


@dataclass(frozen=True, slots=True)
class Request:
    """Wants an answer. `params` is None when none were given."""

    id: Id
    method: str
    params: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Notification:
    """Wants none."""

    method: str
    params: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to a request."""

    id: Id
    result: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Failure:
    """The answer that there is none. The id is None when the request could not be read."""

    id: Id | None
    error: dict[str, Any]


Message = Request | Notification | Result | Failure


def read(data: bytes | bytearray, *, max_bytes: int, max_depth: int = 64, max_values: int | None = None) -> Message:
    """The message in `data`, or BadMessage."""
    refused = ""
    try:
        said = parse(data, max_bytes=max_bytes, max_depth=max_depth, max_values=max_values)
    except StrictError as error:
        refused = error.message
    if refused:  # raised out here, it does not carry the text along that could not be read
        raise BadMessage(PARSE_ERROR, f"not a JSON text that can be accepted: {refused}")
    if not isinstance(said, dict):
        raise BadMessage(INVALID_REQUEST, "a message is one object; batches are not accepted")
    id_ = said["id"] if is_id(said.get("id")) else None
    if said.get("jsonrpc") != "2.0":
        raise BadMessage(INVALID_REQUEST, 'a message says "jsonrpc": "2.0"', id_)
    match sorted(said.keys() & {"method", "result", "error"}):
        case ["method"]:
            return _asking(said, id_)
        case ["result"] if id_ is not None and isinstance(said["result"], dict):
            return Result(id_, said["result"])
        case ["error"] if _is_error(said["error"]) and (id_ is not None or said.get("id") is None):
            return Failure(id_, said["error"])
        case _:
            raise BadMessage(INVALID_REQUEST, "a message is a request, a notification, a result or an error", id_)


def write(message: Message) -> bytes:
    """The message as it is sent: one line."""
    said: dict[str, Any] = {"jsonrpc": "2.0"}
    match message:
        case Request(id_, method, params):
            said |= {"id": id_, "method": method} | _given(params)
        case Notification(method, params):
            said |= {"method": method} | _given(params)
        case Result(id_, result):
            said |= {"id": id_, "result": result}
        case Failure(id_, error):
            said |= {"id": id_, "error": error}
    return dumps(said)


def dumps(value: object) -> bytes:
    """JSON of whatever `read` can give."""
    try:
        return orjson.dumps(value)
    except TypeError:  # integers beyond 64 bits, which JSON has and orjson has not
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _asking(said: Mapping[str, Any], id_: Id | None) -> Request | Notification:
    method, params = said["method"], said.get("params")
    if not isinstance(method, str) or not method:
        raise BadMessage(INVALID_REQUEST, "a method is a name", id_)
    if "params" in said and not isinstance(params, dict):
        raise BadMessage(INVALID_REQUEST, "parameters are an object", id_)
    if "id" not in said:
        return Notification(method, params)
    if id_ is None:
        raise BadMessage(INVALID_REQUEST, "an id is a string or an integer")
    return Request(id_, method, params)


def is_id(value: object) -> TypeGuard[Id]:
    """Whether it can name a request."""
    return isinstance(value, str) or (type(value) is int and -LARGEST <= value <= LARGEST)


def _is_error(value: object) -> bool:
    return isinstance(value, dict) and type(value.get("code")) is int and isinstance(value.get("message"), str)


def _given(params: dict[str, Any] | None) -> dict[str, Any]:
    return {} if params is None else {"params": params}
