"""Whether the tool can be called without a task. Tasks are not carried, so one that needs them would fail."""

from mcpguard.domain.calls.objections import Objection
from mcpguard.domain.reasons import Reason
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    return Objection(Reason.CAPABILITY_TASKS) if situation.needs_tasks else None
