"""What an approval of a server comes to, and what becomes of what it names."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypedDict

from mcpguard.domain.asks import AskKind
from mcpguard.domain.capabilities import CapabilityKind, Effect, Fingerprint
from mcpguard.domain.decisions import Answer, Key, Read
from mcpguard.domain.findings import Inspected
from mcpguard.domain.servers.launches import Launch, StdioLaunch
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import CapabilityStanding
from mcpguard.domain.servers.upstreams import Upstream
from mcpguard.guard.servers.grave_findings import said_read
from mcpguard.guard.servers.registry import ServerState
from mcpguard.policy import pinning

_DECIDED = {CapabilityStanding.APPROVED, CapabilityStanding.CHANGED}


@dataclass(frozen=True, slots=True)
class ApprovedOne:
    """A capability that was approved. `given`: whether its effect was named by whoever approved it."""

    kind: CapabilityKind
    name: str
    fingerprint: Fingerprint
    effect: Effect
    given: bool


@dataclass(frozen=True, slots=True)
class Approved:
    """What an approval came to. `waiting`: what of the server is listed and not approved; `unread`: what was left out,
    because nobody confirmed reading its grave findings, with their rules."""

    approved: tuple[ApprovedOne, ...]
    waiting: tuple[str, ...]
    unread: Mapping[str, tuple[str, ...]]


class InSpite(TypedDict):
    """What was found in what is approved, and what of it was read."""

    found: Inspected
    read: str


def left_out(pin: Pin, *, quiet: bool) -> Iterator[tuple[Answer, Pin, Pin]]:
    """What becomes of it step by step: it is not approved any more, and where it is `quiet`, it waits for nobody."""
    if pin.standing in _DECIDED:
        before, pin = pin, pinning.revoke(pin, pin.listed).pin
        yield Answer.REVOKE, before, pin
    if quiet and pin.waits and pin.listed is not None:
        yield Answer.REJECT, pin, pinning.reject(pin, pin.listed).pin


def permitted(upstream: Upstream, prefixes: tuple[str, ...] | None, may_ask: frozenset[AskKind] | None) -> Upstream:
    """What is None stays as it is."""
    return replace(
        upstream,
        prefixes=upstream.prefixes if prefixes is None else prefixes,
        may_ask=upstream.may_ask if may_ask is None else may_ask,
    )


def confinement_said(launch: Launch) -> dict[str, str]:
    """What is recorded of how it is confined from now on; nothing for what we do not start."""
    if not isinstance(launch, StdioLaunch):
        return {}
    return {"profile": launch.profile.value, "mounts": "\n".join(map(str, launch.mounts))}


def in_spite(known: ServerState, key: Key, read: Read) -> InSpite:
    """What is recorded of the findings in what is approved."""
    found = known.inspected(key)
    return {"found": found, "read": said_read(found.grave, read.get(key))}
