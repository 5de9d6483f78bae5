"""Answers about held calls."""

from typing import Annotated, Any, Literal

from pydantic import Field

from mcpguard.domain.calls.calls import Face, Sensitivity
from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.web.api.answers.answer import ApiAnswer, Fingerprint, Moment, Next
from mcpguard.web.api.answers.finding_answers import FindingAnswer


class HeldCallerAnswer(ApiAnswer):
    """Whose call it is."""

    id: str
    name: str


class HeldCallAnswer(ApiAnswer):
    """A call that a person must allow. Its id is its ticket, and the entry that it began with in the audit log."""

    id: str
    state: Literal["waiting", "allowed", "denied"]
    at: Moment
    until: Moment
    caller: HeldCallerAnswer
    client: Annotated[str, Field(description="What the client calls itself.")]
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
    agent_says: Annotated[str, Field(description="The agent's reason, in its own words. Nobody has checked it.")]
    because: Annotated[str, Field(description="The phrase of the setting `holds.calls` that wants a person.")]
    arguments: Annotated[Any, Field(description="Secrets masked; null where they are not kept.")]
    meta: Annotated[
        Any, Field(description="What its `_meta` would say to the server, secrets masked; null for nothing.")
    ]
    findings: list[FindingAnswer]
    by: str | None
    why: str | None


class HeldCallsAnswer(ApiAnswer):
    """Some of the held calls."""

    held: list[HeldCallAnswer]
    next: Next
