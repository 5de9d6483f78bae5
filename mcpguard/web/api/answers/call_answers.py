"""Answers about calls that a person makes or thinks of."""

from typing import Annotated, Any, Literal

from pydantic import Field

from mcpguard.domain.calls.outcomes import Executed
from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.reasons import Reason
from mcpguard.web.api.answers.answer import ApiAnswer
from mcpguard.web.api.answers.capability_answers import BecauseAnswer, DetailAnswer
from mcpguard.web.api.answers.finding_answers import TitleAnswer


class HitAnswer(ApiAnswer):
    """A tool that was found. `call_with`: the guard face's tool by which an agent calls it."""

    name: Annotated[str, Field(description="As `server:tool`.")]
    server: str
    effect: Effect
    call_with: str
    score: float
    description: Annotated[str, Field(description="The server's own first sentence.")]
    signature: str


class HitsAnswer(ApiAnswer):
    """The best, and of how many."""

    tools: list[HitAnswer]
    total: int
    query: str
    notice: str = ""


class EndedAnswer(ApiAnswer):
    """How a call ended. `call_id` is its entry in the audit log.

    `answered` and `failed`: the server's own `result` or `error`. Otherwise there is a `reason`, with a `message` and
    what to do `next`: `refused` and `held` were not sent, `withheld` was or may have been.
    """

    call_id: str
    status: Literal["answered", "failed", "refused", "held", "withheld"]
    executed: Executed
    result: Annotated[dict[str, Any] | None, Field(description="A server wrote this.")] = None
    error: Annotated[dict[str, Any] | None, Field(description="A server wrote this.")] = None
    reason: Reason | None = None
    message: str = ""
    next: str = ""
    detail: DetailAnswer | None = None
    findings: Annotated[list[TitleAnswer], Field(default_factory=list)]
    analysis: Annotated[
        dict[str, Any] | None, Field(description="What is known of a quarantined server that nobody has inspected.")
    ] = None


class NamedAnswer(ApiAnswer):
    """A caller by its id and its name."""

    id: str
    name: str


class DeclaredAnswer(ApiAnswer):
    """What the call means to do. `declared` false: that is implied by what is called."""

    operation: Effect | None
    declared: bool


class RuleAnswer(ApiAnswer):
    """A rule, and what it says of the call."""

    rule: str
    outcome: Literal["passed", "objected", "not_asked"]


class ForeseenAnswer(ApiAnswer):
    """What would become of a call now."""

    caller: NamedAnswer
    server: str
    kind: CapabilityKind
    name: str
    verdict: Literal["allow", "hold", "deny"]
    effect: Effect | None
    intent: DeclaredAnswer
    reason: BecauseAnswer | None
    rules: list[RuleAnswer]
