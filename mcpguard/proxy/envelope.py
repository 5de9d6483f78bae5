"""How the tool answers: always as the result of a tool, whatever was done.

What the guard, the SDK or a server knows comes in as it is sent, and goes out as it is sent: nothing passes through
models here, which would drop what they do not know.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from mcpguard.codec.messages import dumps
from mcpguard.domain.json import Json
from mcpguard.proxy.annotations import (
    CONTENT_TYPE,
    OF_BATCH,
    PROMPT_RESULT,
    PYTHON_TYPES,
    RESOURCE,
    TEMPLATE,
    annotated,
    annotations,
    silenced,
    with_meta,
)
from mcpguard.proxy.objects import JSON, MOST_BYTES, objectified
from mcpguard.proxy.operations import BATCH, ProxyOperation, ProxyType

LARGEST_LIST: Final = 4 * 1024 * 1024
"""Bytes of a list that are given at once; one entry is always given."""
MOST_ANNOTATED: Final = 256
"""Items of an answer that say each by itself what they are; those that follow are as the server wrote them."""
_IN_A_PATH: Final = "/:@!$&'()*+,;="
_MALFORMED: Final = {"code": -32603, "message": "the server's answer has another form than the protocol's"}


def listed(operation: ProxyOperation, entries: Sequence[Mapping[str, Any]], total: int) -> tuple[Json, int]:
    """A list, or as much as may be of the part that was asked for, and how many entries that is. `total`: of how
    many."""
    texts, size = list[bytes](), 0
    for entry in entries:
        texts.append(dumps(entry))
        size += len(texts[-1])
        if size > LARGEST_LIST and len(texts) > 1:
            texts.pop()
            break
    said = annotations(operation, PYTHON_TYPES[operation.type], many=True)
    place: Json = {"total": total, "offset": operation.offset}
    if operation.offset + len(texts) < total:
        place["nextOffset"] = operation.offset + len(texts)
    item = _json(uri(operation), b"[" + b",".join(texts) + b"]", said, **place)
    return with_meta({"content": [item]}, {**said, **place}), len(texts)


def batched(results: Sequence[bytes], failed: Sequence[int]) -> Json:
    """What each operation of a batch came to, as JSON. `failed`: which of them did, by their places."""
    item = _json(f"proxy:{BATCH}", b"[" + b",".join(results) + b"]", OF_BATCH)
    return with_meta({"content": [item]}, {**OF_BATCH, "total": len(results), "failed": list(failed)})


def described(operation: ProxyOperation, definition: Mapping[str, Any], *, template: bool = False) -> Json:
    """One definition."""
    python_type = PYTHON_TYPES[operation.type]
    if operation.type is ProxyType.RESOURCE:
        python_type = TEMPLATE if template else RESOURCE
    said = annotations(operation, python_type, many=False)
    return with_meta({"content": [_json(uri(operation), dumps(dict(definition)), said)]}, said)


def called(operation: ProxyOperation, result: Mapping[str, Any]) -> Json:
    """What a server answered to a call, whatever was called."""
    match operation.type:
        case ProxyType.TOOL:
            return _tool(operation, result)
        case ProxyType.RESOURCE:
            return _resource(operation, result)
        case ProxyType.PROMPT:
            return _prompt(operation, result)


def failed(operation: ProxyOperation, error: Mapping[str, Any]) -> Json:
    """An error that a server answered with, as the result of a tool. It is also said as it was, for programs."""
    said = annotations(operation)
    text = f"The {operation.type} answered with an error: {error.get('message', '')}"
    item = annotated({"type": "text", "text": text}, said)
    return with_meta({"content": [item], "isError": True}, {**said, "error": dict(error)})


def uri(operation: ProxyOperation) -> str:
    """What the JSON of an answer is called."""
    parts = [operation.action.value, operation.type.value]
    if operation.path:
        parts.append(quote(operation.path, safe=_IN_A_PATH))
    return "proxy:" + "/".join(parts)


def _tool(operation: ProxyOperation, result: Mapping[str, Any]) -> Json:
    content = result.get("content", [])
    if not isinstance(content, list | Mapping):
        return failed(operation, _MALFORMED)
    said = annotations(operation)
    return with_meta({**result, "content": _annotated(_items(content), said)}, said)


def _resource(operation: ProxyOperation, result: Mapping[str, Any]) -> Json:
    said, contents = annotations(operation), _items(result.get("contents"))
    if not all(isinstance(content, Mapping) for content in contents):
        return failed(operation, _MALFORMED)
    items, left = list[Json](), MOST_BYTES
    for place, content in enumerate(contents):
        resource, anew = objectified(content, most=left)
        left -= len(resource["text"]) if anew else 0
        item = {"type": "resource", "resource": silenced(resource)}
        was = {CONTENT_TYPE: resource.get(CONTENT_TYPE)} if anew else {}
        items.append(annotated(item, said, **was) if place < MOST_ANNOTATED else item)
    return with_meta({"content": items} | _meta_of(result), said)


def _prompt(operation: ProxyOperation, result: Mapping[str, Any]) -> Json:
    said = annotations(operation, PROMPT_RESULT, many=False)
    own = {name: value for name, value in result.items() if name not in ("_meta", "resultType")}
    return with_meta({"content": [_json(uri(operation), dumps(own), said)]} | _meta_of(result), said)


def _annotated(items: list[Any], said: Mapping[str, Any]) -> list[Any]:
    """Each says what it is, as far as `MOST_ANNOTATED`; what is no item stays as it is, for readers to see."""
    return [
        item if not isinstance(item, Mapping) else annotated(item, said) if place < MOST_ANNOTATED else silenced(item)
        for place, item in enumerate(items)
    ]


def _items(said: object) -> list[Any]:
    """Some servers give the only one without its list."""
    return said if isinstance(said, list) else [said]


def _json(name: str, value: bytes, said: Mapping[str, Any], **more: object) -> Json:
    resource = {"uri": name, "mimeType": JSON, "text": value.decode()}
    return annotated({"type": "resource", "resource": resource}, said, **more)


def _meta_of(result: Mapping[str, Any]) -> Json:
    return {"_meta": result["_meta"]} if isinstance(result.get("_meta"), Mapping) else {}
