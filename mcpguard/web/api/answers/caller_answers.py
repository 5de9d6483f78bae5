"""Answers about callers."""

from typing import Annotated, Literal

from pydantic import Field

from mcpguard.domain.capabilities import Effect
from mcpguard.web.api.answers.answer import ApiAnswer, Moment, Next


class ReachAnswer(ApiAnswer):
    """The scope of a caller: name patterns of servers and tools, and effects."""

    servers: list[str]
    tools: list[str]
    effects: list[Effect]


class AnonymousAnswer(ReachAnswer):
    """The scope of agents on this host that send no token."""

    enabled: bool


class CallerAnswer(ReachAnswer):
    """An agent with a token, or a name in client certificates, and a scope."""

    id: str
    name: str
    standing: Literal["active", "expired"]
    must_declare: bool
    manage: bool
    certificate: Annotated[
        str | None, Field(description="The name in client certificates by which it is known; null if it has a token.")
    ]
    created_at: Moment
    created_by: str
    expires_at: Moment | None
    used_at: Annotated[Moment | None, Field(description="When it was last seen; null if not since the guard started.")]


class NewCallerAnswer(CallerAnswer):
    """A new caller. This is the only answer that has its token."""

    token: Annotated[
        str | None,
        Field(description="The token that the agent sends (`Authorization: Bearer mcpg_…`); null with `certificate`."),
    ]


class RevokedCallerAnswer(CallerAnswer):
    """A caller whose token was revoked."""

    standing: Literal["revoked"]  # type: ignore[assignment]


class CallersAnswer(ApiAnswer):
    """A page of callers, by name, and the scope of agents without a token."""

    anonymous: AnonymousAnswer
    callers: list[CallerAnswer]
    next: Next
