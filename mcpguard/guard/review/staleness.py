"""The check that a server is still as the deciding reviewer saw it."""

from typing import Final

from mcpguard.domain.decisions import ReviewedVersions, Stale, Unknown
from mcpguard.guard.servers.registry import ServerState

MOST_NAMED: Final = 10


def standing_now(known: ServerState) -> ReviewedVersions:
    """What a reviewer sees at this moment. Raises Unknown where it cannot be told what the server is."""
    identity = known.upstream.identity
    if identity is None:
        raise Unknown(f"it is unknown how {known.name} is launched or reached")
    listed = {key: pin.listed for key, pin in known.pins.items() if pin.present}
    return ReviewedVersions(identity.launch, identity.observed, listed)


def differences(known: ServerState, seen: ReviewedVersions) -> tuple[str, ...]:
    """What is no longer as it was seen, in sentences."""
    now, found = known.upstream.identity, []
    if now is None or now.launch != seen.launch:
        found.append(f"how {known.name} is launched or reached")
    if now is None or now.observed != seen.observed:
        found.append(f"what {known.name} reports about itself")
    listed = {key: pin.listed for key, pin in known.pins.items() if pin.present}
    for key in sorted(listed.keys() | seen.capabilities.keys()):
        what = f"{key[0]} {key[1]}"
        if key not in seen.capabilities:
            found.append(f"{what} is new")
        elif key not in listed:
            found.append(f"{what} is not listed any more")
        elif listed[key] != seen.capabilities[key]:
            found.append(f"{what} has another definition")
    rest = len(found) - MOST_NAMED
    return (*found[:MOST_NAMED], f"and {rest} more") if rest > 0 else tuple(found)


def check_as_seen(known: ServerState, seen: ReviewedVersions) -> None:
    """Raise Stale where something is no longer as the reviewer saw it."""
    if moved := differences(known, seen):
        raise Stale(moved)
