"""The status of servers and capabilities, with a table of allowed moves for each.

Rules kept here:
1. A move that the table does not list is refused (`IllegalMove`) and changes nothing.
2. Each move is made either by a reviewer or by the guard. The guard moves nothing towards `approved`, except back to
   exactly the definition that a reviewer had approved (`returned`).
3. Rejecting is not a move: it is a decision that leaves the status unchanged.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Self, TypeVar

from mcpguard.domain.errors import IllegalMove


class UpstreamStanding(StrEnum):
    """The status of a server."""

    QUARANTINED = "quarantined"
    APPROVED = "approved"
    BLOCKED = "blocked"


class CapabilityStanding(StrEnum):
    """The status of a capability."""

    PENDING = "pending"
    APPROVED = "approved"
    CHANGED = "changed"
    BLOCKED = "blocked"


class Mover(StrEnum):
    """Who makes a move."""

    PERSON = "person"
    GUARD = "guard"


class _Move(StrEnum):
    """A change of status: the answer of a reviewer, or something that the guard noticed."""

    by: Mover

    def __new__(cls, value: str, by: Mover) -> Self:
        move = str.__new__(cls, value)
        move._value_ = value
        move.by = by
        return move


class UpstreamMove(_Move):
    """The moves of a server's status."""

    APPROVE = "approve", Mover.PERSON
    BLOCK = "block", Mover.PERSON
    QUARANTINE = "quarantine", Mover.PERSON
    IDENTITY_CHANGED = "identity_changed", Mover.GUARD


class CapabilityMove(_Move):
    """The moves of a capability's status."""

    APPROVE = "approve", Mover.PERSON
    ASSIGN_EFFECT = "assign_effect", Mover.PERSON
    BLOCK = "block", Mover.PERSON
    UNBLOCK = "unblock", Mover.PERSON
    REVOKE = "revoke", Mover.PERSON
    DIFFERS = "differs", Mover.GUARD
    RETURNED = "returned", Mover.GUARD
    IDENTITY_CHANGED = "identity_changed", Mover.GUARD


S = TypeVar("S", UpstreamStanding, CapabilityStanding)
M = TypeVar("M", UpstreamMove, CapabilityMove)
Table = Mapping[S, Mapping[M, S]]


def _table(moves: dict[S, dict[M, S]]) -> Table[S, M]:
    return MappingProxyType({standing: MappingProxyType(allowed) for standing, allowed in moves.items()})


UPSTREAM_MOVES: Table[UpstreamStanding, UpstreamMove] = _table(
    {
        UpstreamStanding.QUARANTINED: {
            UpstreamMove.APPROVE: UpstreamStanding.APPROVED,
            UpstreamMove.BLOCK: UpstreamStanding.BLOCKED,
        },
        UpstreamStanding.APPROVED: {
            UpstreamMove.QUARANTINE: UpstreamStanding.QUARANTINED,
            UpstreamMove.IDENTITY_CHANGED: UpstreamStanding.QUARANTINED,
            UpstreamMove.BLOCK: UpstreamStanding.BLOCKED,
        },
        UpstreamStanding.BLOCKED: {
            UpstreamMove.QUARANTINE: UpstreamStanding.QUARANTINED,
        },
    }
)

CAPABILITY_MOVES: Table[CapabilityStanding, CapabilityMove] = _table(
    {
        CapabilityStanding.PENDING: {
            CapabilityMove.APPROVE: CapabilityStanding.APPROVED,
            CapabilityMove.BLOCK: CapabilityStanding.BLOCKED,
        },
        CapabilityStanding.APPROVED: {
            CapabilityMove.ASSIGN_EFFECT: CapabilityStanding.APPROVED,
            CapabilityMove.DIFFERS: CapabilityStanding.CHANGED,
            CapabilityMove.REVOKE: CapabilityStanding.PENDING,
            CapabilityMove.IDENTITY_CHANGED: CapabilityStanding.PENDING,
            CapabilityMove.BLOCK: CapabilityStanding.BLOCKED,
        },
        CapabilityStanding.CHANGED: {
            CapabilityMove.DIFFERS: CapabilityStanding.CHANGED,
            CapabilityMove.REVOKE: CapabilityStanding.PENDING,
            CapabilityMove.IDENTITY_CHANGED: CapabilityStanding.PENDING,
            CapabilityMove.APPROVE: CapabilityStanding.APPROVED,
            CapabilityMove.RETURNED: CapabilityStanding.APPROVED,
            CapabilityMove.BLOCK: CapabilityStanding.BLOCKED,
        },
        CapabilityStanding.BLOCKED: {
            CapabilityMove.UNBLOCK: CapabilityStanding.PENDING,
        },
    }
)


def standing_after(table: Table[S, M], standing: S, move: M) -> S:
    """Return the status after `move`. Raises IllegalMove for a move that the table does not list."""
    try:
        return table[standing][move]
    except KeyError:
        listed = ", ".join(sorted(table[standing])) or "none"
        raise IllegalMove(f"{move} is not possible while the status is {standing}; possible: {listed}") from None
