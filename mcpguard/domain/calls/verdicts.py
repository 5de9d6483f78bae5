"""The verdict on a call.

A `match` over `Verdict` that misses a case does not type-check.
"""

from dataclasses import dataclass
from typing import Final

from mcpguard.domain.reasons import Reason


@dataclass(frozen=True, slots=True)
class Allow:
    """The call may be sent."""


ALLOW: Final = Allow()


@dataclass(frozen=True, slots=True)
class Hold:
    """The call is held for approval."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Deny:
    """The call is refused and nothing is sent."""

    reason: Reason


Verdict = Allow | Hold | Deny
