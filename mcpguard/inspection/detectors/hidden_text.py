"""Detects characters that are invisible to a person, or that display text in a different order than it is read (T3).

Emoji, flags, and the joiners that some scripts need are allowed where they belong. Marks that are common in pasted text
weigh little: a single zero-width space at the end of a line is not an attack.
"""

import unicodedata
from collections.abc import Iterator
from typing import Final

from mcpguard.domain.findings import Finding
from mcpguard.inspection.detectors.detector import Detector, Surroundings
from mcpguard.inspection.rules.rule_table import RULES, DetectorRule
from mcpguard.inspection.texts.texts import DefinitionTexts, Text
from mcpguard.text.visible import BLANK_LETTERS

_TAGS: Final = RULES["hidden.tags"]
_BIDI: Final = RULES["hidden.bidi"]
_WITHIN: Final = RULES["hidden.zero_width"]
_CONTROL: Final = RULES["hidden.control"]
_PRIVATE: Final = RULES["hidden.private_use"]
_HYPHENS: Final = RULES["hidden.hyphens"]
_EDGE: Final = RULES["hidden.edge"]

_BLACK_FLAG: Final = "\U0001f3f4"
_CANCEL: Final = "\U000e007f"
_OVERRIDES: Final = frozenset("\u202a\u202b\u202d\u202e\u202c\u2066\u2067\u2068\u2069")
_MARKS: Final = frozenset("\u200e\u200f\u061c")
_SOFT_HYPHEN: Final = "\u00ad"
_UNSEEN: Final = frozenset({"Cf", "Cc", "Co", "Cs", "Zl", "Zp"})
_JOINERS: Final = "\u200c\u200d"
_MANY: Final = 4
"""How many soft hyphens are no accident."""
_BREAKS: Final = "\n\t\r"
_ESCAPES: Final = "\a\b\f\v"
"""What a path with backslashes turns into where somebody forgot to double them: `C:\file` has a form feed."""
_MOST: Final = 4_000
"""How many hidden characters are judged in one string."""


def _find(subject: DefinitionTexts, _surroundings: Surroundings) -> Iterator[Finding]:
    for text in subject.texts:
        if text.raw.isascii() and (text.raw.isprintable() or not _controls(text.raw)):
            continue
        seen: set[str] = set()
        for at, rule in _hidden(text):
            if rule.id not in seen:
                seen.add(rule.id)
                yield rule.finding_at(text.evidence_at(at, at + 1))


def _controls(raw: str) -> bool:
    return any((char < " " and char not in _BREAKS) or char == "\x7f" for char in set(raw))


def _hidden(text: Text) -> Iterator[tuple[int, DetectorRule]]:
    doubtful = frozenset(filter(is_suspicious, set(text.raw)))
    if not doubtful:
        return
    if text.raw.count(_SOFT_HYPHEN) >= _MANY or _SOFT_HYPHEN * 2 in text.raw:
        yield text.raw.index(_SOFT_HYPHEN), _HYPHENS
    times = 0
    for at, char in enumerate(text.raw):
        if char in doubtful and (rule := rule_broken_by(text.raw, at, char)):
            yield at, rule
            times += 1
            if times >= _MOST:
                return


def is_suspicious(char: str) -> bool:
    """Tell whether the character may hide something, depending on where it stands."""
    if char.isascii():
        return (char < " " and char not in _BREAKS) or char == "\x7f"
    return unicodedata.category(char) in _UNSEEN or _selects(char) or char in BLANK_LETTERS


def rule_broken_by(raw: str, at: int, char: str) -> DetectorRule | None:
    """Return the rule that the suspicious character breaks at this place; None where it belongs there."""
    before, after = raw[at - 1] if at else "", raw[at + 1 : at + 2]
    if "\U000e0000" <= char <= "\U000e007f":
        return None if _in_flag(raw, at) else _TAGS
    if _selects(char):
        return _TAGS if _selects(before) or (before.isascii() and before.isalpha()) else None
    if char in _MARKS:
        return None if _right_to_left(raw) else _EDGE
    if char in _JOINERS and _joins(before, after):
        return None
    return _BIDI if char in _OVERRIDES else _of_category(char, before, after)


def _of_category(char: str, before: str, after: str) -> DetectorRule:
    category = unicodedata.category(char)
    if char in _ESCAPES and _in_word(before) and _in_word(after):
        return _EDGE
    if category in {"Cc", "Cs"}:
        return _CONTROL
    if category == "Co":
        return _PRIVATE
    at_edge = not before or not after or after in _BREAKS
    return _EDGE if char == _SOFT_HYPHEN or at_edge else _WITHIN


def _in_word(char: str) -> bool:
    return char.isalnum() or char in {"_", ":"}


def _selects(char: str) -> bool:
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def _in_flag(raw: str, at: int) -> bool:
    """Tell whether a tag belongs to the flag of a region: a black flag with at most six tags."""
    start = raw.rfind(_BLACK_FLAG, max(0, at - 7), at)
    return start >= 0 and _CANCEL in raw[start : start + 8]


def _joins(before: str, after: str) -> bool:
    """Tell whether a joiner belongs there: between emoji, and in scripts whose letters join."""
    return all(
        char
        and ((ord(char) > 0x2190 and unicodedata.category(char) in {"So", "Sk", "Mn"}) or 0x0590 <= ord(char) <= 0x0E00)
        for char in (before, after)
    )


def _right_to_left(raw: str) -> bool:
    return any(unicodedata.bidirectional(char) in {"R", "AL"} for char in set(raw))


DETECTOR: Final = Detector((_TAGS, _BIDI, _WITHIN, _CONTROL, _PRIVATE, _HYPHENS, _EDGE), _find)
