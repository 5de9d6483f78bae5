"""Detects annotations that claim a tool is safer than its name suggests (T10)."""

from collections.abc import Iterator
from typing import Final

from mcpguard.domain.capabilities import Effect
from mcpguard.domain.findings import Evidence, Finding
from mcpguard.inspection.detectors.detector import Detector, Surroundings
from mcpguard.inspection.rules.rule_table import RULES
from mcpguard.inspection.texts.texts import DefinitionTexts
from mcpguard.policy.effects import declared_effect, suggest_effect

_DESTROYS: Final = RULES["contradiction.destroys"]
_WRITES: Final = RULES["contradiction.writes"]


def _find(subject: DefinitionTexts, _surroundings: Surroundings) -> Iterator[Finding]:
    name = subject.definition.get("name")
    if not isinstance(name, str) or declared_effect(subject.definition) is not Effect.READ:
        return
    suggestion = suggest_effect(subject.definition)
    named = suggest_effect({"name": name}).effect
    if suggestion.effect is Effect.DESTRUCTIVE and named is Effect.DESTRUCTIVE:
        yield _DESTROYS.finding_at(Evidence("/name", 0, len(name)))
    elif suggestion.effect is Effect.WRITE and named is Effect.WRITE and "nothing" not in suggestion.because:
        yield _WRITES.finding_at(Evidence("/name", 0, len(name)))


DETECTOR: Final = Detector((_DESTROYS, _WRITES), _find)
