"""Characters in what a server answers that a person does not see, or that a terminal obeys.

Rules kept here:
1. What counts is what counts in a definition (`detectors.hidden`), but for what ordinary texts are full of: colours of
   a terminal, page breaks, marks at the beginning of a file, and the spaces without width by which some scripts and
   many web pages say where a line may be broken.
2. Emoji, flags, and the joiners that scripts need are left as they are.
3. A text is looked at in blocks of a bounded size (`replies.BLOCK`).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import Final

from mcpguard.domain.findings import Evidence, Finding, Severity
from mcpguard.inspection.detectors.detector import DetectorRule
from mcpguard.inspection.detectors.hidden import judged, suspicious
from mcpguard.text.visible import visible

_ZERO_WIDTH: Final = "\u200b"
_BROKEN_BY_IT: Final = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF))
"""Thai and Lao, Burmese, Khmer: they have no blanks between words."""
_COLOURS: Final = re.compile(r"\x1b\[(?!(?:[0-9;]*;)?8m)[0-9;]*[mK]")
_ORDINARY: Final = frozenset("\f\v\b\ufeff\u200e\u200f\u061c\u00ad")
_MANY: Final = {"hidden.tags": 4, "hidden.bidi": 1, "hidden.zero_width": 4, "hidden.control": 1}
"""How many of a kind there have to be in a block for it to be told of."""
_HARD: Final = frozenset({"hidden.tags"})


def hides(block: str) -> bool:
    """Whether anything in it is worth a look."""
    return any(map(suspicious, set(block)))


def hidden(block: str) -> Iterator[Finding]:
    """What of it is no accident."""
    plain = _COLOURS.sub("", block) if "\x1b" in block else block
    found, rules = Counter[str](), dict[str, DetectorRule]()
    for _, char, rule in _every(plain):
        if char not in _ORDINARY:
            rules[rule.id] = rule
            found[rule.id] += 1
    for name, times in found.items():
        if times >= _MANY.get(name, times + 1):
            rule = rules[name]
            severity = rule.severity if name in _HARD else Severity.MEDIUM
            yield Finding(name, "T11", severity, rule.confidence, name in _HARD, rule.title, Evidence("", 0, 0))


def shown(block: str) -> tuple[str, int]:
    """The text with every such character written as its code point, and how many those were."""
    parts, after, times = list[str](), 0, 0
    for at, char, _ in _every(block):
        parts += (block[after:at], visible(char))
        after, times = at + 1, times + 1
    return ("".join([*parts, block[after:]]), times) if times else (block, 0)


def _every(block: str) -> Iterator[tuple[int, str, DetectorRule]]:
    doubtful = frozenset(filter(suspicious, set(block)))
    if not doubtful:
        return
    right_to_left = any(unicodedata.bidirectional(char) in {"R", "AL"} for char in set(block))
    for at, char in enumerate(block):
        if char not in doubtful or (right_to_left and char in "\u200e\u200f\u061c"):
            continue
        if char == _ZERO_WIDTH and _breaks(block[at - 1 : at] or block[at + 1 : at + 2]):
            continue
        rule = judged(block[max(0, at - 8) : at + 9], min(at, 8), char)
        if rule is not None:
            yield at, char, rule


def _breaks(char: str) -> bool:
    return bool(char) and any(first <= ord(char) <= last for first, last in _BROKEN_BY_IT)
