"""What becomes of a capability's standing: when the server lists it, and when a person decides about it.

Rules kept here:
1. Only a person's approval of the definition that is listed now leads to `approved`; and, once for each approval, the
   server's return to exactly that definition, unless something grave was found in what it listed in between.
2. A decision about another definition than the one that is listed now is stale: it changes nothing, and says what
   moved.
3. Every move is one that the table of `domain/servers/standing.py` lists, and makes the next generation. What is not a
   move (being listed as before, being away, being rejected) leaves the generation as it was.
4. Approval binds a definition, its effect, and which findings in it were read. What forgets the one forgets the others.
"""

from dataclasses import dataclass, replace

from mcpguard.domain.capabilities import Effect, Fingerprint
from mcpguard.domain.decisions import Stale, Undecidable
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import CAPABILITY_MOVES, CapabilityMove, CapabilityStanding, moved


@dataclass(frozen=True, slots=True)
class PinChange:
    """The pin as it is now, and the move that it made, if it made one."""

    pin: Pin
    move: CapabilityMove | None = None


def listed(pin: Pin, fingerprint: Fingerprint | None, *, grave: bool = False) -> PinChange:
    """The server lists it, with this definition, or one that could not be read. `grave`: something in it was."""
    now = replace(pin, listed=fingerprint, present=True)
    match pin.standing:
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


def gone(pin: Pin) -> PinChange:
    """The server does not list it any more. It stands where it stood, and cannot be called."""
    return PinChange(replace(pin, present=False))


def identity_changed(pin: Pin) -> PinChange:
    """The server itself is another now: what was approved of it is forgotten. What was blocked stays blocked."""
    if pin.standing in (CapabilityStanding.APPROVED, CapabilityStanding.CHANGED):
        return _move(_forgotten(pin), CapabilityMove.IDENTITY_CHANGED)
    return PinChange(pin)


def approve(
    pin: Pin, seen: Fingerprint | None, effect: Effect, findings_read: frozenset[str] = frozenset()
) -> PinChange:
    """A person approves what they saw, with this effect. Raises Stale, Undecidable or IllegalMove.

    `findings_read`: the rules of the findings in it that they say to have read, besides those that were read before.
    """
    if pin.listed is None:
        raise Undecidable(f"the definition of {pin.kind} {pin.name} cannot be read, so nobody can approve it")
    if not pin.present:
        raise Undecidable(f"the server does not list {pin.kind} {pin.name} any more")
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


def revoke(pin: Pin, seen: Fingerprint | None) -> PinChange:
    """A person takes the approval back. Raises Stale or IllegalMove."""
    return _narrowed(pin, seen, CapabilityMove.REVOKE)


def block(pin: Pin) -> PinChange:
    """A person blocks it, whatever its definition is. Raises IllegalMove."""
    return _move(_forgotten(pin), CapabilityMove.BLOCK)


def unblock(pin: Pin) -> PinChange:
    """A person lets it wait for an approval again. Raises IllegalMove."""
    return _move(_forgotten(pin), CapabilityMove.UNBLOCK)


def reject(pin: Pin, seen: Fingerprint | None) -> PinChange:
    """A person sends it out of the inbox, as it is now; it stands where it stood. Raises Stale or Undecidable."""
    if pin.standing not in (CapabilityStanding.PENDING, CapabilityStanding.CHANGED):
        raise Undecidable(f"{pin.kind} {pin.name} is {pin.standing}; only what waits for a person can be rejected")
    if seen != pin.listed:
        raise _stale(pin, seen)
    return PinChange(replace(pin, rejected=seen))


def _stale(pin: Pin, seen: Fingerprint | None) -> Stale:
    return Stale((f"{pin.kind} {pin.name} is listed differently now: seen {seen}, listed {pin.listed}",))


def _is_back(pin: Pin, fingerprint: Fingerprint | None) -> bool:
    return fingerprint is not None and fingerprint == pin.approved and not pin.returned


def _narrowed(pin: Pin, seen: Fingerprint | None, move: CapabilityMove) -> PinChange:
    if seen != pin.listed:
        raise _stale(pin, seen)
    return _move(_forgotten(pin), move)


def _forgotten(pin: Pin) -> Pin:
    return replace(pin, approved=None, effect=None, returned=False, findings_read=frozenset())


def _move(pin: Pin, move: CapabilityMove) -> PinChange:
    standing = moved(CAPABILITY_MOVES, pin.standing, move)
    return PinChange(replace(pin, standing=standing, generation=pin.generation + 1), move)
