"""Calls that are held for approval.

Rules kept here:
1. A move that the table does not list is refused (`IllegalMove`) and changes nothing. Only a reviewer's answer moves a
   hold to `allowed`.
2. An approval is for one call: the same caller, capability, definition and arguments, once, until it expires, and only
   while everything that it is based on is as the reviewer saw it.
3. The ticket of a held call is the id of the call that was held first.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from mcpguard.domain.capabilities import Capability
from mcpguard.domain.errors import IllegalMove
from mcpguard.domain.scripts import NamedTool


class HoldState(StrEnum):
    """The status of a held call."""

    WAITING = "waiting"
    ALLOWED = "allowed"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    CONSUMED = "consumed"


class HoldMove(StrEnum):
    """What can happen to a held call: a reviewer answers, it expires, what it rests on changes (`void`), the caller
    leaves (`withdraw`), the approved call is made (`consume`)."""

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


def state_after(state: HoldState, move: HoldMove) -> HoldState:
    """Return the state after `move`. Raises IllegalMove for a move that the table does not list."""
    try:
        return HOLD_MOVES[state][move]
    except KeyError:
        raise IllegalMove(f"the held call is {state}; {move} is not possible any more") from None


@dataclass(frozen=True, slots=True)
class HoldBasis:
    """The generations of the server and of the pin when the call was held; `pin` is None under an approved prefix."""

    upstream: tuple[str, int]
    pin: tuple[str, int] | None


@dataclass(frozen=True, slots=True)
class HeldFacts:
    """What a reviewer is shown of a held call: facts that mcpguard knows, and what the agent says in its own words.

    `because`: the phrase of the setting that holds the call. `at` is UTC in microseconds. `run`: the run of the program
    that makes the call, if one does; `program`: the tools that this program names, with their effects at that time.
    `arguments`: keyed digests of the arguments of a tool's call, by name; None where they cannot be told apart;
    `free_texts`: those that are probably free text; `rest`: the digest of everything else that is sent.
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
    run: str = ""
    program: tuple[NamedTool, ...] = ()
    arguments: Mapping[str, str] | None = None
    rest: str = ""
    free_texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HeldCall:
    """One held call. `same`: a digest that is equal for two requests that are the same call. `until`: when it expires.

    `why` and `by`: the reason of the reviewer who answered, and who they are.
    """

    id: str
    state: HoldState
    same: bytes
    caller: str
    capability: Capability
    rests: HoldBasis
    until: int
    asking: HeldFacts
    why: str = ""
    by: str = ""
