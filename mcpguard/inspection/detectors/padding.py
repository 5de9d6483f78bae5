"""Detects whitespace that pushes text out of view (T3), and long unreadable runs of characters (T4)."""

import re
from collections.abc import Iterator
from typing import Final

from mcpguard.domain.findings import Finding
from mcpguard.inspection.detectors.detector import Detector, Surroundings
from mcpguard.inspection.rules.rule_table import RULES
from mcpguard.inspection.texts.texts import DefinitionTexts

_ROOM: Final = RULES["padding.room"]
_BLOB: Final = RULES["padding.blob"]
_LINES: Final = 12
_BLANKS: Final = 80
_GAP: Final = re.compile(r"\s{20,}+")
_RUN: Final = re.compile(r"[A-Za-z0-9+/=_%\\-]{120,}+")


def _find(subject: DefinitionTexts, _surroundings: Surroundings) -> Iterator[Finding]:
    for text in subject.texts:
        if len(text.raw) < _LINES:
            continue
        for match in _GAP.finditer(text.raw):
            longest = max(map(len, match[0].split("\n")))
            between = match.start() > 0 and match.end() < len(text.raw)
            if between and (match[0].count("\n") >= _LINES or longest >= _BLANKS):
                yield _ROOM.finding_at(text.evidence_at(*match.span()))
                break
        if (run := _RUN.search(text.raw)) and len(set(run[0])) > 12:
            yield _BLOB.finding_at(text.evidence_at(*run.span()))


DETECTOR: Final = Detector((_ROOM, _BLOB), _find)
