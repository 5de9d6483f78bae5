"""What whoever called is told of a call that was not simply answered, at every door.

A refusal says what happened, why, and what to do next, in constants of ours; nothing that an upstream or an agent said
is ever put into it, but for the names of properties that lead to a wrong argument (`domain.objections`).
"""

from typing import Any, Final

from mcpguard.codec.findings import titles
from mcpguard.domain.outcomes import Executed, Outcome, OutcomeKind
from mcpguard.domain.reasons import Reason
from mcpguard.guard.asked import Told

MOST_FINDINGS: Final = 10


def refusal(told: Told) -> dict[str, Any]:
    """What a client is told of a call that was not simply answered. Of findings it is told our titles alone."""
    outcome, found = told.outcome, titles(told.findings, MOST_FINDINGS)
    reason = outcome.reason or Reason.GUARD_ERROR
    said = {
        "status": _status(outcome),
        "executed": outcome.executed.value,
        "reason": reason.value,
        "message": reason.sentence,
        "next": reason.next,
        "call_id": told.call,
    }
    more = {"detail": told.detail.said, "findings": found}
    return said | {name: value for name, value in more.items() if value}


def _status(outcome: Outcome) -> str:
    if outcome.kind is OutcomeKind.HELD:
        return "held"
    return "refused" if outcome.executed is Executed.NO else "withheld"
