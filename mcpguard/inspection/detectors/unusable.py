"""Schemas that nothing can be checked against: too large, too heavy, about themselves, or leading elsewhere (T27).

To make patterns ready takes long, and nothing else goes on meanwhile. Whoever looks at much decides how often that is
done (`by_patterns`).
"""

from collections.abc import Iterator, Mapping
from typing import Final

from mcpguard.domain.findings import Evidence, Finding, Severity
from mcpguard.inspection.detectors.detector import Detector, DetectorRule, Surroundings
from mcpguard.inspection.texts.texts import DefinitionTexts
from mcpguard.policy.arguments.schemas import is_usable

_ARGUMENTS: Final = DetectorRule(
    "schema.arguments", "T27", Severity.LOW, 0.05, "Its schema cannot be used, so every call of it is refused"
)
_RESULT: Final = DetectorRule(
    "schema.result", "T27", Severity.LOW, 0.05, "Its schema of results cannot be used, so they are not compared with it"
)
_RULES: Final = {"inputSchema": _ARGUMENTS, "outputSchema": _RESULT}


def _find(subject: DefinitionTexts, _surroundings: Surroundings) -> Iterator[Finding]:
    for member, rule in _RULES.items():
        if is_usable(subject.definition.get(member), with_patterns=False) is False:
            yield rule.at(Evidence(f"/{member}", 0, 0))


def depends_on_patterns(definition: Mapping[str, object]) -> bool:
    """Whether it can only be told by its patterns whether a schema of it can be used."""
    return any(is_usable(definition.get(member), with_patterns=False) is None for member in _RULES)


def by_patterns(definition: Mapping[str, object]) -> Iterator[Finding]:
    """What its patterns say of that."""
    for member, rule in _RULES.items():
        schema = definition.get(member)
        undecided = is_usable(schema, with_patterns=False) is None
        if undecided and is_usable(schema, with_patterns=True) is False:
            yield rule.at(Evidence(f"/{member}", 0, 0))


DETECTOR: Final = Detector((_ARGUMENTS, _RESULT), _find)
