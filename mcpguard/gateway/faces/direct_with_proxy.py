"""The direct face with the `proxy` tool beside the servers' own.

Some clients use the protocol's methods and that tool in turn, at one address. Nothing can be reached here that the
direct face does not show.
"""

from typing import Any

from mcpguard.catalog.catalog import Catalog
from mcpguard.codec.names import Separator
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.gateway.faces.direct import DirectFace
from mcpguard.proxy.definition import definition


class DirectFaceWithProxy(DirectFace):
    """The direct face, where the name of the `proxy` tool always means that tool."""

    def __init__(self, separator: Separator, name: str, *, instructs: bool = False) -> None:
        super().__init__(separator, instructs=instructs)
        self.key = f"direct {separator} with the tool"
        self.own: tuple[dict[str, Any], ...] = (definition(name),)
        self._name = name

    def named_capability(self, catalog: Catalog, kind: CapabilityKind, name: str) -> Capability:
        if kind is CapabilityKind.TOOL and name == self._name:
            return Capability("", kind, name)
        return super().named_capability(catalog, kind, name)
