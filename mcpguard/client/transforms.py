"""Turns answers of the tool into the SDK's types that plain MCP would have returned."""

import json
from typing import Any, Final

from mcp_types import (
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    GetPromptResult,
    Prompt,
    Resource,
    ResourceTemplate,
    TextResourceContents,
    Tool,
)
from pydantic import TypeAdapter

from mcpguard.proxy.annotations import PROMPT_RESULT, ProxyResponseInfo

Contents = TextResourceContents | BlobResourceContents
_TYPES: Final[dict[str, Any]] = {
    "Tool": Tool,
    "Prompt": Prompt,
    "Resource": Resource,
    "ResourceTemplate": ResourceTemplate,
    "GetPromptResult": GetPromptResult,
    "CallToolResult": CallToolResult,
}


def get_proxy_query_result(result: CallToolResult) -> Any:  # noqa: ANN401 - what was asked for
    """Return what `list` or `info` answered: a list of definitions, or one. Raises ValueError if it is another
    answer.
    """
    python_type, data, many = get_embedded_resource_python_object(_only(result))
    if many is None:
        raise ValueError("the answer does not say whether it is one or many")
    return deserialize_embedded_resource_python_object(_named(python_type), python_type, data, many)


def get_embedded_resource_python_object(item: EmbeddedResource) -> tuple[str, Any, bool | None]:
    """Return the name of a type, the JSON of one or many such values, and whether it is many. Raises ValueError."""
    info = ProxyResponseInfo.from_annotations(item)
    if info is None or info.python_type is None or not isinstance(item.resource, TextResourceContents):
        raise ValueError("the answer does not say which type it has; it comes from no proxy tool")
    return info.python_type, json.loads(item.resource.text), info.many


def deserialize_embedded_resource_python_object(
    target_type: Any,  # noqa: ANN401 - a type or a union of types
    python_type: str,
    json_data: Any,  # noqa: ANN401 - JSON
    many: bool | None,
) -> Any:  # noqa: ANN401 - of the type that was asked for
    """Return the value of that type, or a list of them. Raises ValueError if the answer has another type."""
    if _named(python_type) != target_type:
        raise ValueError(f"the answer is of the type {python_type!r}")
    wanted: Any = list[target_type] if many else target_type
    return TypeAdapter(wanted).validate_python(json_data)


def tool_result_as_prompt_result(result: CallToolResult) -> GetPromptResult:
    """Return a prompt's messages. Raises ValueError if the answer is not that of a prompt."""
    python_type, data, many = get_embedded_resource_python_object(_only(result))
    if python_type != PROMPT_RESULT or many:
        raise ValueError(f"the answer is of the type {python_type!r}, not of a prompt")
    return GetPromptResult.model_validate({**data, "_meta": result.meta})


def tool_result_as_resource_result(result: CallToolResult) -> list[Contents]:
    """Return a resource's contents, with the MIME type that its server gave. Raises ValueError if the answer is not
    that of a resource.
    """
    return [_contents(item) for item in result.content]


def _contents(item: object) -> Contents:
    if not isinstance(item, EmbeddedResource):
        raise ValueError("the answer is not of a resource")  # noqa: TRY004 - what came is wrong, not what was given
    info = ProxyResponseInfo.from_annotations(item)
    if info is None or not info.rewritten:
        return item.resource
    return item.resource.model_copy(update={"mime_type": info.content_type})


def _only(result: CallToolResult) -> EmbeddedResource:
    if len(result.content) == 1 and isinstance(result.content[0], EmbeddedResource):
        return result.content[0]
    raise ValueError("the answer is not one embedded resource")


def _named(python_type: str) -> Any:  # noqa: ANN401 - a type or a union of types
    """Return the type of this name, in any of the forms in which proxies write it."""
    names = [name.strip().removeprefix("mcp.types.") for name in python_type.split("|")]
    if not all(name in _TYPES for name in names):
        raise ValueError(f"the answer is of the type {python_type!r}, which is none of the protocol's")
    found = _TYPES[names[0]]
    for name in names[1:]:
        found = found | _TYPES[name]
    return found
