"""The contents of a server's approval, their effect, and the fields that record it.

Rules kept here:
1. Only capabilities that are listed, readable and not blocked can be chosen.
2. A tool for which the reviewer names no effect gets the more careful of its server's declaration and the guard's
   suggestion, recorded as the approver's decision. A tool already approved as it is keeps its effect.
3. The sandbox stays as it is unless the approval names it. An approval may tighten or relax it, but never remove it:
   consent to that is given at an inspection, which shows what would be executed.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypedDict

from mcpguard.domain.asks import AskKind
from mcpguard.domain.capabilities import CapabilityKind, Effect, Fingerprint
from mcpguard.domain.decisions import Answer, Approval, CapabilityKey, ConfirmedFindings, NotDeclared, Undecidable
from mcpguard.domain.findings import InspectionFindings
from mcpguard.domain.servers.launches import DeclaredServer, Launch, Profile, StdioLaunch
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import CapabilityStanding
from mcpguard.domain.servers.upstreams import Upstream
from mcpguard.guard.review.confirmations import confirmed_field
from mcpguard.guard.review.staleness import MOST_NAMED
from mcpguard.guard.servers.registry import ServerState
from mcpguard.guard.servers.tool_effects import ToolEffects
from mcpguard.policy import pin_changes
from mcpguard.policy.pin_changes import PinChange
from mcpguard.settings.entries.members import confinement

_NO_SANDBOX: Final = "an approval cannot remove the sandbox: inspect {} with consent to run it without one"
_NOT_OURS: Final = "{} is a remote server and cannot be sandboxed from here"
_DECIDED = {CapabilityStanding.APPROVED, CapabilityStanding.CHANGED}
ANSWERS: Final[Mapping[Answer, Callable[[Pin, Fingerprint | None, Effect, frozenset[str]], PinChange]]] = {
    Answer.APPROVE: pin_changes.approve,
    Answer.REVOKE: lambda pin, seen, _effect, _read: pin_changes.revoke(pin, seen),
    Answer.REJECT: lambda pin, seen, _effect, _read: pin_changes.reject(pin, seen),
    Answer.BLOCK: lambda pin, _seen, _effect, _read: pin_changes.block(pin),
    Answer.UNBLOCK: lambda pin, _seen, _effect, _read: pin_changes.unblock(pin),
}
"""What each answer about one capability does to it: the version that was seen, its effect, the findings read."""


@dataclass(frozen=True, slots=True)
class ApprovedCapability:
    """A capability that was approved. `given`: whether the reviewer named its effect."""

    kind: CapabilityKind
    name: str
    fingerprint: Fingerprint
    effect: Effect
    given: bool


@dataclass(frozen=True, slots=True)
class ApprovalResult:
    """What an approval came to. `waiting`: what the server lists that is not approved; `unread`: what was left out
    because nobody confirmed reading its grave findings, with their rules."""

    approved: tuple[ApprovedCapability, ...]
    waiting: tuple[str, ...]
    unread: Mapping[str, tuple[str, ...]]


class AcceptedFindings(TypedDict):
    """The findings in something that is approved in spite of them, and which of them the reviewer confirmed reading."""

    found: InspectionFindings
    read: str


def chosen_keys(known: ServerState, approval: Approval) -> frozenset[CapabilityKey]:
    """The capabilities that an approval names, all that can be approved where it names none. Raises Undecidable."""
    approvable = {
        key
        for key, pin in known.pins.items()
        if pin.present and pin.listed is not None and pin.standing is not CapabilityStanding.BLOCKED
    }
    only = approvable - approval.left_out if approval.only is None else approval.only
    if contradictory := sorted((approval.left_out & only) | (approval.left_out - known.pins.keys())):
        kind, name = contradictory[0]
        raise Undecidable(f"{kind}:{name} cannot be left out: it is approved by the same answer, or there is none")
    if wrong := sorted(only - approvable):
        named = ", ".join(f"{kind}:{name}" for kind, name in wrong[:MOST_NAMED])
        raise Undecidable(f"{named} of {known.name} cannot be approved: not listed, not readable, or blocked")
    tools = {name for kind, name in only if kind is CapabilityKind.TOOL}
    if strange := sorted(approval.effects.keys() - tools):
        raise Undecidable(f"an effect is given for names that are no approved tools: {', '.join(strange[:MOST_NAMED])}")
    return frozenset(only)


def effect_of(pin: Pin, given: Mapping[str, Effect], told: Mapping[Fingerprint, ToolEffects]) -> tuple[Effect, bool]:
    """The effect that an approval gives a capability, and whether the reviewer named it. Raises Undecidable."""
    if pin.kind is not CapabilityKind.TOOL:
        if pin.name in given and given[pin.name] is not Effect.READ:
            raise Undecidable(f"only tools have an effect; the effect of a {pin.kind} is always read")
        return Effect.READ, False
    if pin.name in given:
        return given[pin.name], True
    if pin.callable and pin.effect is not None:
        return pin.effect, False
    said = told.get(pin.listed) if pin.listed else None
    return (said.careful if said else Effect.DESTRUCTIVE), False


def steps_of_leaving_out(pin: Pin, *, quiet: bool) -> Iterator[tuple[Answer, Pin, Pin]]:
    """The steps by which a capability that an approval leaves out loses its approval and, where `quiet`, leaves the
    inbox too: each with the pin before and after it."""
    if pin.standing in _DECIDED:
        before, pin = pin, pin_changes.revoke(pin, pin.listed).pin
        yield Answer.REVOKE, before, pin
    if quiet and pin.waits and pin.listed is not None:
        yield Answer.REJECT, pin, pin_changes.reject(pin, pin.listed).pin


def with_permissions(
    upstream: Upstream, prefixes: tuple[str, ...] | None, may_ask: frozenset[AskKind] | None
) -> Upstream:
    """The server with other permissions. What is None stays as it is."""
    return replace(
        upstream,
        prefixes=upstream.prefixes if prefixes is None else prefixes,
        may_ask=upstream.may_ask if may_ask is None else may_ask,
    )


def confinement_fields(launch: Launch) -> dict[str, str]:
    """The fields that record how a server is confined from now on; none for a server that we do not start."""
    if not isinstance(launch, StdioLaunch):
        return {}
    return {"profile": launch.profile.value, "mounts": "\n".join(map(str, launch.mounts))}


def accepted_findings(known: ServerState, key: CapabilityKey, read: ConfirmedFindings) -> AcceptedFindings:
    """What is recorded of the findings in a capability that is approved."""
    found = known.findings_in(key)
    return {"found": found, "read": confirmed_field(found.grave, read.get(key))}


def with_declared_confinement(declared: DeclaredServer) -> DeclaredServer:
    """The declaration without a reviewer's choice of sandbox. Consent to run without one stays."""
    launch = declared.launch
    if not isinstance(launch, StdioLaunch) or launch.profile is Profile.NONE:
        return declared
    return replace(declared, launch=launch.as_declared())


def with_confinement(declared: DeclaredServer, approval: Approval) -> DeclaredServer:
    """The declaration with the sandbox that an approval chooses. Raises Undecidable."""
    if approval.sandbox is None and approval.mounts is None:
        return declared
    launch = declared.launch
    if not isinstance(launch, StdioLaunch):
        raise Undecidable(_NOT_OURS.format(declared.name))
    try:
        how = confinement(launch, approval.sandbox, approval.mounts)
    except NotDeclared as error:
        raise Undecidable("; ".join(error.problems)) from error
    if how.profile is Profile.NONE and launch.profile is not Profile.NONE:
        raise Undecidable(_NO_SANDBOX.format(declared.name))
    return replace(declared, launch=launch.with_confinement(how))


def listed_version(pin: Pin) -> Fingerprint:
    """Return the version that an approved capability lists."""
    assert pin.listed is not None  # noqa: S101 - `pin_changes.approve` has refused everything else
    return pin.listed
