"""What a person has chosen of a server, as it is carried out.

Rules kept here:
1. Only what is listed, can be read and is not blocked can be chosen.
2. A tool whose effect nobody named gets the most careful of what its server declares and what we suggest, and that is
   recorded as the decision of whoever approved it. One that is approved as it is keeps the effect that it has.
"""

from collections.abc import Mapping

from mcpguard.domain.capabilities import CapabilityKind, Effect, Fingerprint
from mcpguard.domain.decisions import Approval, Key, Undecidable, Unknown
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import CapabilityStanding
from mcpguard.guard.review.staleness import MOST_NAMED
from mcpguard.guard.servers.registry import ServerState
from mcpguard.guard.servers.tool_effects import ToolEffects


def chosen(known: ServerState, approval: Approval) -> frozenset[Key]:
    """Raises Undecidable."""
    approvable = {
        key
        for key, pin in known.pins.items()
        if pin.present and pin.listed is not None and pin.standing is not CapabilityStanding.BLOCKED
    }
    only = approvable - approval.left_out if approval.only is None else approval.only
    if contradictory := sorted((approval.left_out & only) | (approval.left_out - known.pins.keys())):
        kind, name = contradictory[0]
        raise Undecidable(f"{kind}:{name} cannot be left out: it is approved with the same answer, or is not there")
    if wrong := sorted(only - approvable):
        named = ", ".join(f"{kind}:{name}" for kind, name in wrong[:MOST_NAMED])
        raise Undecidable(f"{known.name} has nothing to approve as {named}: it is not listed, not readable, or blocked")
    tools = {name for kind, name in only if kind is CapabilityKind.TOOL}
    if strange := sorted(approval.effects.keys() - tools):
        raise Undecidable(f"an effect is given for what is no tool that is approved: {', '.join(strange[:MOST_NAMED])}")
    return frozenset(only)


def effect_of(pin: Pin, given: Mapping[str, Effect], told: Mapping[Fingerprint, ToolEffects]) -> tuple[Effect, bool]:
    """And whether a person named it. Raises Undecidable."""
    if pin.kind is not CapabilityKind.TOOL:
        if pin.name in given and given[pin.name] is not Effect.READ:
            raise Undecidable(f"only tools have effects; a {pin.kind} is read")
        return Effect.READ, False
    if pin.name in given:
        return given[pin.name], True
    if pin.callable and pin.effect is not None:
        return pin.effect, False
    said = told.get(pin.listed) if pin.listed else None
    return (said.careful if said else Effect.DESTRUCTIVE), False


def pin_of(known: ServerState, key: Key) -> Pin:
    """Raises Unknown."""
    pin = known.pins.get(key)
    if pin is None:
        raise Unknown(f"{known.name} has no {key[0]} {key[1]}; mcpguard tool list {known.name} shows what it has")
    return pin
