"""Answers about people and operators' tokens."""

from typing import Annotated, Literal

from pydantic import Field

from mcpguard.domain.people import Role
from mcpguard.web.api.answers.answer import Answer, Moment, Next


class Person(Answer):
    """Somebody who was let in. `sessions`: how many they have open."""

    id: str
    name: str
    role: Role
    standing: Literal["active", "disabled"]
    sessions: int
    created_at: Moment
    created_by: str


class Users(Answer):
    """Some of them, by name."""

    users: list[Person]
    next: Next


class Session(Answer):
    """Somebody who is signed in, at one browser. `password_at`: when they gave their password; `peer`: from where."""

    id: str
    user: Annotated[str, Field(description="Their name.")]
    created_at: Moment
    used_at: Moment
    password_at: Moment
    peer: str


class Sessions(Answer):
    """Some of them, the oldest first."""

    sessions: list[Session]
    next: Next


class SetupLink(Answer):
    """The link by which the first admin chooses a password; it is told once."""

    url: str
    seconds: int


class Operator(Answer):
    """A token with which a program acts for people."""

    id: str
    name: str
    role: Role
    standing: Literal["active", "expired"]
    created_at: Moment
    created_by: str
    expires_at: Moment | None


class NewOperator(Operator):
    """What is shown of it is told once."""

    token: Annotated[str, Field(description="What the program shows: `Authorization: Bearer mcpo_…`.")]


class RevokedOperator(Operator):
    """One that is worth nothing any more."""

    standing: Literal["revoked"]  # type: ignore[assignment]


class Operators(Answer):
    """Some of them, by name."""

    operators: list[Operator]
    next: Next
