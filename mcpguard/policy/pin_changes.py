"""Changes of a capability's status, caused by a server's listing or a reviewer's decision.

Rules kept here:
1. Only a reviewer's approval of the currently listed definition leads to `approved`. The one exception, once for each
   approval, is the server's return to exactly that definition, unless one in between had a grave finding.
2. A decision about a definition that is no longer the listed one is stale: it has no effect, and reports what changed.
3. Every move is in the table of `domain/servers/standing.py` and increases the generation. Other changes (listed as
   before, no longer listed, rejected) leave the generation unchanged.
4. An approval covers a definition, its effect, and the findings that were read. They are forgotten together.
"""

from dataclasses import dataclass, replace

from mcpguard.domain.capabilities import Effect, Fingerprint
from mcpguard.domain.decisions import Stale, Undecidable
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import CAPABILITY_MOVES, CapabilityMove, CapabilityStanding, standing_after


@dataclass(frozen=True, slots=True)
class PinChange:
    """The changed pin, and the move that it made, if any."""

    pin: Pin
    move: CapabilityMove | None = None


def mark_listed(pin: Pin, fingerprint: Fingerprint | None, *, grave: bool = False) -> PinChange:
    """Return the pin after the server listed this definition, None if unreadable. `grave`: it has grave findings."""
    now = replace(pin, listed=fingerprint, present=True)
    match pin.standing:
        # After a grave definition (`returned` is set) the server cannot return by itself: it could alternate unseen.
        case CapabilityStanding.APPROVED if fingerprint != pin.approved:
            return _move(replace(now, returned=pin.returned or grave), CapabilityMove.DIFFERS)
        case CapabilityStanding.CHANGED if _is_back(pin, fingerprint) and not grave:
            return _move(replace(now, returned=True), CapabilityMove.RETURNED)
        case CapabilityStanding.CHANGED if fingerprint != pin.listed:
            return _move(replace(now, returned=pin.returned or grave), CapabilityMove.DIFFERS)
        case CapabilityStanding.CHANGED if grave:
            return PinChange(replace(now, returned=True))
        case _:
            return PinChange(now)


def mark_gone(pin: Pin) -> PinChange:
    """Return the pin after the server stopped listing it. It keeps its status, and cannot be called."""
    return PinChange(replace(pin, present=False))


def mark_identity_changed(pin: Pin) -> PinChange:
    """Return the pin after the identity of its server changed: approvals are forgotten, blocks stay."""
    if pin.standing in (CapabilityStanding.APPROVED, CapabilityStanding.CHANGED):
        return _move(_forgotten(pin), CapabilityMove.IDENTITY_CHANGED)
    return PinChange(pin)


def approve(
    pin: Pin, seen: Fingerprint | None, effect: Effect, findings_read: frozenset[str] = frozenset()
) -> PinChange:
    """Approve the definition that the reviewer saw, with this effect. Raises Stale, Undecidable or IllegalMove.

    `findings_read`: the rules of the findings that they confirm to have read, besides those that were read before.
    """
    if pin.listed is None:
        raise Undecidable(f"the definition of {pin.kind} {pin.name} is unreadable, so it cannot be approved")
    if not pin.present:
        raise Undecidable(f"the server does not list {pin.kind} {pin.name} any more, so it cannot be approved")
    if seen != pin.listed:
        raise _stale(pin, seen)
    move = CapabilityMove.APPROVE
    read = findings_read | (pin.findings_read if seen == pin.approved else frozenset())
    if pin.standing is CapabilityStanding.APPROVED:
        if effect is pin.effect:
            return PinChange(replace(pin, findings_read=read))
        move = CapabilityMove.ASSIGN_EFFECT
    now = replace(pin, approved=seen, effect=effect, returned=False, rejected=None, findings_read=read)
    return _move(now, move)


def date_approval(pin: Pin, now: int) -> Pin:
    """Return a pin that was just approved with the time of that, and any other as it is."""
    is_new = pin.approved is not None and not pin.approved_since
    return replace(pin, approved_since=now) if is_new else pin


def revoke(pin: Pin, seen: Fingerprint | None) -> PinChange:
    """Revoke the approval. Raises Stale or IllegalMove."""
    return _narrowed(pin, seen, CapabilityMove.REVOKE)


def block(pin: Pin) -> PinChange:
    """Block the capability with every definition. Raises IllegalMove."""
    return _move(_forgotten(pin), CapabilityMove.BLOCK)


def unblock(pin: Pin) -> PinChange:
    """Unblock the capability; it needs review again. Raises IllegalMove."""
    return _move(_forgotten(pin), CapabilityMove.UNBLOCK)


def reject(pin: Pin, seen: Fingerprint | None) -> PinChange:
    """Remove this definition from the inbox; the status stays. Raises Stale or Undecidable."""
    if pin.standing not in (CapabilityStanding.PENDING, CapabilityStanding.CHANGED):
        raise Undecidable(f"{pin.kind} {pin.name} is {pin.standing}; only what needs review can be rejected")
    if seen != pin.listed:
        raise _stale(pin, seen)
    return PinChange(replace(pin, rejected=seen))


def _stale(pin: Pin, seen: Fingerprint | None) -> Stale:
    return Stale((f"{pin.kind} {pin.name} is listed differently (reviewed {seen}, now {pin.listed})",))


def _is_back(pin: Pin, fingerprint: Fingerprint | None) -> bool:
    return fingerprint is not None and fingerprint == pin.approved and not pin.returned


def _narrowed(pin: Pin, seen: Fingerprint | None, move: CapabilityMove) -> PinChange:
    if seen != pin.listed:
        raise _stale(pin, seen)
    return _move(_forgotten(pin), move)


def _forgotten(pin: Pin) -> Pin:
    return replace(pin, approved=None, effect=None, returned=False, findings_read=frozenset(), approved_since=0)


def _move(pin: Pin, move: CapabilityMove) -> PinChange:
    standing = standing_after(CAPABILITY_MOVES, pin.standing, move)
    return PinChange(replace(pin, standing=standing, generation=pin.generation + 1), move)
