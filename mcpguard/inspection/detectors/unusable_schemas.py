"""Detects schemas that nothing can be validated against: too large, too costly, self-defining, or remote (T27).

Compiling the patterns of a schema is slow and blocks every thread. The detector therefore ignores patterns, and a
caller that inspects many definitions decides how often to check them (`find_unusable_patterns`).
"""

from collections.abc import Iterator, Mapping
from typing import Final

from mcpguard.domain.findings import Evidence, Finding
from mcpguard.inspection.detectors.detector import Detector, Surroundings
from mcpguard.inspection.rules.rule_table import RULES
from mcpguard.inspection.texts.texts import DefinitionTexts
from mcpguard.policy.arguments.schemas import is_usable

_ARGUMENTS: Final = RULES["schema.arguments"]
_RESULT: Final = RULES["schema.result"]
_RULES: Final = {"inputSchema": _ARGUMENTS, "outputSchema": _RESULT}


def _find(subject: DefinitionTexts, _surroundings: Surroundings) -> Iterator[Finding]:
    for member, rule in _RULES.items():
        if is_usable(subject.definition.get(member), with_patterns=False) is False:
            yield rule.finding_at(Evidence(f"/{member}", 0, 0))


def depends_on_patterns(definition: Mapping[str, object]) -> bool:
    """Tell whether only the patterns decide if a schema of this definition can be used."""
    return any(is_usable(definition.get(member), with_patterns=False) is None for member in _RULES)


def find_unusable_patterns(definition: Mapping[str, object]) -> Iterator[Finding]:
    """Yield a finding for each schema that cannot be used because of its patterns."""
    for member, rule in _RULES.items():
        schema = definition.get(member)
        undecided = is_usable(schema, with_patterns=False) is None
        if undecided and is_usable(schema, with_patterns=True) is False:
            yield rule.finding_at(Evidence(f"/{member}", 0, 0))


DETECTOR: Final = Detector((_ARGUMENTS, _RESULT), _find)
