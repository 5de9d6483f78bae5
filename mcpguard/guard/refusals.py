"""What whoever called is told of a call that was not simply answered, at every door.

A refusal says what happened, why, and what to do next, in constants of ours; nothing that an upstream or an agent said
is ever put into it, but for the names of properties that lead to a wrong argument (`domain.objections`).
"""

from collections.abc import Iterable
from typing import Any, Final

from mcpguard.codec.findings import titles
from mcpguard.domain.findings import Finding
from mcpguard.domain.outcomes import Executed, Outcome, OutcomeKind
from mcpguard.domain.reasons import Reason
from mcpguard.guard.asked import Told

MOST_FINDINGS: Final = 10


def refusal(told: Told) -> dict[str, Any]:
    """What a client is told of a call that was not simply answered. Of findings it is told our titles alone."""
    outcome = told.outcome
    reason = outcome.reason or Reason.GUARD_ERROR
    said = {
        "status": _status(outcome),
        "executed": outcome.executed.value,
        "reason": reason.value,
        "message": reason.sentence,
        "next": reason.next,
        "call_id": told.call,
    }
    detail = {"detail": told.detail.said} if told.detail.said else {}
    return said | detail | seen(told.findings)


def seen(findings: Iterable[Finding]) -> dict[str, Any]:
    """What an agent is told of findings: our titles, where there are any."""
    found = titles(findings, MOST_FINDINGS)
    return {"findings": found} if found else {}


def _status(outcome: Outcome) -> str:
    if outcome.kind is OutcomeKind.HELD:
        return "held"
    return "refused" if outcome.executed is Executed.NO else "withheld"
