"""`call_tool_…` and `call_tool`: turns what an agent says into a call of a server's tool."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcpguard.catalog.catalog import Catalog
from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.gateway.tools.arguments import CallToolArguments, UnusableArguments, VariantArguments
from mcpguard.gateway.tools.names import find_named
from mcpguard.policy.intents import StatedIntent, read_intent


@dataclass(frozen=True, slots=True)
class WantedCall:
    """The tool to call, its arguments, and the intent that the agent declares; None where it declares none."""

    capability: Capability
    arguments: Mapping[str, Any]
    stated: StatedIntent | None


def by_variant(catalog: Catalog, scope: Scope, variant: Effect, given: VariantArguments) -> WantedCall:
    """Read a call with a declared intent. Raises UnusableArguments."""
    said = given.model_dump(include={"intent", "intent_data_sensitivity", "intent_reason"}, exclude_none=True)
    tool = find_named(catalog, scope, CapabilityKind.TOOL, given.name)
    if tool is None:
        raise UnusableArguments("name: a tool is named server:tool, as retrieve_tools gives it")
    return WantedCall(tool, given.own, read_intent(variant, said))


def by_name(given: CallToolArguments) -> WantedCall:
    """Read a call without a declared intent."""
    return WantedCall(Capability(given.server, CapabilityKind.TOOL, given.tool), given.arguments or {}, None)
