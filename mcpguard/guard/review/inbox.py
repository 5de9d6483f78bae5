"""The inbox: new or changed servers, changed capabilities, and approvals with unconfirmed grave findings.

Every page shows its count, so servers that have not changed are not counted again.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from mcpguard.domain.decisions import CapabilityKey
from mcpguard.domain.findings import InspectionFindings, Severity
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.domain.servers.upstreams import Upstream
from mcpguard.guard.servers.listed_findings import ListedFindings
from mcpguard.guard.servers.registry import Registry, ServerState

Counts = tuple[tuple[str, int], ...]
"""How many findings of each severity there are, the worst first."""


@dataclass(frozen=True, slots=True)
class UnreadApproval:
    """Something that is approved, with grave findings which nobody confirmed reading: `rules` are theirs,
    `severities` counts them. `key` None: the server itself.
    """

    key: CapabilityKey | None
    rules: frozenset[str]
    severities: Counts


@dataclass(frozen=True, slots=True)
class WaitingServer:
    """What needs review of one server. `pins`: the capabilities; `reviewed`: whether the server itself is approved and
    only these wait; `unread`: what is approved unread; `severities`: of the findings in all that waits."""

    known: ServerState
    pins: tuple[Pin, ...]
    reviewed: bool
    severities: Counts
    unread: tuple[UnreadApproval, ...] = ()


@dataclass(frozen=True, slots=True)
class Tally:
    """How many servers there are, how many things wait, and how many findings there are, how many of them grave.

    `unread`: how much is approved with grave findings that nobody confirmed reading; `uninspected`: of how many
    servers the last inspection failed.
    """

    all: int
    waiting: int
    findings: int
    grave: int
    unread: int
    uninspected: int


@dataclass(frozen=True, slots=True)
class _Looked:
    waiting: WaitingServer | None
    findings: int
    grave: int


_Rests = tuple[Upstream, Mapping[CapabilityKey, Pin], ListedFindings]


class Inbox:
    """Lists and counts what needs review."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._counted: WeakKeyDictionary[ServerState, tuple[_Rests, _Looked]] = WeakKeyDictionary()

    def every(self) -> list[WaitingServer]:
        """What needs review, by server, the worst first."""
        found = [waiting for known in self._registry if (waiting := self._looked(known).waiting) is not None]
        return sorted(found, key=_urgency)

    def tally(self) -> Tally:
        every = [*self._registry]
        looked = [self._looked(known) for known in every]
        waiting = [each.waiting for each in looked if each.waiting is not None]
        unread = sum(len(each.unread) for each in waiting)
        return Tally(
            len(every),
            sum(len(each.pins) if each.reviewed else 1 for each in waiting) + unread,
            sum(each.findings for each in looked),
            sum(each.grave for each in looked),
            unread,
            sum(known.upstream.inspection is not None and known.upstream.inspection.failed for known in every),
        )

    def _looked(self, known: ServerState) -> _Looked:
        rests: _Rests = known.upstream, known.pins, known.found
        before = self._counted.get(known)
        # By identity: every change makes new objects, so this misses none and costs nothing.
        if before is not None and all(one is other for one, other in zip(before[0], rests, strict=True)):
            return before[1]
        grave = [finding.grave for finding, _ in known.findings()]
        looked = _Looked(_waiting(known), len(grave), sum(grave))
        self._counted[known] = rests, looked
        return looked


def severities(found: Collection[InspectionFindings]) -> Counts:
    """How many findings of each severity, the worst first."""
    return _counts(Counter(finding.severity for each in found for finding in each.findings))


def _counts(counts: Mapping[Severity, int]) -> Counts:
    return tuple((each.value, counts[each]) for each in reversed(Severity) if counts[each])


def _waiting(known: ServerState) -> WaitingServer | None:
    if known.upstream.standing is UpstreamStanding.BLOCKED:
        return None
    reviewed = known.upstream.standing is UpstreamStanding.APPROVED
    sent_away = not reviewed and not known.upstream.waits
    every = (pin for _, pin in sorted(known.pins.items()) if pin.waits)
    readable = (pin for pin in every if pin.listed is not None or not sent_away)  # nobody can answer for the others
    pins, left = tuple(readable), _unread(known)
    if not pins and not left and (reviewed or sent_away):
        return None
    found = [known.found.at(pin) for pin in pins] if reviewed else [each for _, each in known.findings_by_part()]
    counts = Counter(dict(severities(found)))
    for each in left:
        counts.update(dict(each.severities))
    worst_first = tuple((each.value, counts[each.value]) for each in reversed(Severity) if counts[each.value])
    return WaitingServer(known, pins, reviewed, worst_first, left)


def _unread(known: ServerState) -> tuple[UnreadApproval, ...]:
    return tuple(
        UnreadApproval(key, rules, _of_rules(known.launch_findings if key is None else known.findings_in(key), rules))
        for key, rules in known.unread_approvals().items()
    )


def _of_rules(found: InspectionFindings, rules: frozenset[str]) -> Counts:
    return _counts(Counter(each.severity for each in found.findings if each.grave and each.rule in rules))


def _urgency(waiting: WaitingServer) -> tuple[int, ...]:
    counts = dict(waiting.severities)
    return tuple(-counts.get(each.value, 0) for each in reversed(Severity))
