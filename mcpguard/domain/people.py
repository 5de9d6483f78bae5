"""People, and the programs that act for them: what each role may do.

Rules kept here:
1. A role is a closed set of rights; nobody has a right that their role does not name.
2. Agents are no people. A caller's token gives none of these rights.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Literal


class Right(StrEnum):
    """What may be done."""

    LOOK = "look"
    """See servers, what they offer, what was found in it, how the guard is; search."""
    AUDIT = "audit"
    """See what agents do: the audit log, held calls with their arguments, who the callers are."""
    DECIDE = "decide"
    """Bring servers, inspect them and decide about them, and about held calls."""
    ADMINISTER = "administer"
    """Let callers and people in and out, confirm settings, call tools in the name of a caller."""


class Role(StrEnum):
    """What somebody was let in as."""

    VIEWER = "viewer"
    AUDITOR = "auditor"
    APPROVER = "approver"
    ADMIN = "admin"

    @property
    def rights(self) -> frozenset[Right]:
        return RIGHTS[self]


RIGHTS: Final[Mapping[Role, frozenset[Right]]] = MappingProxyType(
    {
        Role.VIEWER: frozenset({Right.LOOK}),
        Role.AUDITOR: frozenset({Right.LOOK, Right.AUDIT}),
        Role.APPROVER: frozenset({Right.LOOK, Right.AUDIT, Right.DECIDE}),
        Role.ADMIN: frozenset(Right),
    }
)


@dataclass(frozen=True, slots=True)
class Principal:
    """Who sent a request: a person who has signed in, or a program with an operator's token.

    `session`: which of a person's sessions it came in, empty for a token. `recent`: whether their password was given a
    moment ago; never so for a token, which nobody types.
    """

    id: str
    name: str
    role: Role
    kind: Literal["user", "token"]
    session: str = ""
    recent: bool = False

    def may(self, right: Right) -> bool:
        return right in self.role.rights
