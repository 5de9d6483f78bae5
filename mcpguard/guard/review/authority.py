"""Checks who may decide about a server, and requires a reason."""

from mcpguard.domain.decisions import WIDENING, Answer, Decision
from mcpguard.guard.people.users import check_reason, require_reason


def check_authority(answer: Answer, decision: Decision) -> None:
    """Raise Forbidden for somebody who may not give this answer, and Undecidable where the reason is missing or too
    long. An inspection needs no reason."""
    if answer in WIDENING:
        decision.by.check_widening()
    check = check_reason if answer is Answer.INSPECT else require_reason
    check(decision)
