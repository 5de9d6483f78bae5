"""Which effect a tool has."""

from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.listings import Definition


def assumed(kind: CapabilityKind, definition: Definition) -> Effect:
    """The effect of what nobody has reviewed yet: what is not said to be harmless is taken for the worst."""
    if kind is not CapabilityKind.TOOL:
        return Effect.READ
    match definition.get("annotations"):
        case {"readOnlyHint": True}:
            return Effect.READ
        case _:
            return Effect.DESTRUCTIVE
