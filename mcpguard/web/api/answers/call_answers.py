"""Answers about calls that a user makes or tests."""

from typing import Annotated, Any, Literal

from pydantic import Field

from mcpguard.catalog.search.fields import ToolPart
from mcpguard.catalog.search.ranking import MatchKind
from mcpguard.domain.calls.outcomes import Executed
from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.reasons import Reason
from mcpguard.web.api.answers.answer import ApiAnswer
from mcpguard.web.api.answers.capability_answers import BecauseAnswer, DetailAnswer
from mcpguard.web.api.answers.finding_answers import TitleAnswer


class MatchedWordAnswer(ApiAnswer):
    """A word of the query that counts for a tool. `word`: as the tool has it; `points`: of the tool's score."""

    asked: str
    word: Annotated[str, Field(description="Untrusted: a word of the server's text, or its stem.")]
    match: Annotated[MatchKind, Field(description="How the word that was asked for led to the tool's.")]
    parts: Annotated[list[ToolPart], Field(description="The parts of the tool that have the word.")]
    points: float
    sentence: str


class MatchExplanationAnswer(ApiAnswer):
    """Why a tool is found. The points of its words, `by_meaning` and `raised` add up to its score, each rounded.

    `by_meaning`: what it gains or loses where tools are ranked by meaning too. `name_said`: its name is the query, or
    is said in it, so it comes before others. `repeats`: tools that it comes after, as it says the same and they were
    approved earlier. `raised`: points for its place, as its name is said or a later tool repeats it. `sentence`: all
    of it.
    """

    words: list[MatchedWordAnswer]
    by_meaning: float
    name_said: bool
    repeats: Annotated[list[str], Field(description="As `server:tool`.")]
    raised: float
    sentence: str


class HitAnswer(ApiAnswer):
    """A tool in the search results. `call_with`: the tool of the guard face with which an agent calls it."""

    name: Annotated[str, Field(description="As `server:tool`.")]
    server: str
    effect: Effect
    call_with: str
    score: float
    description: Annotated[str, Field(description="The server's own first sentence.")]
    signature: str
    why: MatchExplanationAnswer | None = None


class HitsAnswer(ApiAnswer):
    """The best matches. `total`: how many tools were searched; `unmatched`: the words that none of these has, where
    matches are explained.
    """

    tools: list[HitAnswer]
    total: int
    query: str
    notice: str = ""
    unmatched: Annotated[list[str], Field(default_factory=list)]


class EndedAnswer(ApiAnswer):
    """How a call ended. `call_id`: its entry in the audit log.

    With the status `answered` or `failed`, `result` or `error` is the server's own. Otherwise there is a `reason`, with
    a `message` and the `next` step: `refused` and `held` calls were not sent; `withheld` ones were, or may have been.
    """

    call_id: str
    status: Literal["answered", "failed", "refused", "held", "withheld"]
    executed: Executed
    result: Annotated[dict[str, Any] | None, Field(description="Untrusted: written by the server.")] = None
    error: Annotated[dict[str, Any] | None, Field(description="Untrusted: written by the server.")] = None
    reason: Reason | None = None
    message: str = ""
    next: str = ""
    detail: DetailAnswer | None = None
    findings: Annotated[list[TitleAnswer], Field(default_factory=list)]
    analysis: Annotated[
        dict[str, Any] | None, Field(description="What is known about a quarantined server that was not inspected.")
    ] = None


class NamedAnswer(ApiAnswer):
    """A caller by id and name."""

    id: str
    name: str


class DeclaredAnswer(ApiAnswer):
    """The intent of a call. `declared`: false if the effect is implied by the tool."""

    operation: Effect | None
    declared: bool


class RuleAnswer(ApiAnswer):
    """A rule and its outcome for the call."""

    rule: str
    outcome: Literal["passed", "objected", "not_asked"]


class ForeseenAnswer(ApiAnswer):
    """The verdict that a call would get now."""

    caller: NamedAnswer
    server: str
    kind: CapabilityKind
    name: str
    verdict: Literal["allow", "hold", "deny"]
    effect: Effect | None
    intent: DeclaredAnswer
    reason: BecauseAnswer | None
    rules: list[RuleAnswer]
