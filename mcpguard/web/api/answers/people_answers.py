"""Answers about users and API tokens."""

from typing import Annotated, Literal

from pydantic import Field

from mcpguard.domain.people import Role
from mcpguard.web.api.answers.answer import ApiAnswer, Moment, Next


class PersonAnswer(ApiAnswer):
    """A user. `sessions`: the number of open sessions."""

    id: str
    name: str
    role: Role
    standing: Literal["active", "disabled"]
    sessions: int
    created_at: Moment
    created_by: str


class UsersAnswer(ApiAnswer):
    """A page of users, by name."""

    users: list[PersonAnswer]
    next: Next


class SessionAnswer(ApiAnswer):
    """A session of a user. `password_at`: when the password was entered; `peer`: the address of the browser."""

    id: str
    user: Annotated[str, Field(description="The name of the user.")]
    created_at: Moment
    used_at: Moment
    password_at: Moment
    peer: str


class SessionsAnswer(ApiAnswer):
    """A page of sessions, the oldest first."""

    sessions: list[SessionAnswer]
    next: Next


class SetupLinkAnswer(ApiAnswer):
    """The setup link for the first admin. This is the only answer that has it. `seconds`: how long it is valid."""

    url: str
    seconds: int


class OperatorAnswer(ApiAnswer):
    """An API token of a program."""

    id: str
    name: str
    role: Role
    standing: Literal["active", "expired"]
    created_at: Moment
    created_by: str
    expires_at: Moment | None


class NewOperatorAnswer(OperatorAnswer):
    """A new API token. This is the only answer that has its secret."""

    token: Annotated[str, Field(description="The token that the program sends: `Authorization: Bearer mcpo_…`.")]


class RevokedOperatorAnswer(OperatorAnswer):
    """An API token that was revoked."""

    standing: Literal["revoked"]  # type: ignore[assignment]


class OperatorsAnswer(ApiAnswer):
    """A page of API tokens, by name."""

    operators: list[OperatorAnswer]
    next: Next
