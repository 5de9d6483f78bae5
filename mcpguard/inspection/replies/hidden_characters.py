"""Detects characters in replies that are invisible to a person or that control a terminal.

Rules kept here:
1. The characters are the same as in definitions (`detectors.hidden_text`), except for those common in ordinary text:
   terminal colours, page breaks, byte order marks, and the zero-width spaces with which some scripts and many web pages
   mark where a line may break.
2. Emoji, flags, and the joiners that scripts need are left unchanged.
3. A text is inspected in blocks of bounded size (`reply_findings.BLOCK`).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import Final

from mcpguard.domain.findings import Evidence, Finding, Severity
from mcpguard.inspection.detectors.hidden_text import is_suspicious, rule_broken_by
from mcpguard.inspection.rules.rule_table import DetectorRule
from mcpguard.text.visible import visible

_ZERO_WIDTH: Final = "\u200b"
_BROKEN_BY_IT: Final = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF))
"""Thai and Lao, Burmese, Khmer: they have no blanks between words."""
_COLOURS: Final = re.compile(r"\x1b\[(?!(?:[0-9;]*;)?8m)[0-9;]*[mK]")
_ORDINARY: Final = frozenset("\f\v\b\ufeff\u200e\u200f\u061c\u00ad")
_MANY: Final = {"hidden.tags": 4, "hidden.bidi": 1, "hidden.zero_width": 4, "hidden.control": 1}
"""How many of a kind a block has to have for a finding."""
PRINTABLE: Final = bytes(range(0x20, 0x7F)) + b"\n\t\r"
"""The printable characters of ASCII, and what ends and indents lines."""
_HARD: Final = frozenset({"hidden.tags"})


def may_hide(block: str) -> bool:
    """Tell whether a block has characters that may hide something."""
    if block.isascii() and not block.encode().translate(None, PRINTABLE):  # most texts, at a tenth of the time
        return False
    return any(map(is_suspicious, set(block)))


def find_hidden(block: str) -> Iterator[Finding]:
    """Yield a finding for each kind of hidden characters that is no accident."""
    plain = _COLOURS.sub("", block) if "\x1b" in block else block
    counts, rules = Counter[str](), dict[str, DetectorRule]()
    for _, char, rule in _every(plain):
        if char not in _ORDINARY:
            rules[rule.id] = rule
            counts[rule.id] += 1
    for name, times in counts.items():
        if times >= _MANY.get(name, times + 1):
            rule = rules[name]
            severity = rule.severity if name in _HARD else Severity.MEDIUM
            yield Finding(name, "T11", severity, rule.confidence, name in _HARD, rule.title, Evidence("", 0, 0))


def show_hidden(block: str) -> tuple[str, int]:
    """Return the text with every hidden character written as its code point, and how many those were."""
    parts, after, times = list[str](), 0, 0
    for at, char, _ in _every(block):
        parts += (block[after:at], visible(char))
        after, times = at + 1, times + 1
    return ("".join([*parts, block[after:]]), times) if times else (block, 0)


def _every(block: str) -> Iterator[tuple[int, str, DetectorRule]]:
    doubtful = frozenset(filter(is_suspicious, set(block)))
    if not doubtful:
        return
    right_to_left = any(unicodedata.bidirectional(char) in {"R", "AL"} for char in set(block))
    for at, char in enumerate(block):
        if char not in doubtful or (right_to_left and char in "\u200e\u200f\u061c"):
            continue
        if char == _ZERO_WIDTH and _breaks(block[at - 1 : at] or block[at + 1 : at + 2]):
            continue
        rule = rule_broken_by(block[max(0, at - 8) : at + 9], min(at, 8), char)
        if rule is not None:
            yield at, char, rule


def _breaks(char: str) -> bool:
    return bool(char) and any(first <= ord(char) <= last for first, last in _BROKEN_BY_IT)
