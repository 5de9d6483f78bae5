"""Answers about people and operators' tokens."""

from typing import Annotated, Literal

from pydantic import Field

from mcpguard.domain.people import Role
from mcpguard.web.api.answers.answer import ApiAnswer, Moment, Next


class PersonAnswer(ApiAnswer):
    """Somebody who was let in. `sessions`: how many they have open."""

    id: str
    name: str
    role: Role
    standing: Literal["active", "disabled"]
    sessions: int
    created_at: Moment
    created_by: str


class UsersAnswer(ApiAnswer):
    """Some of them, by name."""

    users: list[PersonAnswer]
    next: Next


class SessionAnswer(ApiAnswer):
    """Somebody who is signed in, at one browser. `password_at`: when they gave their password; `peer`: from where."""

    id: str
    user: Annotated[str, Field(description="Their name.")]
    created_at: Moment
    used_at: Moment
    password_at: Moment
    peer: str


class SessionsAnswer(ApiAnswer):
    """Some of them, the oldest first."""

    sessions: list[SessionAnswer]
    next: Next


class SetupLinkAnswer(ApiAnswer):
    """The link by which the first admin chooses a password; it is told once."""

    url: str
    seconds: int


class OperatorAnswer(ApiAnswer):
    """A token with which a program acts for people."""

    id: str
    name: str
    role: Role
    standing: Literal["active", "expired"]
    created_at: Moment
    created_by: str
    expires_at: Moment | None


class NewOperatorAnswer(OperatorAnswer):
    """What is shown of it is told once."""

    token: Annotated[str, Field(description="What the program shows: `Authorization: Bearer mcpo_…`.")]


class RevokedOperatorAnswer(OperatorAnswer):
    """One that is worth nothing any more."""

    standing: Literal["revoked"]  # type: ignore[assignment]


class OperatorsAnswer(ApiAnswer):
    """Some of them, by name."""

    operators: list[OperatorAnswer]
    next: Next
