"""Decides which calls are held for approval. One matching phrase of the setting is enough; no phrase exempts a call."""

from collections.abc import Sequence

from mcpguard.codec.demands import Demand
from mcpguard.domain.callers import Caller
from mcpguard.domain.capabilities import Capability, Effect


def matching_demand(demands: Sequence[Demand], caller: Caller, capability: Capability, effect: Effect | None) -> str:
    """Return the first phrase of the setting that holds this call; empty if none does."""
    if effect is None:
        return ""
    return next((each.text for each in demands if each.covers(caller, capability, effect)), "")
