"""A call that waits for a person.

Rules kept here:
1. A move that the table does not list is refused (`IllegalMove`) and changes nothing. Nothing moves to `allowed` but by
   a person's answer.
2. What a person allowed is one call: the same caller, capability, definition and arguments, once, within its time, as
   long as everything that it rests on is as they saw it.
3. The ticket of a hold is the id of the call that it began with.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from mcpguard.domain.capabilities import Capability
from mcpguard.domain.errors import IllegalMove


class HoldState(StrEnum):
    """Where a hold stands."""

    WAITING = "waiting"
    ALLOWED = "allowed"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    CONSUMED = "consumed"


class HoldMove(StrEnum):
    """What can happen to it: a person answers, its time is over, what it rests on is another now, whoever asked has
    gone, the call is made."""

    ALLOW = "allow"
    DENY = "deny"
    EXPIRE = "expire"
    VOID = "void"
    WITHDRAW = "withdraw"
    CONSUME = "consume"


HOLD_MOVES: Final[Mapping[HoldState, Mapping[HoldMove, HoldState]]] = MappingProxyType(
    {
        HoldState.WAITING: MappingProxyType(
            {
                HoldMove.ALLOW: HoldState.ALLOWED,
                HoldMove.DENY: HoldState.DENIED,
                HoldMove.EXPIRE: HoldState.EXPIRED,
                HoldMove.VOID: HoldState.EXPIRED,
                HoldMove.WITHDRAW: HoldState.WITHDRAWN,
            }
        ),
        HoldState.ALLOWED: MappingProxyType(
            {
                HoldMove.DENY: HoldState.DENIED,
                HoldMove.EXPIRE: HoldState.EXPIRED,
                HoldMove.VOID: HoldState.EXPIRED,
                HoldMove.CONSUME: HoldState.CONSUMED,
            }
        ),
        HoldState.DENIED: MappingProxyType({}),
        HoldState.EXPIRED: MappingProxyType({}),
        HoldState.WITHDRAWN: MappingProxyType({}),
        HoldState.CONSUMED: MappingProxyType({}),
    }
)


def moved(state: HoldState, move: HoldMove) -> HoldState:
    """Where `move` leads from `state`; refuses what the table does not list."""
    try:
        return HOLD_MOVES[state][move]
    except KeyError:
        raise IllegalMove(f"a call that is {state} cannot be moved by {move}") from None


@dataclass(frozen=True, slots=True)
class Rests:
    """What stood when the call was held, by generation. `pin` is None for what lies under an approved prefix."""

    upstream: tuple[str, int]
    pin: tuple[str, int] | None


@dataclass(frozen=True, slots=True)
class HeldFacts:
    """What a person who answers is told of the call: facts of ours, and what the agent says, in its own words.

    `because`: the setting that wants a person. `at` is UTC in microseconds.
    """

    at: int
    caller_label: str
    client: str
    face: str
    method: str
    effect: str
    fingerprint: str
    operation: str
    declared: bool
    sensitivity: str
    agent_says: str
    because: str


@dataclass(frozen=True, slots=True)
class HeldCall:
    """One held call. `same`: what two calls have in common that are the same one. `until`: when its time is over.

    `why` and `by`: the person's answer, when there is one.
    """

    id: str
    state: HoldState
    same: bytes
    caller: str
    capability: Capability
    rests: Rests
    until: int
    asking: HeldFacts
    why: str = ""
    by: str = ""
