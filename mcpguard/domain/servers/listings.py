"""What a server says that it offers, as it said it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from mcpguard.domain.capabilities import CapabilityKind

KEYS: Final[Mapping[CapabilityKind, str]] = MappingProxyType(
    {
        CapabilityKind.TOOL: "name",
        CapabilityKind.RESOURCE: "uri",
        CapabilityKind.TEMPLATE: "uriTemplate",
        CapabilityKind.PROMPT: "name",
    }
)
"""The key of a definition that names it."""
INSTRUCTIONS: Final = "instructions"
"""The name of a server's instructions, of which there is one."""
Definition = Mapping[str, Any]
"""One tool, resource, template or prompt: the raw object, every key of it."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Everything that one connection listed, whole."""

    tools: tuple[Definition, ...] = ()
    resources: tuple[Definition, ...] = ()
    templates: tuple[Definition, ...] = ()
    prompts: tuple[Definition, ...] = ()
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    server: Mapping[str, Any] = field(default_factory=dict)
    instructions: str | None = None
    artifact: str | None = None
    """What ran, where it can be told."""
    ttl: float | None = None
    """Seconds for which the server says that it stays as it is; the shortest that any of its lists says."""

    def of(self, kind: CapabilityKind) -> tuple[Definition, ...]:
        """The definitions of one kind; instructions have none."""
        return {
            CapabilityKind.TOOL: self.tools,
            CapabilityKind.RESOURCE: self.resources,
            CapabilityKind.TEMPLATE: self.templates,
            CapabilityKind.PROMPT: self.prompts,
        }.get(kind, ())
