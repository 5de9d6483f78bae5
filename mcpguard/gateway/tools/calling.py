"""`call_tool_…`, `call_tool`: from what an agent says to a call of a server's tool.

Rule kept here: what is beyond a caller's scope helps nobody to be understood. Whether a name means something does not
depend on it, and so tells nothing of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcpguard.catalog.catalog import Catalog
from mcpguard.codec.names import reference
from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.domain.errors import InvalidName
from mcpguard.gateway.tools.given import Call, Unusable, Variant
from mcpguard.policy.intents import Stated, stated
from mcpguard.policy.scopes import within


@dataclass(frozen=True, slots=True)
class Wanted:
    """A tool of a server, what it is given, and what the agent says of that; None where it says nothing."""

    capability: Capability
    arguments: Mapping[str, Any]
    stated: Stated | None


def by_variant(catalog: Catalog, scope: Scope, variant: Effect, given: Variant) -> Wanted:
    """Raises Unusable."""
    said = given.model_dump(include={"intent", "intent_data_sensitivity", "intent_reason"}, exclude_none=True)
    return Wanted(_meant(catalog, scope, given.name), given.own, stated(variant, said))


def by_name(given: Call) -> Wanted:
    """A call that says nothing of what it means to do."""
    return Wanted(Capability(given.server, CapabilityKind.TOOL, given.tool), given.arguments or {}, None)


def _meant(catalog: Catalog, scope: Scope, name: str) -> Capability:
    """`server:tool`; a name as the direct face shows it is understood as well."""
    kind = CapabilityKind.TOOL
    try:
        server, own = reference(name)
    except InvalidName:
        server, own = "", name
    said = Capability(server, kind, own)
    if catalog.find(server, kind, own) is None or not within(scope, said):
        found = [each.capability for each in catalog.qualified(kind, name) if within(scope, each.capability)]
        if len(found) == 1:
            return found[0]
    if not server:
        raise Unusable("name: a tool is named server:tool, as retrieve_tools gives it")
    return said
