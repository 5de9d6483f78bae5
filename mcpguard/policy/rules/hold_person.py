"""Holds calls that need an approval and have none. As the last rule, it asks nobody about a call that is refused."""

from mcpguard.domain.calls.holds import HoldState
from mcpguard.domain.calls.objections import Detail, Objection
from mcpguard.domain.reasons import Reason
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    """Return the objection. A denied call is not shown to a reviewer again until its answer expires."""
    if not situation.demand or situation.answer is HoldState.ALLOWED:
        return None
    if situation.answer is HoldState.DENIED:
        return Objection(Reason.HOLD_DENIED, Detail(person=situation.person))
    if situation.answer is None and situation.crowded:
        return Objection(Reason.HOLD_CROWDED)
    return Objection(Reason.HOLD_WAITING)
