"""The outcome of a call, and whether it was executed: two values, because after a crash only one of them is known."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from mcpguard.domain.calls.bodies import Body
from mcpguard.domain.reasons import Reason
from mcpguard.domain.screening import ScreeningResult


class OutcomeKind(StrEnum):
    """How a call ended."""

    ANSWERED = "answered"
    FAILED = "failed"
    REFUSED = "refused"
    HELD = "held"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class Executed(StrEnum):
    """Whether the server executed the call."""

    NO = "no"
    YES = "yes"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended, whether it was executed, and the reason where it did not end with the server's reply.

    `screened`: what was found in the reply, if anything.
    """

    kind: OutcomeKind
    executed: Executed
    reason: Reason | None = None
    reply: Body | None = None
    screened: ScreeningResult | None = None

    @classmethod
    def answer(cls, reply: Body | None = None, reason: Reason | None = None) -> Self:
        """The server answered; a reason says why its reply is withheld."""
        return cls(OutcomeKind.ANSWERED, Executed.YES, reason, reply)

    @classmethod
    def failure(cls, reply: Body | None = None, reason: Reason | None = None) -> Self:
        """The server answered with an error of its own."""
        return cls(OutcomeKind.FAILED, Executed.YES, reason, reply)

    @classmethod
    def refusal(cls, reason: Reason) -> Self:
        """Return the outcome of a call that was refused before anything was sent."""
        return cls(OutcomeKind.REFUSED, Executed.NO, reason)

    @classmethod
    def hold(cls, reason: Reason) -> Self:
        """Nothing was sent; a reviewer is asked. The call that is made after the approval is an entry of its own."""
        return cls(OutcomeKind.HELD, Executed.NO, reason)

    @classmethod
    def cancellation(cls, executed: Executed) -> Self:
        """The caller did not wait for the answer."""
        return cls(OutcomeKind.CANCELLED, executed)

    @classmethod
    def unknown(cls, reason: Reason) -> Self:
        """The call was sent, or may have been, and nothing more is known."""
        return cls(OutcomeKind.UNKNOWN, Executed.UNKNOWN, reason)
