"""The verdict on a call.

A `match` over `Verdict` that misses a case does not type-check.
"""

from dataclasses import dataclass
from typing import ClassVar, Final

from mcpguard.domain.reasons import Reason


@dataclass(frozen=True, slots=True)
class Allow:
    """The call may be sent."""

    word: ClassVar[str] = "allow"
    reason: ClassVar[None] = None


ALLOW: Final = Allow()


@dataclass(frozen=True, slots=True)
class Hold:
    """The call is held for approval."""

    word: ClassVar[str] = "hold"
    reason: Reason


@dataclass(frozen=True, slots=True)
class Deny:
    """The call is refused and nothing is sent."""

    word: ClassVar[str] = "deny"
    reason: Reason


Verdict = Allow | Hold | Deny
