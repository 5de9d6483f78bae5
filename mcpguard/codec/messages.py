"""Reads and writes JSON-RPC messages as MCP uses them, strictly and without models.

Rules kept here:
1. The content of a message (parameters, results, errors) stays unchanged: plain values, nothing added and nothing lost,
   not even an explicit null.
2. An id is a string or an integer. A request with `true`, `1.5`, `null` or a list as its id is refused, and not taken
   for a notification. Batches and messages of two kinds at once are refused too.
3. The values that were read are the values that are sent: a message is written anew from the checked values, so two
   readers cannot see two different things in it.
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
_KINDS = {"method", "result", "error"}

Id = str | int


class BadMessage(ValueError):
    """The data is no message. `id` is the one to answer with, where one could be read."""

    def __init__(self, code: int, sentence: str, id_: Id | None = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.id = id_


@dataclass(frozen=True, slots=True)
class Request:
    """A request, which is to be answered. `params` is None when none were given."""

    id: Id
    method: str
    params: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Notification:
    """A message that is not answered."""

    method: str
    params: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to a request."""

    id: Id
    result: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Failure:
    """The error that answers a request. The id is None when the request could not be read."""

    id: Id | None
    error: dict[str, Any]


Message = Request | Notification | Result | Failure


def read(data: bytes | bytearray, *, max_bytes: int, max_depth: int = 64, max_values: int | None = None) -> Message:
    """Return the message in `data`. Raises BadMessage."""
    refused = ""
    try:
        value = parse(data, max_bytes=max_bytes, max_depth=max_depth, max_values=max_values)
    except StrictError as error:
        refused = error.message
    if refused:  # raised outside of `except`, it does not carry the unreadable text along
        raise BadMessage(PARSE_ERROR, f"not a JSON text that can be accepted: {refused}")
    if not isinstance(value, dict):
        raise BadMessage(INVALID_REQUEST, "a message is one object; batches are not accepted")
    given = value.get("id")
    id_ = given if type(given) is str or (type(given) is int and -LARGEST <= given <= LARGEST) else None  # `is_id`
    kinds = value.keys() & _KINDS if value.get("jsonrpc") == "2.0" else set()
    if kinds == {"method"}:
        method, params = value["method"], value.get("params")
        if method and isinstance(method, str) and (isinstance(params, dict) or "params" not in value):
            if id_ is not None:
                return Request(id_, method, params)
            if "id" not in value:
                return Notification(method, params)
    elif kinds == {"result"} and id_ is not None and isinstance(value["result"], dict):
        return Result(id_, value["result"])
    elif kinds == {"error"} and _is_error(value["error"]) and (id_ is not None or given is None):
        return Failure(id_, value["error"])
    raise BadMessage(INVALID_REQUEST, _objection(value), id_)


def write(message: Message) -> bytes:
    """Return the message as it is sent: one line."""
    members: dict[str, Any] = {"jsonrpc": "2.0"}
    match message:
        case Request(id_, method, params):
            members["id"], members["method"] = id_, method
            if params is not None:
                members["params"] = params
        case Notification(method, params):
            members["method"] = method
            if params is not None:
                members["params"] = params
        case Result(id_, result):
            members["id"], members["result"] = id_, result
        case Failure(id_, error):
            members["id"], members["error"] = id_, error
    return dumps(members)


def dumps(value: object) -> bytes:
    """Return the JSON of any value that `read` can return."""
    try:
        return orjson.dumps(value)
    except TypeError:  # integers beyond 64 bits, which JSON has and orjson has not
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def is_id(value: object) -> TypeGuard[Id]:
    """Tell whether a value can be the id of a request."""
    return isinstance(value, str) or (type(value) is int and -LARGEST <= value <= LARGEST)


def _objection(value: Mapping[str, Any]) -> str:
    """Return why an object is no message."""
    if value.get("jsonrpc") != "2.0":
        return 'a message must have "jsonrpc": "2.0"'
    if value.keys() & _KINDS != {"method"}:
        return "a message is a request, a notification, a result or an error"
    if not isinstance(value["method"], str) or not value["method"]:
        return "method must be a non-empty string"
    if "params" in value and not isinstance(value["params"], dict):
        return "params must be an object"
    return "id must be a string or an integer"


def _is_error(value: object) -> bool:
    return isinstance(value, dict) and type(value.get("code")) is int and isinstance(value.get("message"), str)
