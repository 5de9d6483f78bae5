"""Allowances: a reviewer allows a held call and its like for some minutes.

Rules kept here:
1. An allowance covers the calls of one caller, of one tool in the generation that the reviewer saw, with the same names
   of arguments and the same values of all that the reviewer did not leave open.
2. It ends with its time, with its last call, with any change of the tool, with its caller, or when it is revoked.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from mcpguard.domain.calls.holds import HoldBasis
from mcpguard.domain.capabilities import Capability

MOST_CALLS: Final = 20
"""Calls that one allowance lets through, the held one included."""
LONGEST_MINUTES: Final = 10
FREE_TEXT: Final = 40
"""Characters from which on a text is probably free text, and left open unless a reviewer says otherwise."""


class AllowanceEnd(StrEnum):
    """Why an allowance ended: its time, its last call, a change of the tool or its server, its caller, a reviewer, or a
    store that had another state than the guard."""

    EXPIRED = "expired"
    USED_UP = "used_up"
    CHANGED = "changed"
    CALLER = "caller"
    REVOKED = "revoked"
    STORE = "store"


@dataclass(frozen=True, slots=True)
class CallParts:
    """Keyed digests of the arguments of a call by name, and of everything else that it sends. No values are in them."""

    arguments: Mapping[str, str] = field(default_factory=dict)
    rest: str = ""


@dataclass(frozen=True, slots=True)
class Allowance:
    """An allowance. `ticket`: of the held call that it was given for; `same`: what its calls must have, by digest;
    `open`: the names of the arguments whose values may differ; `left`: how many more calls it lets through.
    """

    id: str
    ticket: str
    caller: str
    caller_label: str
    capability: Capability
    rests: HoldBasis
    fingerprint: str
    effect: str
    same: CallParts
    open: tuple[str, ...]
    until: int
    left: int
    at: int
    by: str
    why: str

    def covers(self, parts: CallParts) -> bool:
        """Tell whether a call with these parts is like the one that was allowed."""
        same = self.same.arguments
        return (
            parts.rest == self.same.rest
            and parts.arguments.keys() == {*same, *self.open}
            and all(parts.arguments[name] == digest for name, digest in same.items())
        )
