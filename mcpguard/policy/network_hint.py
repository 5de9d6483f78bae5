"""Whether the definition of a tool indicates that it uses the network."""

from collections.abc import Mapping
from typing import Final

from mcpguard.domain.servers.listings import Definition

_NAMES: Final = frozenset({"url", "urls"})
_FORMATS: Final = frozenset({"uri", "url"})
HINT: Final = "declares network access (openWorldHint)"
ADDRESS: Final = "takes a URL"


def network_hint(definition: Definition) -> str:
    """Return what indicates network access, in words of ours; empty if nothing does, or the tool declares none."""
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
