"""How a call ended, and whether anything was executed. The two are said apart because they differ in a crash."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from mcpguard.domain.calls.bodies import Body
from mcpguard.domain.reasons import Reason
from mcpguard.domain.screening import Screened


class OutcomeKind(StrEnum):
    """How a call ended."""

    ANSWERED = "answered"
    FAILED = "failed"
    REFUSED = "refused"
    HELD = "held"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class Executed(StrEnum):
    """Whether the upstream did anything."""

    NO = "no"
    YES = "yes"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended, whether anything was executed, and why it was not simply answered.

    `screened`: what was found in what the server said, if anything.
    """

    kind: OutcomeKind
    executed: Executed
    reason: Reason | None = None
    reply: Body | None = None
    screened: Screened | None = None

    @classmethod
    def answered(cls, reply: Body | None = None, reason: Reason | None = None) -> Self:
        """The upstream answered; a reason says why its reply is withheld."""
        return cls(OutcomeKind.ANSWERED, Executed.YES, reason, reply)

    @classmethod
    def failed(cls, reply: Body | None = None, reason: Reason | None = None) -> Self:
        """The upstream answered with an error of its own."""
        return cls(OutcomeKind.FAILED, Executed.YES, reason, reply)

    @classmethod
    def refused(cls, reason: Reason) -> Self:
        """Nothing was sent."""
        return cls(OutcomeKind.REFUSED, Executed.NO, reason)

    @classmethod
    def held(cls, reason: Reason) -> Self:
        """Nothing was sent; a person is asked, and the repeat of the call is an entry of its own."""
        return cls(OutcomeKind.HELD, Executed.NO, reason)

    @classmethod
    def cancelled(cls, executed: Executed) -> Self:
        """Whoever called did not wait for the answer."""
        return cls(OutcomeKind.CANCELLED, executed)

    @classmethod
    def unknown(cls, reason: Reason) -> Self:
        """It was sent, or may have been, and nothing more is known."""
        return cls(OutcomeKind.UNKNOWN, Executed.UNKNOWN, reason)
