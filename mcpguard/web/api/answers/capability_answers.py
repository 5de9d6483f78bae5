"""Answers about one capability."""

from typing import Annotated, Any, Literal

from pydantic import Field

from mcpguard.domain.additions import AdditionKind
from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.standing import CapabilityStanding
from mcpguard.inspection.diff.shown_values import ShownChange
from mcpguard.web.api.answers.answer import ApiAnswer, Fingerprint, Moment
from mcpguard.web.api.answers.finding_answers import (
    FindingAnswer,
    FindingReasonedAnswer,
    FindingShownAnswer,
    PlaceAnswer,
)


class CapabilityListedAnswer(ApiAnswer):
    """A capability in a list. `fingerprint`: of the definition that is listed now; `approved`: of the approved one."""

    kind: CapabilityKind
    name: Annotated[str, Field(description="Untrusted: chosen by the server.")]
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
        bool, Field(description="Whether it can only be called as a task; all calls of it are denied then.")
    ]
    assigned: Effect | None
    risk: int
    flagged: bool
    unread: Annotated[
        list[str],
        Field(
            description="Where it is approved: the rules of its grave findings that no reviewer has confirmed reading."
        ),
    ]
    findings: list[FindingAnswer]


class VersionAnswer(ApiAnswer):
    """A version of a definition that the server has listed."""

    fingerprint: Fingerprint
    first_seen: Moment
    last_seen: Moment | None
    bytes: int
    risk: int
    findings: list[FindingAnswer]


class CapabilityAnswer(CapabilityListedAnswer):
    """Everything about one capability. `definition`: as the server wrote it; null where it is too long."""

    findings: list[FindingShownAnswer]  # type: ignore[assignment]
    server: str
    definition: Any
    complete: bool
    shown: Annotated[str, Field(description="The definition as text, cut, with hidden characters made visible.")]
    versions: list[VersionAnswer]


class FindingsDifferAnswer(ApiAnswer):
    """The findings that only one of two versions has."""

    new: list[FindingReasonedAnswer]
    gone: list[FindingReasonedAnswer]


class AdditionAnswer(ApiAnswer):
    """Something that the later version has and the earlier had not. `title`: constant text of the guard.

    `evidence`: its place in the later version.
    """

    kind: AdditionKind
    title: str
    detail: Annotated[str, Field(description="What it is, such as the host. Untrusted: written by the server.")]
    alarming: Annotated[bool, Field(description="Whether an honest change hardly ever adds one.")]
    evidence: PlaceAnswer
    excerpt: Annotated[str, Field(description="Untrusted: written by the server.")]


class AdditionsAnswer(ApiAnswer):
    """What the later of two versions adds: destinations, instructions to the model, arguments for its data, and such.

    `summary`: one line, which may name hosts and addresses that the server wrote; `more`: how many are left out.
    """

    summary: str
    alarming: bool
    found: list[AdditionAnswer]
    more: int


class ChangesAnswer(ApiAnswer):
    """What differs between two values: definitions, or the arguments of two calls."""

    changes: list[ShownChange]
    complete: bool
    left_out: list[str]


class DifferenceAnswer(ChangesAnswer):
    """How two versions of a definition differ."""

    server: str
    kind: CapabilityKind
    name: str
    before: Fingerprint
    after: Fingerprint
    text: str
    additions: AdditionsAnswer
    findings: FindingsDifferAnswer


class DetailAnswer(ApiAnswer):
    """Details of a reason; empty ones are left out (docs/reasons.md)."""

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
    """The reason of a denial or a hold, with a message and the next step."""

    reason: Reason
    message: str
    next: str
    detail: DetailAnswer | None = None


class ExplainedAnswer(ApiAnswer):
    """Whether a capability can be called, and why not. `rules`: the rules that ran, in order."""

    server: str
    kind: CapabilityKind
    name: str
    callable: bool
    held: Annotated[
        str, Field(description="The phrase of `holds.calls` by which calls are held for approval; empty if none.")
    ]
    answer: Literal["ready", "retry", "blocked", "unknown"]
    rules: list[str]
    effect: Effect | None
    fingerprint: Fingerprint | None
    approved: Fingerprint | None
    reasons: list[BecauseAnswer]


class LearnedWordAnswer(ApiAnswer):
    """A word of searches for which a tool is found more often. `callers`: how many have said it."""

    word: Annotated[str, Field(description="Untrusted: said by agents.")]
    callers: int


class LearnedAnswer(ApiAnswer):
    """What search has learned of a tool in its approved version. `callers`: how many have taught it.

    `enabled`: whether anything is learned; false where the setting `search.learn` is off.
    """

    server: str
    name: str
    enabled: bool
    words: Annotated[list[LearnedWordAnswer], Field(description="Those that count most come first.")]
    callers: int
