"""Detects commands and orders in encoded text, which a reviewer does not notice and a model can decode (T4).

Decoded text is passed to the other detectors. What they find only there was hidden by encoding it.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import orjson

from mcpguard.domain.findings import Finding
from mcpguard.inspection.detectors.detector import Detector, Surroundings
from mcpguard.inspection.rules.rule_table import RULES
from mcpguard.inspection.texts.decoding import layers
from mcpguard.inspection.texts.texts import DefinitionTexts, Text

_ORDER: Final = RULES["encoded.order"]
_TEXT: Final = RULES["encoded.text"]
_LEAST: Final = 0.2
_MOST: Final = 60
_CONFIGURATION: Final = frozenset({"command", "args", "env", "type", "url", "headers", "name", "transport"})
_WHOLE: Final = frozenset({"percent", "entities", "joined words"})
"""Encodings that honest text uses as well, so that they are no sign by themselves."""


def _is_configuration(raw: str) -> bool:
    """Tell whether a text is how a client starts a server, as links that add a server to an editor encode it."""
    if not raw.startswith("{"):
        return False
    try:
        read = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return False
    return isinstance(read, dict) and bool(read) and _CONFIGURATION.issuperset(read)


def decoding_detector(detectors: tuple[Detector, ...]) -> Detector:
    """Return the detector that decodes a text and passes the result to these detectors."""

    def find(subject: DefinitionTexts, surroundings: Surroundings) -> Iterator[Finding]:
        left = _MOST
        for text in subject.texts:
            for layer in layers(text):
                left -= 1
                if left < 0:
                    return
                yield from _of(subject, surroundings, text, layer)

    def _of(subject: DefinitionTexts, surroundings: Surroundings, text: Text, layer: Text) -> Iterator[Finding]:
        evidence = layer.evidence_at(0, 0)
        decoded = _found(replace(subject, texts=(layer,)), surroundings)
        if _is_configuration(layer.raw):
            decoded = {rule for rule in decoded if not rule.startswith("command.")}
        if decoded - (_found(replace(subject, texts=(text,)), surroundings) if decoded else set()):
            yield _ORDER.finding_at(evidence)
        elif layer.layer not in _WHOLE:
            yield _TEXT.finding_at(evidence)

    def _found(subject: DefinitionTexts, surroundings: Surroundings) -> set[str]:
        return {
            finding.rule
            for each in detectors
            for finding in each.find(subject, surroundings)
            if finding.confidence >= _LEAST
        }

    return Detector((_ORDER, _TEXT), find)
