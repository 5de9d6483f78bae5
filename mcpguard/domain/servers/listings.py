"""Listings: everything that a server announces as its offer, unchanged."""

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
"""The key under which a definition has its name."""
INSTRUCTIONS: Final = "instructions"
"""The name of the instructions of a server; there is only one of this kind."""
Definition = Mapping[str, Any]
"""The raw object of one tool, resource, template or prompt, with all its keys."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The complete listing of one connection."""

    tools: tuple[Definition, ...] = ()
    resources: tuple[Definition, ...] = ()
    templates: tuple[Definition, ...] = ()
    prompts: tuple[Definition, ...] = ()
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    server: Mapping[str, Any] = field(default_factory=dict)
    instructions: str | None = None
    artifact: str | None = None
    """The digest of the program that ran, where it is known."""
    ttl: float | None = None
    """Seconds for which the server says the listing is valid; the shortest of all its lists."""

    def of_kind(self, kind: CapabilityKind) -> tuple[Definition, ...]:
        """Return the definitions of one kind; none for instructions."""
        return {
            CapabilityKind.TOOL: self.tools,
            CapabilityKind.RESOURCE: self.resources,
            CapabilityKind.TEMPLATE: self.templates,
            CapabilityKind.PROMPT: self.prompts,
        }.get(kind, ())
