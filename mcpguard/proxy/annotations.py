"""What an answer says of itself: what was done, with what, and of which type its JSON is.

It is said twice, in `annotations` and in `_meta` under a key of ours: libraries that know only the protocol's members
keep the second and drop the first.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcpguard.proxy.operations import BATCH, Action, ProxyOperation, ProxyType

META: Final = "mcpguard/proxy"
KEYS: Final = ("proxyAction", "proxyType", "proxyPath", "pythonType", "many")
CONTENT_TYPE: Final = "contentType"
"""The MIME type that a resource had before its text was written anew as JSON."""

PYTHON_TYPES: Final = {
    ProxyType.TOOL: "Tool",
    ProxyType.RESOURCE: "mcp.types.Resource | mcp.types.ResourceTemplate",
    ProxyType.PROMPT: "Prompt",
}
"""Of lists. Clients compare the second by equality."""
RESOURCE: Final = "Resource"
TEMPLATE: Final = "ResourceTemplate"
PROMPT_RESULT: Final = "GetPromptResult"
OF_BATCH: Final = {"proxyAction": BATCH, "pythonType": "CallToolResult", "many": True}


@dataclass(frozen=True, slots=True)
class ProxyResponseInfo:
    """What an answer of the tool, or a part of one, says of itself. `proxy_type` is empty for a batch. `python_type`
    and `many` are set for JSON of ours; `rewritten` says that a resource was found to be JSON here, and
    `content_type` which type its server gave, if any.
    """

    proxy_action: str
    proxy_type: str
    proxy_path: str | None = None
    python_type: str | None = None
    many: bool | None = None
    content_type: str | None = None
    rewritten: bool = False

    @classmethod
    def from_annotations(cls, said: object) -> "ProxyResponseInfo | None":
        """Read it from annotations, from `_meta`, or from an item or a result that has either; as objects of the SDK
        or as JSON. Returns None where nothing is said of a proxy.
        """
        found = _said(said)
        action = found.get("proxyAction")
        proxy_type = found.get("proxyType", "" if action == BATCH else None)
        if not isinstance(action, str) or not isinstance(proxy_type, str):
            return None
        path, python_type, many = found.get("proxyPath"), found.get("pythonType"), found.get("many")
        content_type = found.get(CONTENT_TYPE)
        return cls(
            action,
            proxy_type,
            path if isinstance(path, str) else None,
            python_type if isinstance(python_type, str) else None,
            many if isinstance(many, bool) else None,
            content_type if isinstance(content_type, str) else None,
            CONTENT_TYPE in found,
        )


def annotations(
    operation: ProxyOperation, python_type: str | None = None, *, many: bool | None = None
) -> dict[str, Any]:
    """Return what an answer to this operation says of itself."""
    said: dict[str, Any] = {"proxyAction": operation.action.value, "proxyType": operation.type.value}
    if operation.action is not Action.LIST:
        said["proxyPath"] = operation.path
    if python_type is not None:
        said["pythonType"] = python_type
    if many is not None:
        said["many"] = many
    return said


def annotate(item: Mapping[str, Any], said: Mapping[str, Any], **more: object) -> dict[str, Any]:
    """Return an item that says this of itself and nothing else about a proxy, whoever wrote it; its other annotations
    stay. `more` is added to `_meta` only.
    """
    own = {name: value for name, value in _mapping(item.get("annotations")).items() if name not in KEYS}
    return with_meta({**item, "annotations": {**own, **said}}, {**said, **more})


def without_annotations(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item that says nothing of a proxy, whatever its server wrote into it."""
    kept = dict(item)
    for name, ours in (("annotations", KEYS), ("_meta", (META,))):
        said = kept.get(name)
        if isinstance(said, Mapping) and not said.keys().isdisjoint(ours):
            kept[name] = {key: value for key, value in said.items() if key not in ours}
    return kept


def with_meta(said: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    """Return the item or the result with this under our key in its `_meta`."""
    return {**said, "_meta": {**_mapping(said.get("_meta")), META: dict(ours)}}


def _said(said: object) -> Mapping[str, Any]:
    """Return what is said of a proxy, from `_meta` first, because no library drops that."""
    found = _mapping(said)
    for place in (found.get(META), _mapping(found.get("_meta")).get(META), found.get("annotations")):
        if isinstance(place, Mapping) and "proxyAction" in place:
            return place
    return found


def _mapping(said: object) -> Mapping[str, Any]:
    dump = getattr(said, "model_dump", None)
    if callable(dump):
        said = dump(by_alias=True, exclude_none=True)
    return said if isinstance(said, Mapping) else {}
