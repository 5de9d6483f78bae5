"""What a rule objects to: the reason, and what whoever called needs to know to do it right.

Rules kept here: what is told beside a reason is words of ours. Names of properties, which are a server's or an agent's,
are made visible and bounded before they come here; values of arguments never do.
"""

from dataclasses import asdict, dataclass
from typing import Final

from mcpguard.domain.reasons import Reason


@dataclass(frozen=True, slots=True)
class Detail:
    """What is told beside a reason; what is empty is not told.

    `effect`: what the tool does, as a person assigned it, and `caller`: who called, where the two do not go together.
    `call_with`: the variant to use instead. `path`: where in the arguments, and `expected`: what belongs there.
    `secret`: the rule by which something looks like a secret. `budget`: which one is used up. `ticket`: of a call that
    waits for a person, and `until`: when that is over. `person`: what the person says who denied it; a person's words.
    `sandbox`: what its sandbox keeps from a server that ended, where that looks like the cause. `uninspected`: what
    is known of a server that nobody has inspected. `helps`: the command that tells more to whoever runs the guard.
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
    def said(self) -> dict[str, str]:
        """For a program."""
        return {name: value for name, value in asdict(self).items() if value}

    @property
    def sentence(self) -> str:
        """For a model, which reads sentences; empty where there is nothing to say."""
        parts = (
            f"Its effect is {self.effect}." if self.effect else "",
            f"The caller is {self.caller}." if self.caller else "",
            f"Use {self.call_with}." if self.call_with else "",
            f"At {self.path}: expected {self.expected}." if self.expected else "",
            f"It looks like what the rule {self.secret} finds." if self.secret else "",
            f"Used up: {self.budget}." if self.budget else "",
            f"Ticket {self.ticket}." if self.ticket else "",
            f"A person can answer until {self.until}." if self.until else "",
            f'The person says: "{self.person}".' if self.person else "",
            self.sandbox,
            self.uninspected,
            f"Whoever runs mcpguard is told more by `{self.helps}`." if self.helps else "",
        )
        return " ".join(part for part in parts if part)


NOTHING_MORE: Final = Detail()


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a rule objects."""

    reason: Reason
    detail: Detail = NOTHING_MORE
