"""How the tool answers: always as the result of a tool, whatever was done.

What comes from the guard, the SDK or a server is passed on as it is: nothing goes through models here, which would drop
members that they do not know.
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
    annotate,
    annotations,
    with_meta,
    without_annotations,
)
from mcpguard.proxy.objects import JSON, MOST_BYTES, declare_json
from mcpguard.proxy.operations import BATCH, ProxyOperation, ProxyType

LARGEST_LIST: Final = 4 * 1024 * 1024
"""Bytes of a list that are given at once; one entry is always given."""
MOST_ANNOTATED: Final = 256
"""Items of an answer that say each by itself what they are; those that follow are as the server wrote them."""
_IN_A_PATH: Final = "/:@!$&'()*+,;="
_MALFORMED: Final = {"code": -32603, "message": "the server's answer has another form than the protocol's"}


def list_answer(operation: ProxyOperation, entries: Sequence[Mapping[str, Any]], total: int) -> tuple[Json, int]:
    """Return a list, or as much of the requested part as fits, and the number of entries in it. `total` is the number
    of all entries.
    """
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


def batch_answer(results: Sequence[bytes], failures: Sequence[int]) -> Json:
    """Return the results of a batch as JSON. `failures` has the places of those that failed."""
    item = _json(f"proxy:{BATCH}", b"[" + b",".join(results) + b"]", OF_BATCH)
    return with_meta({"content": [item]}, {**OF_BATCH, "total": len(results), "failed": list(failures)})


def definition_answer(operation: ProxyOperation, definition: Mapping[str, Any], *, template: bool = False) -> Json:
    """Return one definition."""
    python_type = PYTHON_TYPES[operation.type]
    if operation.type is ProxyType.RESOURCE:
        python_type = TEMPLATE if template else RESOURCE
    said = annotations(operation, python_type, many=False)
    return with_meta({"content": [_json(uri(operation), dumps(dict(definition)), said)]}, said)


def call_answer(operation: ProxyOperation, result: Mapping[str, Any]) -> Json:
    """Return a server's answer to a call, whatever was called."""
    match operation.type:
        case ProxyType.TOOL:
            return _tool(operation, result)
        case ProxyType.RESOURCE:
            return _resource(operation, result)
        case ProxyType.PROMPT:
            return _prompt(operation, result)


def error_answer(operation: ProxyOperation, error: Mapping[str, Any]) -> Json:
    """Return a server's error as the result of a tool. The error is also included unchanged, for programs."""
    said = annotations(operation)
    text = f"The {operation.type} answered with an error: {error.get('message', '')}"
    item = annotate({"type": "text", "text": text}, said)
    return with_meta({"content": [item], "isError": True}, {**said, "error": dict(error)})


def uri(operation: ProxyOperation) -> str:
    """Return the name of the JSON in an answer."""
    parts = [operation.action.value, operation.type.value]
    if operation.path:
        parts.append(quote(operation.path, safe=_IN_A_PATH))
    return "proxy:" + "/".join(parts)


def _tool(operation: ProxyOperation, result: Mapping[str, Any]) -> Json:
    content = result.get("content", [])
    if not isinstance(content, list | Mapping):
        return error_answer(operation, _MALFORMED)
    said = annotations(operation)
    return with_meta({**result, "content": _annotated(_items(content), said)}, said)


def _resource(operation: ProxyOperation, result: Mapping[str, Any]) -> Json:
    said, contents = annotations(operation), _items(result.get("contents"))
    if not all(isinstance(content, Mapping) for content in contents):
        return error_answer(operation, _MALFORMED)
    items, left = list[Json](), MOST_BYTES
    for place, content in enumerate(contents):
        resource, anew = declare_json(content, most=left)
        left -= len(resource["text"]) if anew else 0
        item = {"type": "resource", "resource": without_annotations(resource)}
        was = {CONTENT_TYPE: resource.get(CONTENT_TYPE)} if anew else {}
        items.append(annotate(item, said, **was) if place < MOST_ANNOTATED else item)
    return with_meta({"content": items} | _meta_of(result), said)


def _prompt(operation: ProxyOperation, result: Mapping[str, Any]) -> Json:
    said = annotations(operation, PROMPT_RESULT, many=False)
    own = {name: value for name, value in result.items() if name not in ("_meta", "resultType")}
    return with_meta({"content": [_json(uri(operation), dumps(own), said)]} | _meta_of(result), said)


def _annotated(items: list[Any], said: Mapping[str, Any]) -> list[Any]:
    """Annotate each item, up to `MOST_ANNOTATED`; what is no item stays as it is, for readers to see."""
    return [
        item
        if not isinstance(item, Mapping)
        else annotate(item, said)
        if place < MOST_ANNOTATED
        else without_annotations(item)
        for place, item in enumerate(items)
    ]


def _items(said: object) -> list[Any]:
    """Return a list of items. Some servers give a single one without its list."""
    return said if isinstance(said, list) else [said]


def _json(name: str, value: bytes, said: Mapping[str, Any], **more: object) -> Json:
    resource = {"uri": name, "mimeType": JSON, "text": value.decode()}
    return annotate({"type": "resource", "resource": resource}, said, **more)


def _meta_of(result: Mapping[str, Any]) -> Json:
    return {"_meta": result["_meta"]} if isinstance(result.get("_meta"), Mapping) else {}
