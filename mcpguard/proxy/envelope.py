"""How the tool answers: always as the result of a tool, whatever was done.

What the guard, the SDK or a server knows comes in as it is sent, and goes out as it is sent: nothing passes through
models here, which would drop what they do not know.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from mcpguard.codec.messages import dumps
from mcpguard.proxy.annotations import (
    CONTENT_TYPE,
    PROMPT_RESULT,
    PYTHON_TYPES,
    RESOURCE,
    TEMPLATE,
    annotated,
    annotations,
    with_meta,
)
from mcpguard.proxy.objects import JSON, objectified
from mcpguard.proxy.operations import Operation, ProxyType

Json = dict[str, Any]
_IN_A_PATH = "/:@!$&'()*+,;="


def listed(operation: Operation, entries: Sequence[Mapping[str, Any]], total: int) -> Json:
    """A list, or the part of it that was asked for; `total`: of how many."""
    said = annotations(operation, PYTHON_TYPES[operation.type], many=True)
    place: Json = {"total": total, "offset": operation.offset}
    if operation.offset + len(entries) < total:
        place["nextOffset"] = operation.offset + len(entries)
    item = _json(uri(operation), list(entries), said, **place)
    return with_meta({"content": [item]}, {**said, **place})


def described(operation: Operation, definition: Mapping[str, Any]) -> Json:
    """One definition."""
    python_type = PYTHON_TYPES[operation.type]
    if operation.type is ProxyType.RESOURCE:
        python_type = TEMPLATE if "uriTemplate" in definition else RESOURCE
    said = annotations(operation, python_type, many=False)
    return with_meta({"content": [_json(uri(operation), dict(definition), said)]}, said)


def called(operation: Operation, result: Mapping[str, Any]) -> Json:
    """What a server answered to a call, whatever was called."""
    match operation.type:
        case ProxyType.TOOL:
            return _tool(operation, result)
        case ProxyType.RESOURCE:
            return _resource(operation, result)
        case ProxyType.PROMPT:
            return _prompt(operation, result)


def failed(operation: Operation, error: Mapping[str, Any]) -> Json:
    """An error that a server answered with, as the result of a tool. It is also said as it was, for programs."""
    said = annotations(operation)
    text = f"The {operation.type} answered with an error: {error.get('message', '')}"
    item = annotated({"type": "text", "text": text}, said)
    return with_meta({"content": [item], "isError": True}, {**said, "error": dict(error)})


def uri(operation: Operation) -> str:
    """What the JSON of an answer is called."""
    parts = [operation.action.value, operation.type.value]
    if operation.path:
        parts.append(quote(operation.path, safe=_IN_A_PATH))
    return "proxy:" + "/".join(parts)


def _tool(operation: Operation, result: Mapping[str, Any]) -> Json:
    said, content = annotations(operation), result.get("content")
    items = [annotated(item, said) if isinstance(item, Mapping) else item for item in _items(content)]
    return with_meta({**result, "content": items}, said)


def _resource(operation: Operation, result: Mapping[str, Any]) -> Json:
    said, items = annotations(operation), []
    for content in _items(result.get("contents")):
        if isinstance(content, Mapping):
            resource = objectified(content)
            was = {CONTENT_TYPE: resource[CONTENT_TYPE]} if "text" in resource and CONTENT_TYPE in resource else {}
            items.append(annotated({"type": "resource", "resource": resource}, said, **was))
    return with_meta({"content": items} | _meta_of(result), said)


def _prompt(operation: Operation, result: Mapping[str, Any]) -> Json:
    said = annotations(operation, PROMPT_RESULT, many=False)
    own = {name: value for name, value in result.items() if name not in ("_meta", "resultType")}
    return with_meta({"content": [_json(uri(operation), own, said)]} | _meta_of(result), said)


def _json(name: str, value: object, said: Mapping[str, Any], **more: object) -> Json:
    resource = {"uri": name, "mimeType": JSON, "text": dumps(value).decode()}
    return annotated({"type": "resource", "resource": resource}, said, **more)


def _meta_of(result: Mapping[str, Any]) -> Json:
    return {"_meta": result["_meta"]} if isinstance(result.get("_meta"), Mapping) else {}


def _items(said: object) -> list[Any]:
    return said if isinstance(said, list) else []
