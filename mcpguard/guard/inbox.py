"""What waits for a person: servers that are new or different, and capabilities that changed since they were approved.

It is looked at for every page, so what has not changed is not counted again.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from mcpguard.domain.decisions import Key
from mcpguard.domain.findings import Inspected, Severity
from mcpguard.domain.pins import Pin
from mcpguard.domain.standing import UpstreamStanding
from mcpguard.domain.upstreams import Upstream
from mcpguard.guard.finding import Found
from mcpguard.guard.known import Known, Registry


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits of one server. `pins`: what of it, `reviewed`: whether the server itself is trusted and only those
    wait; `severities`: how many findings of each severity there are in what waits, the worst first."""

    known: Known
    pins: tuple[Pin, ...]
    reviewed: bool
    severities: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Tally:
    """How many servers there are, how many things wait, and in how much there is something flagged."""

    all: int
    waiting: int
    flagged: int


_Rests = tuple[Upstream, Mapping[Key, Pin], Found]


class Inbox:
    """Says what waits."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._counted: WeakKeyDictionary[Known, tuple[_Rests, Waiting | None, int]] = WeakKeyDictionary()

    def every(self) -> list[Waiting]:
        """By server, the worst first."""
        found = [waiting for known in self._registry if (waiting := self._looked(known)[0]) is not None]
        return sorted(found, key=_urgency)

    def tally(self) -> Tally:
        looked = [self._looked(known) for known in self._registry]
        waiting = sum(len(each.pins) if each.reviewed else 1 for each, _ in looked if each is not None)
        return Tally(len(looked), waiting, sum(flagged for _, flagged in looked))

    def _looked(self, known: Known) -> tuple[Waiting | None, int]:
        rests: _Rests = known.upstream, known.pins, known.found
        before = self._counted.get(known)
        if before is not None and all(one is other for one, other in zip(before[0], rests, strict=True)):
            return before[1], before[2]
        waiting = _waiting(known)
        flagged = sum(each.flagged for each in known.every())
        self._counted[known] = rests, waiting, flagged
        return waiting, flagged


def severities(found: Collection[Inspected]) -> tuple[tuple[str, int], ...]:
    """How many findings of each severity, the worst first."""
    counts = Counter(finding.severity for each in found for finding in each.findings)
    return tuple((each.value, counts[each]) for each in reversed(Severity) if counts[each])


def as_json(waiting: Waiting) -> dict[str, Any]:
    """Without what can be asked for by name."""
    return {
        "server": waiting.known.name,
        "reviewed": waiting.reviewed,
        "capabilities": [{"kind": pin.kind.value, "name": pin.name} for pin in waiting.pins],
        "severities": dict(waiting.severities),
    }


def _waiting(known: Known) -> Waiting | None:
    if known.upstream.standing is UpstreamStanding.BLOCKED:
        return None
    reviewed = known.upstream.standing is UpstreamStanding.APPROVED
    sent_away = not reviewed and not known.upstream.waits
    every = (pin for _, pin in sorted(known.pins.items()) if pin.waits)
    readable = (pin for pin in every if pin.listed is not None or not sent_away)  # nobody can answer for the others
    pins = tuple(readable)
    if not pins and (reviewed or sent_away):
        return None
    found = list(_found(known, pins)) if reviewed else list(known.every())
    return Waiting(known, pins, reviewed, severities(found))


def _found(known: Known, pins: Collection[Pin]) -> Iterator[Inspected]:
    for pin in pins:
        yield known.found.at(pin)


def _urgency(waiting: Waiting) -> tuple[int, ...]:
    counts = dict(waiting.severities)
    return tuple(-counts.get(each.value, 0) for each in reversed(Severity))
