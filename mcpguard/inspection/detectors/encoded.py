"""What a text decodes to: commands and orders that a person does not see and a model can read (T4).

What was decoded is looked at by the detectors that look for what is said. Whatever they find there, and not in the text
as it stands, was hidden by encoding it.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from mcpguard.domain.findings import Finding, Severity
from mcpguard.inspection.detectors.detector import Detector, DetectorRule, Surroundings
from mcpguard.inspection.texts.decoding import layers
from mcpguard.inspection.texts.texts import DefinitionTexts, Text

_ORDER: Final = DetectorRule(
    "encoded.order", "T4", Severity.CRITICAL, 0.95, "It decodes to an order or a command", hard=True
)
_TEXT: Final = DetectorRule("encoded.text", "T4", Severity.LOW, 0.2, "It decodes to readable text")
_LEAST: Final = 0.2
_MOST: Final = 60
_WHOLE: Final = frozenset({"percent", "entities", "joined words"})
"""What is used in honest text as well, so that it is no sign by itself."""


def decoding(said: tuple[Detector, ...]) -> Detector:
    """The detector that lets these look at what was decoded."""

    def find(subject: DefinitionTexts, surroundings: Surroundings) -> Iterator[Finding]:
        left = _MOST
        for text in subject.texts:
            for layer in layers(text):
                left -= 1
                if left < 0:
                    return
                yield from _of(subject, surroundings, text, layer)

    def _of(subject: DefinitionTexts, surroundings: Surroundings, text: Text, layer: Text) -> Iterator[Finding]:
        evidence = layer.at(0, 0)
        decoded = _found(replace(subject, texts=(layer,)), surroundings)
        if decoded - (_found(replace(subject, texts=(text,)), surroundings) if decoded else set()):
            yield _ORDER.at(evidence)
        elif layer.layer not in _WHOLE:
            yield _TEXT.at(evidence)

    def _found(subject: DefinitionTexts, surroundings: Surroundings) -> set[str]:
        return {found.rule for each in said for found in each.find(subject, surroundings) if found.confidence >= _LEAST}

    return Detector((_ORDER, _TEXT), find)
