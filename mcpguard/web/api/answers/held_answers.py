"""Answers about held calls."""

from typing import Annotated, Any, Literal

from pydantic import Field

from mcpguard.domain.calls.calls import Face, Sensitivity
from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.web.api.answers.answer import ApiAnswer, Fingerprint, Moment, Next
from mcpguard.web.api.answers.capability_answers import ChangesAnswer
from mcpguard.web.api.answers.finding_answers import FindingReasonedAnswer
from mcpguard.web.api.answers.program_answers import NamedToolAnswer


class HeldCallerAnswer(ApiAnswer):
    """The caller of a held call."""

    id: str
    name: str


class OfferedAllowanceAnswer(ApiAnswer):
    """Whether the like of a held call can be allowed for some minutes. `open`: the arguments with free text, which may
    differ unless the reviewer says otherwise."""

    why_not: Annotated[str | None, Field(description="Why it cannot; null if it can.")]
    arguments: list[str]
    open: list[str]


class HeldCallAnswer(ApiAnswer):
    """A call that is held for approval. `id`: its ticket, and its first entry in the audit log."""

    id: str
    state: Literal["waiting", "allowed", "denied"]
    at: Moment
    until: Moment
    caller: HeldCallerAnswer
    client: Annotated[str, Field(description="The name that the client gives itself.")]
    face: Face
    method: str
    server: str
    kind: CapabilityKind
    name: str
    effect: Effect
    fingerprint: Fingerprint | None
    operation: Effect
    declared: bool
    sensitivity: Sensitivity
    agent_says: Annotated[str, Field(description="The reason given by the agent. Not verified.")]
    because: Annotated[
        str,
        Field(
            description="The phrase of the setting `holds.calls` by which it is held, or `script`: a script makes the "
            "call, which was not approved for it."
        ),
    ]
    run: Annotated[str | None, Field(description="The run of the program that makes the call; null if none does.")]
    program: Annotated[list[NamedToolAnswer], Field(description="The tools that this program names.")]
    arguments: Annotated[Any, Field(description="The arguments, with secrets masked; null if not kept.")]
    sent: Annotated[Any, Field(description="Everything that the server would get, with secrets masked.")]
    meta: Annotated[Any, Field(description="The `_meta` that the server would get, with secrets masked; null if none.")]
    findings: list[FindingReasonedAnswer]
    by: str | None
    why: str | None
    allowance: OfferedAllowanceAnswer


class RiskClauseAnswer(ApiAnswer):
    """A part of the sentence about a risk. `grave`: it makes the risk high."""

    text: str
    grave: bool


class HoldRiskAnswer(ApiAnswer):
    """The risk of a held call, from what is known of it."""

    level: Literal["low", "medium", "high"]
    clauses: list[RiskClauseAnswer]


class RecentCallAnswer(ApiAnswer):
    """A call that the caller made lately. A text is empty if its record does not have it."""

    call: str
    at: Moment
    verdict: str
    reason: str
    server: str
    name: str
    effect: str


class RecentCallsAnswer(ApiAnswer):
    """The calls of the same caller in the last ten minutes, the newest first. `more`: there may be more."""

    since: Moment
    calls: list[RecentCallAnswer]
    denied: int
    more: bool


class PastAnswerAnswer(ApiAnswer):
    """An answer to an earlier held call of the same capability."""

    ticket: str
    at: Moment
    answer: str
    by: str
    why: str
    caller: HeldCallerAnswer
    same_version: Annotated[bool, Field(description="Whether the approved definition was the same.")]


class PrecedentsAnswer(ApiAnswer):
    """Answers to earlier held calls of the same capability, the newest first. `more`: there may be more."""

    since: Moment
    answers: list[PastAnswerAnswer]
    allowed: Annotated[int, Field(description="How often one was allowed in the same version.")]
    more: bool


class ComparedCallAnswer(ApiAnswer):
    """The last like call that was allowed. `diff`: null where the arguments are not kept any more."""

    ticket: str
    at: Moment
    diff: ChangesAnswer | None


class HoldContextAnswer(ApiAnswer):
    """What helps to answer a held call."""

    risk: HoldRiskAnswer
    recent: RecentCallsAnswer
    precedents: PrecedentsAnswer
    compared: Annotated[ComparedCallAnswer | None, Field(description="Null if no like call was allowed.")]


class HeldCallInContextAnswer(HeldCallAnswer):
    """A held call with what helps to answer it."""

    context: HoldContextAnswer


class AllowanceAnswer(ApiAnswer):
    """An allowance: calls like a held one are let through for some minutes. `same`: the arguments whose values must be
    those of the held call, `open`: those that may differ, by name; `left`: how many more calls."""

    id: str
    ticket: str
    caller: HeldCallerAnswer
    server: str
    name: str
    effect: Effect
    fingerprint: Fingerprint | None
    same: list[str]
    open: list[str]
    left: int
    at: Moment
    until: Moment
    by: str
    why: str


class AllowancesAnswer(ApiAnswer):
    """A page of allowances."""

    allowances: list[AllowanceAnswer]
    next: Next


class HeldCallsAnswer(ApiAnswer):
    """A page of held calls."""

    held: list[HeldCallAnswer]
    next: Next
