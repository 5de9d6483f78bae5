"""Markup that a person does not see and a model reads: comments, styles that hide, pictures that send data (T3)."""

import re
from collections.abc import Iterator
from typing import Final

from mcpguard.domain.findings import Finding, Severity
from mcpguard.inspection.detectors.detector import Detector, DetectorRule, Surroundings
from mcpguard.inspection.texts.texts import DefinitionTexts, Text

_COMMENT: Final = DetectorRule(
    "markup.comment", "T3", Severity.MEDIUM, 0.4, "It has a comment, which is not displayed, that gives orders"
)
_STYLE: Final = DetectorRule("markup.style", "T3", Severity.MEDIUM, 0.45, "It has a style that hides text")
_IMAGE: Final = DetectorRule(
    "markup.image", "T13", Severity.HIGH, 0.6, "It has a picture or link whose address is to be filled in with data"
)
_COMMENTS: Final = re.compile(r"<!--(.{8,2000}?)-->|\[//\]: # ?\(([^)\n]{8,400}+)\)|/\*(.{8,400}?)\*/", re.DOTALL)
_STYLES: Final = re.compile(
    r"display:\s?none|visibility:\s?hidden|font-size:\s?0|opacity:\s?0[^.]|color:\s?(?:white|transparent|#fff)\b"
    r"|<details hidden"
)
_IMAGES: Final = re.compile(r"(?:!\[[^\]\n]{0,80}\]\(|<img[^>\n]{0,80}?src=['\"]?)https?://[^)\s>]{1,200}?[=/][<{$%\[]")
_FILLED: Final = re.compile(
    r"https?://[^\s)>]{1,200}?[=/][<{$%\[]{1,2}(?:secret|conversation|chat|history|prompt|password|env|credential|memory)"
)
_ORDERS: Final = ("MUST", "SEND", "READ", "CALL", "CARRY", "MODEL", "NEVER", "BEFORE", "IGNORE", "GIVE")
_LEAST: Final = 2
"""Meanings of an order in a comment that gives one."""


def _find(subject: DefinitionTexts, _surroundings: Surroundings) -> Iterator[Finding]:
    for text in subject.texts:
        plain = text.raw.lower()
        if len(plain) != len(text.raw):
            plain = text.raw
        if ("<!--" in plain or "[//]" in plain or "/*" in plain) and (found := _comment(text, plain)):
            yield found
        if ":" in plain and "<" in plain and (match := _STYLES.search(plain)):
            yield _STYLE.at(text.at(*match.span()))
        if "http" in plain and (match := _IMAGES.search(plain) or _FILLED.search(plain)):
            yield _IMAGE.at(text.at(*match.span()))


def _comment(text: Text, plain: str) -> Finding | None:
    for match in _COMMENTS.finditer(plain):
        said = Text("", next(filter(None, match.groups()), "")).hits
        if sum(each in said for each in _ORDERS) >= _LEAST:
            return _COMMENT.at(text.at(*match.span()))
    return None


DETECTOR: Final = Detector((_COMMENT, _STYLE, _IMAGE), _find)
