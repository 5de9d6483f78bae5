"""Refuses tools that can only be called as a task. mcpguard does not support tasks, so such a call would fail."""

from mcpguard.domain.calls.objections import Objection
from mcpguard.domain.reasons import Reason
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    return Objection(Reason.CAPABILITY_TASKS) if situation.needs_tasks else None
