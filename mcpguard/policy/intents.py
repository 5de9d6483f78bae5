"""What an agent says it means to do: how that is read, and which variant says it.

Rules kept here:
1. Reading never fails. What is wrong with a statement goes along with it, so that the call is judged, refused and
   recorded like any other.
2. There are two forms, an object (`intent`) and flat fields (`intent_…`). What both say must be the same.
3. The variant that was called is one key, `operation_type` the other: where it is given, the two are equal.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcpguard.domain.calls.calls import Intent, Sensitivity
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.reasons import Reason

LONGEST_REASON: Final = 1000
BY_HARM: Final = (Effect.READ, Effect.WRITE, Effect.DESTRUCTIVE)
"""From harmless to irreversible."""
_OPERATION: Final = "operation_type"
_SENSITIVITY: Final = "data_sensitivity"
_REASON: Final = "reason"
_FIELDS: Final = frozenset({_OPERATION, _SENSITIVITY, _REASON})


@dataclass(frozen=True, slots=True)
class Stated:
    """What was declared, as far as it could be read, and what is wrong with it, if anything is."""

    intent: Intent
    wrong: Reason | None = None


def understates(declared: Effect, effect: Effect) -> bool:
    """Whether more would happen than was declared."""
    return BY_HARM.index(declared) < BY_HARM.index(effect)


def call_with(effect: Effect) -> str:
    """The least variant that is accepted for something with this effect."""
    return f"call_tool_{effect.value}"


def stated(variant: Effect, given: Mapping[str, Any]) -> Stated:
    """What the arguments of a `call_tool_…` declare."""
    said, wrong = _said(given)
    sensitivity = _sensitivity(said.get(_SENSITIVITY))
    reason = said.get(_REASON, "")
    fits = isinstance(reason, str) and len(reason) <= LONGEST_REASON
    if wrong or sensitivity is None or not fits:
        return Stated(Intent(variant, True, sensitivity or Sensitivity.UNKNOWN), Reason.INTENT_INVALID)
    intent = Intent(variant, True, sensitivity, str(reason))
    match said.get(_OPERATION, variant.value):
        case variant.value:
            return Stated(intent)
        case str() as other if other in {effect.value for effect in Effect}:
            return Stated(intent, Reason.INTENT_MISMATCH)
        case _:
            return Stated(intent, Reason.INTENT_INVALID)


def _said(given: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """The fields of both forms together, and whether they have another form or contradict each other."""
    form = given.get("intent", {})
    if not isinstance(form, Mapping) or not form.keys() <= _FIELDS:
        return {}, True
    flat = {name: given[f"intent_{name}"] for name in sorted(_FIELDS) if f"intent_{name}" in given}
    if any(name in form and form[name] != value for name, value in flat.items()):
        return {}, True
    return {**form, **flat}, False


def _sensitivity(said: object) -> Sensitivity | None:
    if said is None:
        return Sensitivity.UNKNOWN
    return Sensitivity(said) if isinstance(said, str) and said in set(Sensitivity) else None
