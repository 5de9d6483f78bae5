"""Answers about held calls."""

from typing import Annotated, Any, Literal

from pydantic import Field

from mcpguard.domain.calls.calls import Face, Sensitivity
from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.web.api.answers.answer import ApiAnswer, Fingerprint, Moment, Next
from mcpguard.web.api.answers.finding_answers import FindingReasonedAnswer
from mcpguard.web.api.answers.program_answers import NamedToolAnswer


class HeldCallerAnswer(ApiAnswer):
    """The caller of a held call."""

    id: str
    name: str


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
    meta: Annotated[Any, Field(description="The `_meta` that the server would get, with secrets masked; null if none.")]
    findings: list[FindingReasonedAnswer]
    by: str | None
    why: str | None


class HeldCallsAnswer(ApiAnswer):
    """A page of held calls."""

    held: list[HeldCallAnswer]
    next: Next
