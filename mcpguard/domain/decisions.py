"""A person's answer, with the reason they wrote."""

from dataclasses import dataclass
from enum import StrEnum

from mcpguard.domain.capabilities import Fingerprint


class Answer(StrEnum):
    """What a person can answer. Only `approve` and `allow` widen what may happen."""

    APPROVE = "approve"
    ASSIGN_EFFECT = "assign_effect"
    ALLOW = "allow"
    REJECT = "reject"
    REVOKE = "revoke"
    QUARANTINE = "quarantine"
    BLOCK = "block"
    UNBLOCK = "unblock"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's answer about an upstream, a capability or a held call, bound to the fingerprints they saw."""

    answer: Answer
    about: str
    by: str
    reason: str
    seen: tuple[Fingerprint, ...]
