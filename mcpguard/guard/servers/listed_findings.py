"""The inspection findings in a server's listing and launch, as the guard keeps them.

Rules kept here:
1. A definition that the same detectors have inspected in the same surroundings is not inspected again, not even after a
   restart: repeating a listing every minute costs nothing.
2. The work is done in portions, so that a server with a long listing delays no other.
3. Whether patterns can be compiled is tried for only a few definitions of a listing; for the rest, calls find out.
4. A failure of the inspection itself is a finding, and stops nothing.
5. The findings kept of each definition are bounded; the first of every rule comes before a second of any.
6. A definition that cannot be read has no findings: it cannot be approved.
7. Findings belong to the fingerprint of a definition, so another definition never has those of an earlier one.

Kept findings are trusted as far as the approvals beside them in the same database, and no further. An attacker who can
write there could approve anything, so a seal on findings would keep nobody out; and no call is judged by them.
"""

import traceback
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from hashlib import sha256
from typing import Any, Final

import structlog

from mcpguard.codec.canonical import Scalar
from mcpguard.domain.capabilities import CapabilityKind, Fingerprint
from mcpguard.domain.decisions import CapabilityKey
from mcpguard.domain.findings import Evidence, Finding, InspectionFindings, finding_weight
from mcpguard.domain.servers.launches import Launch
from mcpguard.domain.servers.listings import INSTRUCTIONS, Listing
from mcpguard.domain.servers.pins import Pin
from mcpguard.guard.servers.detector_version import detector_version
from mcpguard.inspection.definitions.inspect import combined_risk, inspect_definition
from mcpguard.inspection.definitions.launches import inspect_launch
from mcpguard.inspection.detectors.detector import Since, Surroundings
from mcpguard.inspection.detectors.unusable_schemas import depends_on_patterns, find_unusable_patterns
from mcpguard.inspection.rules.rule_table import RULES
from mcpguard.policy.reconciliation import ReadListing, named_definitions

MOST_KEPT: Final = 20
MOST_RULES: Final = 20
"""Rules that one record names."""
PORTION: Final = 32
"""Definitions: some 15 ms of ordinary ones, and 3 s of the worst that there may be."""
MOST_TRIED: Final = 20
"""Definitions of one listing whose patterns are made ready to find out whether they can be used: 50 ms at worst."""
NOTHING: Final = InspectionFindings((), 0)
FAILED: Final = RULES["inspection.failed"]
log = structlog.get_logger("mcpguard.guard")


@dataclass(frozen=True)
class ListedFindings:
    """The findings in what a server lists, by capability, and what they depend on.

    `of` has only capabilities with findings; `looked` all that were inspected. `rests_on` is a digest of the detectors
    and of the other tools with which all of it was inspected; empty where that is unknown, or was not the same for all.
    """

    of: Mapping[CapabilityKey, InspectionFindings] = field(default_factory=dict)
    looked: Mapping[CapabilityKey, Fingerprint] = field(default_factory=dict)
    rests_on: bytes = b""

    def at(self, pin: Pin) -> InspectionFindings:
        """The findings in a capability as it is listed now; none where it is no longer listed."""
        key = (pin.kind, pin.name)
        known = pin.listed is not None and self.looked.get(key) == pin.listed
        return self.of.get(key, NOTHING) if known else NOTHING

    @cached_property
    def kept_digest(self) -> bytes:
        """What `rests_on` is after a restart: empty where inspection has failed, so that it is tried again then."""
        failed = any(finding.rule == FAILED.id for each in self.of.values() for finding in each.findings)
        return b"" if failed else self.rests_on

    @cached_property
    def grave(self) -> frozenset[CapabilityKey]:
        """The capabilities with grave findings, which a reviewer has to read before approving them."""
        return frozenset(key for key, each in self.of.items() if each.grave)

    @cached_property
    def summary(self) -> Mapping[str, Scalar]:
        """The findings in bounded form, as they are recorded: how many definitions have some, and of which rules."""
        every = self.of.values()
        return {
            "findings": len(every),
            "hard": sum(each.hard for each in every),
            "grave": len(self.grave),
            "risk": max((each.risk for each in every), default=0),
            **rule_fields(every),
        }


@dataclass(frozen=True, slots=True)
class OtherTools:
    """The tools of all other servers, since when they and this server's own are there, and a digest of all that.

    `compared`: whether definitions are compared with published attacks as well.
    """

    others: Mapping[str, frozenset[str]] = field(default_factory=dict)
    since: Mapping[str, Mapping[str, Since]] | None = None
    digest: bytes = b""
    compared: bool = True


def resting_on(beside: OtherTools, own: frozenset[str]) -> bytes:
    """Return a digest of what findings rest on besides definitions. `own`: the names of the server's own tools."""
    compared = b"" if beside.compared else b"not compared"
    return sha256(detector_version() + beside.digest + names_digest(own) + compared).digest()


