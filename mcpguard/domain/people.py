"""People, and the programs that act for them: what each role may do.

Rules kept here:
1. A role is a closed set of rights; nobody has a right that their role does not name.
2. Agents are no people. A caller's token gives none of these rights.
3. An id and a name are one person's for ever: people are disabled and never removed.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Literal

from mcpguard.domain.decisions import Forbidden, Undecidable
from mcpguard.domain.errors import GuardError

NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


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


@dataclass(frozen=True, slots=True)
class User:
    """A person who may sign in. `password` is a hash and says which one. Times are microseconds in UTC."""

    id: str
    name: str
    role: Role
    password: str = field(repr=False)
    created_at: int
    created_by: str
    disabled: bool = False

    @property
    def administers(self) -> bool:
        """Whether they can let people in and out."""
        return not self.disabled and Right.ADMINISTER in self.role.rights


@dataclass(frozen=True, slots=True)
class Session:
    """A person who is signed in, at one browser. `password_at`: when they gave their password. `peer`: from where."""

    id: str
    user: str
    created_at: int
    used_at: int
    password_at: int
    peer: str

    def at(self, moment: int) -> "Session":
        """The same, used last at that moment."""
        return replace(self, used_at=moment)


@dataclass(frozen=True, slots=True)
class OperatorToken:
    """What a program shows that acts for people. Times are microseconds in UTC; None: until it is revoked."""

    id: str
    name: str
    role: Role
    created_at: int
    created_by: str
    expires_at: int | None = None

    def holds(self, now: int) -> bool:
        """Whether its time is not over."""
        return self.expires_at is None or now < self.expires_at


class UserUnknown(GuardError):
    """There is no such user, session or operator's token."""


class UserTaken(GuardError):
    """The name is, or was, somebody else's."""


class LastAdmin(Undecidable):
    """Nobody could let anybody in any more."""


class SetupOver(Forbidden):
    """The link of the first start is not valid: there is somebody already, it was used, or it is too old."""


class NotProven(GuardError):
    """Whoever wants to sign in has not shown who they are. Says nothing of what was wrong."""


class TooManyTries(GuardError):
    """Somebody has tried too often, here or to be this one. `seconds`: how long to wait."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"there were too many tries; wait {seconds} s")
        self.seconds = seconds
