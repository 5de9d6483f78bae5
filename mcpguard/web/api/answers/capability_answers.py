"""Answers about one capability."""

from typing import Annotated, Any, Literal

from pydantic import Field

from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.standing import CapabilityStanding
from mcpguard.inspection.diff.shown_values import ShownChange
from mcpguard.web.api.answers.answer import ApiAnswer, Fingerprint, Moment
from mcpguard.web.api.answers.finding_answers import FindingAnswer, FindingShownAnswer


class CapabilityListedAnswer(ApiAnswer):
    """A capability as it stands. `fingerprint` is of what is listed now."""

    kind: CapabilityKind
    name: Annotated[str, Field(description="Its server chose this.")]
    standing: CapabilityStanding
    present: bool
    waits: bool
    callable: bool
    fingerprint: Fingerprint | None
    approved: Fingerprint | None
    declared: Effect | None
    suggested: Effect | None
    because: str | None
    needs_tasks: Annotated[
        bool, Field(description="Whether it can only be called as a task; then every call of it is refused.")
    ]
    assigned: Effect | None
    risk: int
    flagged: bool
    unread: Annotated[
        list[str],
        Field(description="Where it is approved: the rules of its grave findings that nobody confirmed reading."),
    ]
    findings: list[FindingAnswer]


class VersionAnswer(ApiAnswer):
    """A definition that was seen of it."""

    fingerprint: Fingerprint
    first_seen: Moment
    last_seen: Moment | None
    bytes: int
    risk: int
    findings: list[FindingAnswer]


class CapabilityAnswer(CapabilityListedAnswer):
    """Everything about one. `definition` is what the server wrote, null where it is too long to be shown whole."""

    findings: list[FindingShownAnswer]  # type: ignore[assignment]
    server: str
    definition: Any
    complete: bool
    shown: Annotated[str, Field(description="The definition as text, hidden characters made visible, and cut.")]
    versions: list[VersionAnswer]


class FindingsDifferAnswer(ApiAnswer):
    """What one version has and the other has not."""

    new: list[FindingAnswer]
    gone: list[FindingAnswer]


class DifferenceAnswer(ApiAnswer):
    """How two versions of a definition differ."""

    server: str
    kind: CapabilityKind
    name: str
    before: Fingerprint
    after: Fingerprint
    changes: list[ShownChange]
    complete: bool
    left_out: list[str]
    text: str
    findings: FindingsDifferAnswer


class DetailAnswer(ApiAnswer):
    """What is told beside a reason; what is empty is left out (docs/reasons.md)."""

    effect: str = ""
    caller: str = ""
    call_with: str = ""
    path: str = ""
    expected: str = ""
    secret: str = ""
    budget: str = ""
    ticket: str = ""
    until: str = ""
    person: str = ""
    sandbox: str = ""
    uninspected: str = ""
    helps: str = ""


class BecauseAnswer(ApiAnswer):
    """Why not, and what to do about it."""

    reason: Reason
    message: str
    next: str
    detail: DetailAnswer | None = None


class ExplainedAnswer(ApiAnswer):
    """Whether it can be called, and why not. `rules`: those that were asked, in their order."""

    server: str
    kind: CapabilityKind
    name: str
    callable: bool
    held: Annotated[str, Field(description="The phrase of `holds.calls` that wants a person; empty where none does.")]
    answer: Literal["ready", "retry", "blocked", "unknown"]
    rules: list[str]
    effect: Effect | None
    fingerprint: Fingerprint | None
    approved: Fingerprint | None
    reasons: list[BecauseAnswer]
