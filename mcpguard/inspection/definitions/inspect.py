"""Inspects a definition with every detector, and combines their findings into a risk score.

Rules kept here:
1. Findings are advisory. With or without findings, a new or changed definition needs approval.
2. The risk is the probability that at least one broken rule is right, treating rules as independent. A rule that is
   broken several times counts once. A single hard finding is enough to flag a definition.
3. Rules and the comparison with attacks know different things. Where both find something, a high finding is critical,
   and what resembles attacks far more than is reported is critical without a rule.
   Where a few words alone would flag a definition in which the comparison finds nothing, they count half.
   Where several signs come together, the worst finding is critical.
4. The work is bounded whatever the definition contains, and a part that was not inspected is reported as a finding.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Final

from mcpguard.domain.findings import FLAGGED, Finding, InspectionFindings, Severity, finding_weight
from mcpguard.inspection.detectors.detector import Surroundings
from mcpguard.inspection.detectors.detector_table import DEFINITION_DETECTORS
from mcpguard.inspection.detectors.resemblance import RESEMBLES, unlike_attacks
from mcpguard.inspection.resemblance.published_attacks import DEFINITIONS
from mcpguard.inspection.rules.rule_table import RULES, DetectorRule
from mcpguard.inspection.texts.texts import read_texts

_CUT: Final = RULES["inspection.cut"]
_MOST: Final = 100
"""How many findings of a definition are returned; the worst come first."""
_SURE: Final = 80
"""The risk from which on a definition is flagged although the comparison finds nothing in it."""
_TOGETHER: Final = 70
"""The risk from which on a definition has a critical finding, if none of its findings is as likely by itself."""
NO_SURROUNDINGS: Final = Surroundings()


def all_rules() -> tuple[DetectorRule, ...]:
    """Return every rule for definitions, in the order in which they are applied."""
    return (*(rule for detector in DEFINITION_DETECTORS for rule in detector.rules), _CUT)


def inspect_definition(
    definition: Mapping[str, object], surroundings: Surroundings = NO_SURROUNDINGS
) -> InspectionFindings:
    """Return the findings in a definition and its risk.

    `definition` is a tool, resource, template or prompt. A server's instructions come as `{"instructions": …}`.
    """
    read = read_texts(definition)
    found = [each for detector in DEFINITION_DETECTORS for each in detector.find(read, surroundings)]
    doubtful = surroundings.compared and _rests_on_words(found) and unlike_attacks(read.texts, DEFINITIONS)
    findings = list(map(_doubted, found)) if doubtful else _agreeing(found)
    risk = combined_risk(findings)
    worst = sorted(findings, key=finding_weight, reverse=True)[:_MOST]
    if risk >= _TOGETHER > 100 * max(each.confidence for each in findings):
        worst[0] = replace(worst[0], severity=Severity.CRITICAL)
    return InspectionFindings((*worst, *([_CUT.finding_at(read.cut)] if read.cut else ())), risk)


def _agreeing(findings: Sequence[Finding]) -> Sequence[Finding]:
    """Return the findings; high ones are critical if the definition also resembles attacks, and not by a quotation."""
    if not any(each.rule == RESEMBLES.id and each.severity.rank >= RESEMBLES.severity.rank for each in findings):
        return findings
    high = Severity.HIGH
    return [replace(each, severity=Severity.CRITICAL) if each.severity is high else each for each in findings]


def _rests_on_words(findings: Sequence[Finding]) -> bool:
    """Tell whether a definition is flagged, though not surely, and would not be without words of honest texts."""
    if any(each.hard for each in findings) or not FLAGGED <= combined_risk(findings) < _SURE:
        return False
    return combined_risk(each for each in findings if not _goes_by_words(each)) < FLAGGED


def _doubted(finding: Finding) -> Finding:
    """Return a finding with half its weight, and one severity lower, if it goes by words that honest texts have too."""
    if not _goes_by_words(finding):
        return finding
    lower = finding.severity.next_lower
    return replace(finding, severity=lower, confidence=finding.confidence / 2)


def _goes_by_words(finding: Finding) -> bool:
    rule = RULES.get(finding.rule)
    return rule is not None and rule.words


def combined_risk(findings: Iterable[Finding]) -> int:
    """Return the risk of these findings together, from 0 to 100."""
    worst: dict[str, float] = {}
    for finding in findings:
        worst[finding.rule] = max(finding.confidence, worst.get(finding.rule, 0.0))
    return round(100 * (1 - prod(1 - confidence for confidence in worst.values())))
