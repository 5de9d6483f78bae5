"""Pins: the status of one capability, and the definition that the status applies to."""

from dataclasses import dataclass, field

from mcpguard.domain.capabilities import CapabilityKind, Effect, Fingerprint
from mcpguard.domain.servers.standing import CapabilityStanding


@dataclass(frozen=True, slots=True)
class Pin:
    """A capability as the security team knows it. Approvals bind to the id and the fingerprint, never to the name.

    `listed`: the definition that the server listed last; None if it could not be read. `approved`: the definition that
    a reviewer approved last; `effect`: the effect that they assigned to it. `returned`: the server has already returned
    to the approved definition once. `rejected`: the definition that a reviewer removed from the inbox. `findings_read`:
    the rules of the grave findings in the approved definition that a reviewer confirmed to have read. `approved_since`:
    when it was approved (UTC, microseconds), whatever definitions were approved after that; 0 if it is not. The
    generation changes with every move, so that a decision about an earlier one is recognised.
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
    approved_since: int = 0
    callable: bool = field(init=False, repr=False, compare=False)
    """Whether the server lists exactly the definition that was approved."""

    def __post_init__(self) -> None:
        # Each call asks several times: it is computed once, as a pin never changes.
        is_callable = (
            self.standing is CapabilityStanding.APPROVED
            and self.present
            and self.approved is not None
            and self.listed == self.approved
            and self.effect is not None
        )
        object.__setattr__(self, "callable", is_callable)

    @property
    def is_blocked(self) -> bool:
        return self.standing is CapabilityStanding.BLOCKED

    @property
    def waits(self) -> bool:
        """Whether it needs review: it is new or changed, and this definition was not rejected."""
        undecided = self.standing in (CapabilityStanding.PENDING, CapabilityStanding.CHANGED)
        return undecided and self.present and (self.listed is None or self.listed != self.rejected)
