"""What inspection finds in a definition, and how much of a risk that is.

Rules kept here:
1. To add a detector is to add a small file in `detectors` and a line to `DETECTORS`.
2. Findings advise. Whatever is found or not, a definition that is new or changed waits for a person.
3. The risk is the chance that at least one of the rules that were broken is right, as if they were independent; that a
   rule is broken many times adds nothing. What is hard is flagged by itself.
4. The work is bounded whatever the definition contains, and what was not looked at is a finding.
"""

from collections.abc import Iterable, Mapping
from math import prod
from typing import Final

from mcpguard.domain.findings import Finding, Inspected, Severity, weight
from mcpguard.inspection.detectors import (
    commands,
    contradiction,
    encoded,
    headers,
    hidden,
    lookalike,
    markup,
    mixed,
    padding,
    turns,
    unusable,
)
from mcpguard.inspection.detectors.detector import Detector, DetectorRule, Surroundings
from mcpguard.inspection.detectors.orders import (
    asking,
    consent,
    context,
    delayed,
    exfiltration,
    handing,
    overriding,
    pressure,
    priority,
    promotion,
    quiet,
    rewriting,
    safeguards,
    secrecy,
    sensitive,
    steering,
)
from mcpguard.inspection.texts.texts import subject

_SAID: Final = (
    secrecy.DETECTOR,
    overriding.DETECTOR,
    turns.DETECTOR,
    sensitive.DETECTOR,
    exfiltration.DETECTOR,
    priority.DETECTOR,
    rewriting.DETECTOR,
    steering.DETECTOR,
    consent.DETECTOR,
    quiet.DETECTOR,
    handing.DETECTOR,
    safeguards.DETECTOR,
    asking.DETECTOR,
    promotion.DETECTOR,
    pressure.DETECTOR,
    delayed.DETECTOR,
    commands.DETECTOR,
)
"""What is looked for in what a text decodes to as well."""
DETECTORS: Final[tuple[Detector, ...]] = (
    hidden.DETECTOR,
    mixed.DETECTOR,
    lookalike.DETECTOR,
    markup.DETECTOR,
    *_SAID,
    encoded.decoding(_SAID),
    context.DETECTOR,
    contradiction.DETECTOR,
    headers.DETECTOR,
    padding.DETECTOR,
    unusable.DETECTOR,
)
_CUT: Final = DetectorRule("inspection.cut", "T27", Severity.INFO, 0.0, "It is too long to be looked at whole")
_MOST: Final = 100
"""Findings of a definition that are given; the worst."""
NOTHING: Final = Surroundings()


def rules() -> tuple[DetectorRule, ...]:
    """Every rule there is, in order."""
    return (*(rule for detector in DETECTORS for rule in detector.rules), _CUT)


def inspected(definition: Mapping[str, object], surroundings: Surroundings = NOTHING) -> Inspected:
    """`definition`: a tool, resource, template or prompt; a server's instructions as `{"instructions": …}`."""
    read = subject(definition)
    found = [each for detector in DETECTORS for each in detector.find(read, surroundings)]
    worst = sorted(found, key=weight, reverse=True)[:_MOST]
    return Inspected((*worst, *([_CUT.at(read.cut)] if read.cut else ())), risk(found))


def risk(findings: Iterable[Finding]) -> int:
    worst: dict[str, float] = {}
    for found in findings:
        worst[found.rule] = max(found.confidence, worst.get(found.rule, 0.0))
    return round(100 * (1 - prod(1 - confidence for confidence in worst.values())))
