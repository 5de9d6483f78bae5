"""Whether a person must allow a call. One phrase that fits is enough: phrases only hold, none lets anything pass."""

from collections.abc import Sequence

from mcpguard.codec.demands import Demand
from mcpguard.domain.callers import Caller
from mcpguard.domain.capabilities import Capability, Effect


def demanded(demands: Sequence[Demand], caller: Caller, capability: Capability, effect: Effect | None) -> str:
    """The first phrase that wants a person for this call; empty where none does."""
    if effect is None:
        return ""
    return next((each.text for each in demands if each.covers(caller, capability, effect)), "")
