"""Answers about callers."""

from typing import Annotated, Literal

from pydantic import Field

from mcpguard.domain.capabilities import Effect
from mcpguard.web.api.answers.answer import ApiAnswer, Moment, Next


class ReachAnswer(ApiAnswer):
    """How far a caller may reach: name patterns, and effects."""

    servers: list[str]
    tools: list[str]
    effects: list[Effect]


class AnonymousAnswer(ReachAnswer):
    """What agents on this machine may do that show no token."""

    enabled: bool


class CallerAnswer(ReachAnswer):
    """An agent that was let in."""

    id: str
    name: str
    standing: Literal["active", "expired"]
    must_declare: bool
    manage: bool
    created_at: Moment
    created_by: str
    expires_at: Moment | None
    used_at: Annotated[Moment | None, Field(description="When it came last; null: not since the guard started.")]


class NewCallerAnswer(CallerAnswer):
    """The token is told once."""

    token: Annotated[str, Field(description="What the agent shows: `Authorization: Bearer mcpg_…`.")]


class RevokedCallerAnswer(CallerAnswer):
    """A caller that is none any more."""

    standing: Literal["revoked"]  # type: ignore[assignment]


class CallersAnswer(ApiAnswer):
    """Some of the callers, by name, and whoever shows no token."""

    anonymous: AnonymousAnswer
    callers: list[CallerAnswer]
    next: Next
