"""Users, the programs that act for them, and the rights of each role.

Rules kept here:
1. A role is a closed set of rights; a user has only the rights that their role names.
2. Agents are not users. A caller's token gives none of these rights.
3. An id and a name belong to one user permanently: users are disabled and never removed.
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
    """The rights on pages and the API."""

    LOOK = "look"
    """See servers, capabilities, findings and the state of the guard; search."""
    AUDIT = "audit"
    """See what agents do: the audit log, held calls with their arguments, and the callers."""
    DECIDE = "decide"
    """Add and inspect servers; decide about servers, capabilities and held calls."""
    ADMINISTER = "administer"
    """Manage callers and users, confirm settings, call tools in the name of a caller."""


class Role(StrEnum):
    """The roles of users and of operator's tokens."""

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
    """Who sent a request: a user who has signed in, or a program with an operator's token.

    `session`: the user's session, empty for a token. `recent`: whether the user gave their password a short time ago;
    never true for a token.
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
    """A person who may sign in. `password` is a hash that names its algorithm. Times are microseconds in UTC."""

    id: str
    name: str
    role: Role
    password: str = field(repr=False)
    created_at: int
    created_by: str
    disabled: bool = False

    @property
    def administers(self) -> bool:
        """Whether they can manage users."""
        return not self.disabled and Right.ADMINISTER in self.role.rights


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in user in one browser. `password_at`: when they gave their password. `peer`: the client's address."""

    id: str
    user: str
    created_at: int
    used_at: int
    password_at: int
    peer: str

    def with_last_use(self, moment: int) -> "Session":
        """Return the session with `moment` as the time of its last use."""
        return replace(self, used_at=moment)


@dataclass(frozen=True, slots=True)
class OperatorToken:
    """The token of a program that acts for users. Times are microseconds in UTC; None: valid until revoked."""

    id: str
    name: str
    role: Role
    created_at: int
    created_by: str
    expires_at: int | None = None

    def holds(self, now: int) -> bool:
        """Tell whether it has not expired."""
        return self.expires_at is None or now < self.expires_at


class UserUnknown(GuardError):
    """The user, session or operator's token does not exist."""


class UserTaken(GuardError):
    """The name belongs, or belonged, to another user."""


class LastAdmin(Undecidable):
    """The change would leave no admin."""


class SetupOver(Forbidden):
    """The setup link is not valid: a user exists already, or the link was used or has expired."""


class NotProven(GuardError):
    """The sign-in failed. The message does not say whether the name or the password was wrong."""


class TooManyTries(GuardError):
    """There were too many failed sign-ins from this address or for this user. `seconds`: how long to wait."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"too many failed attempts; wait {seconds} s")
        self.seconds = seconds
