"""The declared intent of a call: how it is parsed, and which call_tool variant expresses it.

Rules kept here:
1. Parsing never fails. A malformed intent carries its problem along, so that the call is judged, refused and recorded
   like any other.
2. There are two forms, an object (`intent`) and flat fields (`intent_…`). If both are used, they must agree.
3. If `operation_type` is given, it must match the call_tool variant that was called.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcpguard.domain.calls.calls import Intent, Sensitivity
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.reasons import Reason

LONGEST_REASON: Final = 1000
BY_HARM: Final = (Effect.READ, Effect.WRITE, Effect.DESTRUCTIVE)
"""All effects, from harmless to irreversible."""
_OPERATION: Final = "operation_type"
_SENSITIVITY: Final = "data_sensitivity"
_REASON: Final = "reason"
_FIELDS: Final = frozenset({_OPERATION, _SENSITIVITY, _REASON})


@dataclass(frozen=True, slots=True)
class StatedIntent:
    """The declared intent as far as it could be read, and what is wrong with it, if anything."""

    intent: Intent
    wrong: Reason | None = None


def is_understated(declared: Effect, effect: Effect) -> bool:
    """Tell whether the effect is worse than the declared one."""
    return BY_HARM.index(declared) < BY_HARM.index(effect)


def call_variant(effect: Effect) -> str:
    """Return the call_tool variant that is needed for this effect."""
    return f"call_tool_{effect.value}"


def read_intent(variant: Effect, arguments: Mapping[str, Any]) -> StatedIntent:
    """Return the intent that the arguments of a `call_tool_…` declare."""
    fields, wrong = _fields(arguments)
    sensitivity = _sensitivity(fields.get(_SENSITIVITY))
    reason = fields.get(_REASON, "")
    fits = isinstance(reason, str) and len(reason) <= LONGEST_REASON
    if wrong or sensitivity is None or not fits:
        return StatedIntent(Intent(variant, True, sensitivity or Sensitivity.UNKNOWN), Reason.INTENT_INVALID)
    intent = Intent(variant, True, sensitivity, str(reason))
    match fields.get(_OPERATION, variant.value):
        case variant.value:
            return StatedIntent(intent)
        case str() as other if other in {effect.value for effect in Effect}:
            return StatedIntent(intent, Reason.INTENT_MISMATCH)
        case _:
            return StatedIntent(intent, Reason.INTENT_INVALID)


def _fields(arguments: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """Return the fields of both forms, and whether they are malformed or contradict each other."""
    form = arguments.get("intent", {})
    if not isinstance(form, Mapping) or not form.keys() <= _FIELDS:
        return {}, True
    flat = {name: arguments[f"intent_{name}"] for name in sorted(_FIELDS) if f"intent_{name}" in arguments}
    if any(name in form and form[name] != value for name, value in flat.items()):
        return {}, True
    return {**form, **flat}, False


def _sensitivity(declared: object) -> Sensitivity | None:
    if declared is None:
        return Sensitivity.UNKNOWN
    return Sensitivity(declared) if isinstance(declared, str) and declared in set(Sensitivity) else None
