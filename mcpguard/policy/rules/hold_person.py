"""Whether a person must allow the call, and has. The last question: nobody is asked about what is refused anyway."""

from mcpguard.domain.calls.holds import HoldState
from mcpguard.domain.calls.objections import Detail, Objection
from mcpguard.domain.reasons import Reason
from mcpguard.policy.situation import Situation


def objection(situation: Situation) -> Objection | None:
    """A call that was denied is not put to a person again while that answer is fresh."""
    if not situation.demand or situation.answer is HoldState.ALLOWED:
        return None
    if situation.answer is HoldState.DENIED:
        return Objection(Reason.HOLD_DENIED, Detail(person=situation.person))
    if situation.answer is None and situation.crowded:
        return Objection(Reason.HOLD_CROWDED)
    return Objection(Reason.HOLD_WAITING)
