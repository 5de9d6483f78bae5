"""What the definition of a tool tells of the network: whether it reaches others."""

from collections.abc import Mapping
from typing import Final

from mcpguard.domain.servers.listings import Definition

_NAMES: Final = frozenset({"url", "urls"})
_FORMATS: Final = frozenset({"uri", "url"})
HINT: Final = "says that it reaches others (openWorldHint)"
ADDRESS: Final = "takes a URL"


def reaches_others(definition: Definition) -> str:
    """What in it tells so, in words of ours; empty where nothing does, or it says that it does not."""
    annotations, schema = definition.get("annotations"), definition.get("inputSchema")
    hint = annotations.get("openWorldHint") if isinstance(annotations, Mapping) else None
    if isinstance(hint, bool):
        return HINT if hint else ""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping):
        return ""
    return ADDRESS if any(_is_address(name, each) for name, each in properties.items()) else ""


def _is_address(name: str, schema: object) -> bool:
    return name.lower() in _NAMES or (isinstance(schema, Mapping) and schema.get("format") in _FORMATS)
