"""Whether a server is still as a person saw it before they decided."""

from typing import Final

from mcpguard.domain.decisions import Seen, Stale, Unknown
from mcpguard.guard.servers.registry import ServerState

MOST_NAMED: Final = 10


def standing_now(known: ServerState) -> Seen:
    """What a person sees who looks at it at this moment. Raises Unknown where nobody can tell what it is."""
    identity = known.upstream.identity
    if identity is None:
        raise Unknown(f"nobody knows how {known.name} is launched or reached")
    listed = {key: pin.listed for key, pin in known.pins.items() if pin.present}
    return Seen(identity.launch, identity.observed, listed)


def differences(known: ServerState, seen: Seen) -> tuple[str, ...]:
    """What is not as it was seen, as sentences."""
    now, found = known.upstream.identity, []
    if now is None or now.launch != seen.launch:
        found.append(f"how {known.name} is launched or reached")
    if now is None or now.observed != seen.observed:
        found.append(f"what {known.name} says of itself")
    listed = {key: pin.listed for key, pin in known.pins.items() if pin.present}
    for key in sorted(listed.keys() | seen.capabilities.keys()):
        what = f"{key[0]} {key[1]}"
        if key not in seen.capabilities:
            found.append(f"{what} is new")
        elif key not in listed:
            found.append(f"{what} is not listed any more")
        elif listed[key] != seen.capabilities[key]:
            found.append(f"{what} is listed differently")
    rest = len(found) - MOST_NAMED
    return (*found[:MOST_NAMED], f"and {rest} more") if rest > 0 else tuple(found)


def as_seen(known: ServerState, seen: Seen) -> None:
    """Raises Stale where something of it is not as a person saw it."""
    if moved := differences(known, seen):
        raise Stale(moved)
