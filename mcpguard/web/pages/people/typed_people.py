"""Fields that forms about users share: the chosen role, and a new password that was typed twice."""

from mcpguard.domain.decisions import Undecidable
from mcpguard.domain.people import Role
from mcpguard.web.forms import SentForm


def role_of(given: SentForm) -> Role:
    """Return the chosen role. Raises Undecidable."""
    if given.one("role") not in {*Role}:
        raise Undecidable("choose a role: viewer, auditor, approver or admin")
    return Role(given.one("role"))


def typed_twice(given: SentForm) -> str:
    """Return the new password, which was typed twice. Raises Undecidable."""
    if given.one("new") != given.one("again"):
        raise Undecidable("the two passwords do not match")
    return given.one("new")
