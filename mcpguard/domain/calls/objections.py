"""Objections of rules: the reason, and the details that a caller needs to correct the call.

Rules kept here: details are written by the guard. Names of properties, which a server or an agent chose, are made
visible and truncated before they are included; values of arguments never are.
"""

from dataclasses import asdict, dataclass
from typing import Final

from mcpguard.domain.reasons import Reason


@dataclass(frozen=True, slots=True)
class Detail:
    """Details beside a reason. An empty field is left out.

    `effect`: the effect of the tool, as a reviewer assigned it; `caller`: who called, where their scope lacks that
    effect. `call_with`: the variant to use instead. `path`: the place in the arguments, `expected`: what belongs there.
    `secret`: the rule that found what looks like a secret. `budget`: the budget that is used up. `ticket`: of a held
    call, and `until`: when it expires. `person`: the reason that the reviewer who denied it wrote. `sandbox`: what the
    sandbox keeps from a server that ended, where that looks like the cause. `uninspected`: what is known of a server
    that was not inspected yet. `helps`: the command that tells an operator more.
    """

    effect: str = ""
    caller: str = ""
    call_with: str = ""
    path: str = ""
    expected: str = ""
    secret: str = ""
    budget: str = ""
    ticket: str = ""
    until: str = ""
    person: str = ""
    sandbox: str = ""
    uninspected: str = ""
    helps: str = ""

    @property
    def fields(self) -> dict[str, str]:
        """The fields that are not empty, by name, for a program."""
        return {name: value for name, value in asdict(self).items() if value}

    @property
    def sentence(self) -> str:
        """The details as sentences, for a model; empty where there are none."""
        parts = (
            f"{self._effect}." if self.effect else "",
            f"Caller: {self.caller}." if self.caller and not self.effect else "",
            f"Use {self.call_with}." if self.call_with else "",
            f"At {self.path}: expected {self.expected}." if self.expected else "",
            f"Found by the rule {self.secret}." if self.secret else "",
            f"Used up: {self.budget}." if self.budget else "",
            f"Ticket: {self.ticket}." if self.ticket else "",
            f"Expires at {self.until}." if self.until else "",
            f'Reviewer: "{self.person}".' if self.person else "",
            self.sandbox,
            self.uninspected,
            f"Operators: `{self.helps}` tells more." if self.helps else "",
        )
        return " ".join(part for part in parts if part)

    @property
    def _effect(self) -> str:
        who = self.caller
        return f"{who} may not make {self.effect} calls" if who else f"The tool's effect is {self.effect}"


NOTHING_MORE: Final = Detail()


@dataclass(frozen=True, slots=True)
class Objection:
    """The reason for which a rule objects to a call, with details."""

    reason: Reason
    detail: Detail = NOTHING_MORE
