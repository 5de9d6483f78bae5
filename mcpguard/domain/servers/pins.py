"""Where one capability of an upstream stands, and for which definition of it."""

from dataclasses import dataclass

from mcpguard.domain.capabilities import CapabilityKind, Effect, Fingerprint
from mcpguard.domain.servers.standing import CapabilityStanding


@dataclass(frozen=True, slots=True)
class Pin:
    """A capability as the security team knows it. Approvals bind to the id and the fingerprint, never to the name.

    `listed` is the definition that the server listed last; None if that could not be read. `approved` is the one that a
    person approved last, `effect` what they assigned to exactly that one. `returned` says that the server has already
    come back to it by itself once. `rejected` is the definition that a person sent out of the inbox. `findings_read`
    holds the rules of the grave findings in the approved definition that somebody said to have read. The generation
    changes with every move, so that whatever was decided on an earlier one can be told.
    """

    id: str
    upstream: str
    kind: CapabilityKind
    name: str
    listed: Fingerprint | None
    standing: CapabilityStanding = CapabilityStanding.PENDING
    present: bool = True
    approved: Fingerprint | None = None
    effect: Effect | None = None
    returned: bool = False
    rejected: Fingerprint | None = None
    generation: int = 0
    findings_read: frozenset[str] = frozenset()

    @property
    def callable(self) -> bool:
        """Whether the server offers exactly what a person approved, as far as this says."""
        return (
            self.standing is CapabilityStanding.APPROVED
            and self.present
            and self.approved is not None
            and self.listed == self.approved
            and self.effect is not None
        )

    @property
    def is_blocked(self) -> bool:
        return self.standing is CapabilityStanding.BLOCKED

    @property
    def waits(self) -> bool:
        """Whether a person should look at it: it is new or different, and they have not sent it away as it is."""
        undecided = self.standing in (CapabilityStanding.PENDING, CapabilityStanding.CHANGED)
        return undecided and self.present and (self.listed is None or self.listed != self.rejected)
