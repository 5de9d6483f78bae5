"""Detects markup that a person does not see but a model reads: comments, hiding styles, images that leak data (T3)."""

import re
from collections.abc import Iterator
from typing import Final

from mcpguard.domain.findings import Finding
from mcpguard.inspection.detectors.detector import Detector, Surroundings
from mcpguard.inspection.rules.rule_table import RULES
from mcpguard.inspection.texts.texts import DefinitionTexts, Text

_COMMENT: Final = RULES["markup.comment"]
_STYLE: Final = RULES["markup.style"]
_IMAGE: Final = RULES["markup.image"]
_COMMENTS: Final = re.compile(r"<!--(.{8,2000}?)-->|\[//\]: # ?\(([^)\n]{8,400}+)\)|/\*(.{8,400}?)\*/", re.DOTALL)
_STYLES: Final = re.compile(
    r"display:\s?none|visibility:\s?hidden|font-size:\s?0|opacity:\s?0[^.]|color:\s?(?:white|transparent|#fff)\b"
    r"|<details hidden"
)
_IMAGES: Final = re.compile(r"(?:!\[[^\]\n]{0,80}\]\(|<img[^>\n]{0,80}?src=['\"]?)https?://[^)\s>]{1,200}?[=/][<{$%\[]")
_FILLED: Final = re.compile(
    r"https?://[^\s)>]{1,200}?[=/][<{$%\[]{1,2}(?:secret|conversation|chat|history|prompt|password|env|credential|memory)"
)
_GENERATED: Final = re.compile(
    r"\b(?:do not|don't|never) (?:edit|modify|change|remove)(?: (?:this|it|by hand|manually|here))*"
)
"""What generators say to people of the text that they wrote."""
_ORDERS: Final = ("MUST", "SEND", "READ", "CALL", "CARRY", "MODEL", "NEVER", "BEFORE", "IGNORE", "GIVE")
_LEAST: Final = 2
"""How many of these meanings a comment has that gives an order."""


def _find(subject: DefinitionTexts, _surroundings: Surroundings) -> Iterator[Finding]:
    for text in subject.texts:
        plain = text.raw.lower()
        if len(plain) != len(text.raw):
            plain = text.raw
        if ("<!--" in plain or "[//]" in plain or "/*" in plain) and (finding := _comment(text, plain)):
            yield finding
        if ":" in plain and "<" in plain and (match := _STYLES.search(plain)):
            yield _STYLE.finding_at(text.evidence_at(*match.span()))
        if "http" in plain and (match := _IMAGES.search(plain) or _FILLED.search(plain)):
            yield _IMAGE.finding_at(text.evidence_at(*match.span()))


def _comment(text: Text, plain: str) -> Finding | None:
    for match in _COMMENTS.finditer(plain):
        said = next(filter(None, match.groups()), "")
        meanings = Text("", _GENERATED.sub("", said)).hits
        if sum(each in meanings for each in _ORDERS) >= _LEAST:
            return _COMMENT.finding_at(text.evidence_at(*match.span()))
    return None


DETECTOR: Final = Detector((_COMMENT, _STYLE, _IMAGE), _find)