class ListingInspection:
    """Inspects a listing, portion by portion.

    `patient` are the capabilities whose earlier findings may stand for now, although they rest on something else, if
    they are listed as they were then.
    """

    def __init__(
        self,
        server: str,
        listing: Listing,
        said: ReadListing,
        beside: OtherTools,
        before: ListedFindings,
        patient: Collection[CapabilityKey] = (),
    ) -> None:
        self._before = before
        self._tries = MOST_TRIED
        own = frozenset(name for kind, name in said.found if kind is CapabilityKind.TOOL)
        self._prints = {key: fingerprint for key, (fingerprint, _) in said.found.items() if fingerprint is not None}
        self._surroundings = Surroundings(server, own, beside.others, beside.since, beside.compared)
        self._rests_on = resting_on(beside, own)
        # Findings depend on the detectors and on other servers' tools, too. Where these have changed, everything is
        # inspected again.
        current = before.rests_on == self._rests_on
        as_before = {key for key, each in self._prints.items() if before.looked.get(key) == each}
        settled = as_before if current else as_before.intersection(patient)
        self.overdue = frozenset(() if current else settled)
        self._of = {key: found for key, found in before.of.items() if key in settled}
        left = self._prints.keys() - settled
        self.inspected = len(left)
        every = named_definitions(listing, Counter()) if left else ()
        self._left = [*{(kind, name): said for kind, name, said in every if (kind, name) in left}.items()]

    @property
    def is_done(self) -> bool:
        return not self._left

    def look(self) -> None:
        """Inspect the next portion."""
        some, self._left = self._left[:PORTION], self._left[PORTION:]
        for key, definition in some:
            found, before = self._looked_at(definition), self._before.of.get(key)
            if found.findings:
                self._of[key] = before if before is not None and found == before else found

    def _looked_at(self, definition: object) -> InspectionFindings:
        found = definition_findings(definition, self._surroundings)
        if not self._tries or not isinstance(definition, dict) or not depends_on_patterns(definition):
            return found
        self._tries -= 1
        more = (*found.findings, *find_unusable_patterns(definition))
        return found if len(more) == len(found.findings) else InspectionFindings(_kept(more), combined_risk(more))

    def result(self) -> ListedFindings:
        """All findings, with what is computed of all of them: where there are many, that takes long too."""
        # Where some rest on something else than the others, no digest stands for all of them.
        mixed = b"" if self.inspected else self._before.rests_on
        found = ListedFindings(self._of, self._prints, mixed if self.overdue else self._rests_on)
        assert found.summary  # noqa: S101 - made here, and not where others wait
        assert found.kept_digest is not None  # noqa: S101 - likewise
        return found


def findings_to_store(
    before: ListedFindings, now: ListedFindings, pins: Mapping[CapabilityKey, Pin], news: Collection[str]
) -> Iterator[tuple[str, Fingerprint, InspectionFindings]]:
    """The findings that the store does not have yet. `news`: capabilities whose definition is stored along with
    them."""
    for key, fingerprint in now.looked.items():
        found, then, pin = now.of.get(key, NOTHING), before.of.get(key, NOTHING), pins[key].id
        same = before.looked.get(key) == fingerprint and (found is then or found == then)
        if found.findings if pin in news else not same:
            yield pin, fingerprint, found


def definition_findings(definition: object, surroundings: Surroundings) -> InspectionFindings:
    """Inspect a definition, or the text of instructions."""
    whole: Mapping[str, Any] = definition if isinstance(definition, dict) else {INSTRUCTIONS: definition}
    return _safely(partial(inspect_definition, whole, surroundings))


def launch_findings(launch: Launch) -> InspectionFindings:
    def look() -> InspectionFindings:
        found = inspect_launch(launch)
        return InspectionFindings(found, combined_risk(found))

    return _safely(look)


def rule_fields(every: Iterable[InspectionFindings]) -> dict[str, Scalar]:
    """The ids of the rules of these findings as record fields, in order; if they are many, the worst of them."""
    worst: dict[str, Finding] = {}
    for found in (found for each in every for found in each.findings):
        before = worst.setdefault(found.rule, found)
        if before is not found and finding_weight(found) > finding_weight(before):
            worst[found.rule] = found
    named = sorted(worst, key=lambda rule: finding_weight(worst[rule]), reverse=True)[:MOST_RULES]
    said: dict[str, Scalar] = {"rules": " ".join(sorted(named))} if named else {}
    return said | ({"more_rules": len(worst) - len(named)} if len(worst) > len(named) else {})


def names_digest(names: Iterable[str]) -> bytes:
    return sha256("\0".join(sorted(names)).encode("utf-8", "surrogatepass")).digest()


def _safely(look: Callable[[], InspectionFindings]) -> InspectionFindings:
    try:
        found = look()
    except Exception as error:  # noqa: BLE001 - said in a line, without a traceback that holds the definition
        place = traceback.extract_tb(error.__traceback__)[-1]
        log.error("inspection.failed", error=type(error).__name__, at=f"{place.filename}:{place.lineno}")
        failed = FAILED.finding_at(Evidence("", 0, 0))
        return InspectionFindings((failed,), combined_risk((failed,)))
    return InspectionFindings(_kept(found.findings), found.risk)


def _kept(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    if len(findings) <= MOST_KEPT:
        return findings
    # One finding of each rule comes first: many of a harmless rule must not push a grave one out.
    first = {each.rule: at for at, each in reversed([*enumerate(findings)])}
    others = (at for at in range(len(findings)) if at not in first.values())
    chosen = {*sorted(first.values())[:MOST_KEPT], *[*others][: max(MOST_KEPT - len(first), 0)]}
    return tuple(each for at, each in enumerate(findings) if at in chosen)
