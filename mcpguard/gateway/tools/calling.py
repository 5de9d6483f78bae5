"""`call_tool_…`, `call_tool`: from what an agent says to a call of a server's tool."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcpguard.catalog.catalog import Catalog
from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.gateway.tools.arguments import CallToolArguments, UnusableArguments, Variant
from mcpguard.gateway.tools.names import named
from mcpguard.policy.intents import Stated, stated


@dataclass(frozen=True, slots=True)
class WantedCall:
    """A tool of a server, what it is given, and what the agent says of that; None where it says nothing."""

    capability: Capability
    arguments: Mapping[str, Any]
    stated: Stated | None


def by_variant(catalog: Catalog, scope: Scope, variant: Effect, given: Variant) -> WantedCall:
    """Raises UnusableArguments."""
    said = given.model_dump(include={"intent", "intent_data_sensitivity", "intent_reason"}, exclude_none=True)
    tool = named(catalog, scope, CapabilityKind.TOOL, given.name)
    if tool is None:
        raise UnusableArguments("name: a tool is named server:tool, as retrieve_tools gives it")
    return WantedCall(tool, given.own, stated(variant, said))


def by_name(given: CallToolArguments) -> WantedCall:
    """A call that says nothing of what it means to do."""
    return WantedCall(Capability(given.server, CapabilityKind.TOOL, given.tool), given.arguments or {}, None)
