"""The verdict about a call: rules run in order, and the first rule that objects decides.

Rules kept here:
1. A rule is one check (`policy.rules`) that either objects with a reason or does not. No rule can allow what an earlier
   one refused.
2. The scope is checked by names before anything is looked up, so that unknown and out-of-scope names are
   indistinguishable.
3. The rules that ran are recorded, in order.
4. `hold.person` is the last rule: nobody is asked about a call that another rule refuses. `budget.calls` is the one
   before it: a call that is refused for another reason costs no budget.
"""

from collections.abc import Callable
from typing import Final

from mcpguard.domain.calls.objections import NOTHING_MORE, Detail, Objection
from mcpguard.domain.calls.verdicts import ALLOW, Deny, Hold, Verdict
from mcpguard.domain.reasons import Reason
from mcpguard.policy.rules import (
    arguments_schema,
    arguments_secrets,
    arguments_size,
    budget_calls,
    capability_known,
    capability_standing,
    capability_tasks,
    definition_in_force,
    hold_person,
    intent,
    scope_effect,
    scope_name,
    server_reachable,
    server_standing,
)
from mcpguard.policy.situation import Situation

__all__ = ["RULES", "Situation", "judge"]

Rule = Callable[[Situation], Objection | None]

RULES: Final[tuple[tuple[str, Rule], ...]] = (
    ("scope.name", scope_name.objection),
    ("server.standing", server_standing.objection),
    ("capability.known", capability_known.objection),
    ("capability.standing", capability_standing.objection),
    ("scope.effect", scope_effect.objection),
    ("server.reachable", server_reachable.objection),
    ("definition.in_force", definition_in_force.objection),
    ("capability.tasks", capability_tasks.objection),
    ("intent", intent.objection),
    ("arguments.size", arguments_size.objection),
    ("arguments.schema", arguments_schema.objection),
    ("arguments.secrets", arguments_secrets.objection),
    ("budget.calls", budget_calls.objection),
    ("hold.person", hold_person.objection),
)
_NAMES: Final = tuple(name for name, _ in RULES)
_ALLOWED: Final = (ALLOW, _NAMES, NOTHING_MORE)


def judge(situation: Situation) -> tuple[Verdict, tuple[str, ...], Detail]:
    """Return the verdict about a call in this situation, the rules that ran, and the details of the reason."""
    for number, (_, rule) in enumerate(RULES, 1):
        if (objection := rule(situation)) is not None:
            is_held = objection.reason is Reason.HOLD_WAITING
            verdict = Hold(objection.reason) if is_held else Deny(objection.reason)
            return verdict, _NAMES[:number], objection.detail
    return _ALLOWED
