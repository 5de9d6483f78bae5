"""Detects words in which letters of one script imitate letters of another (T3)."""

import unicodedata
from collections.abc import Iterator
from typing import Final

from mcpguard.domain.findings import Finding
from mcpguard.inspection.detectors.detector import Detector, Surroundings
from mcpguard.inspection.reading.tokens import STYLED, tokens
from mcpguard.inspection.rules.rule_table import RULES
from mcpguard.inspection.texts.texts import DefinitionTexts, Text, TextRole
from mcpguard.inspection.vocabulary import WORDS
from mcpguard.policy.lexicon import strip_marks
from mcpguard.text.confusable import latin

_MIXED: Final = RULES["mixed.word"]
_STRAY: Final = RULES["mixed.letter"]
_NAME: Final = RULES["mixed.name"]
_PASSES: Final = RULES["mixed.passes"]
_STYLED: Final = RULES["mixed.styled"]
_SHORT: Final = 4
_MOST: Final = 2_000
_ACCENTED: Final = 3
"""Words with accents of a definition in a language that has them."""
_LAST_LATIN: Final = 0x24F
"""The last letter of the Latin blocks that stand together."""


def _find(subject: DefinitionTexts, _surroundings: Surroundings) -> Iterator[Finding]:
    for text in subject.texts:
        if text.raw.isascii():
            continue
        if text.role is TextRole.NAME:
            passes = _passes(text.raw) and not _is_spelt_so(text.raw, subject)
            yield (_PASSES if passes else _NAME).finding_at(text.evidence_at(0, len(text.raw)))
        if span := _mixed(text):
            word = _MIXED if _is_disguised(text, span) else _STRAY
            yield word.finding_at(text.evidence_at(*span))
        if (at := _styled(text)) is not None:
            yield _STYLED.finding_at(text.evidence_at(at, at + 1))


def _is_disguised(text: Text, span: tuple[int, int]) -> bool:
    """Tell whether it is no slip of a keyboard in a maker's name: a name with one such letter may be one."""
    word = text.raw[slice(*span)]
    return not word[0].isupper() or sum(not char.isascii() for char in word) > 1 or bool(WORDS.find(tokens(word)))


def _passes(name: str) -> bool:
    """Tell whether most letters are plain, as in `ƒetch`. A name in another script throughout imitates nothing."""
    plain = sum(char.isascii() and char.isalnum() for char in name)
    return plain > len(name) // 2


def _is_spelt_so(name: str, subject: DefinitionTexts) -> bool:
    """Tell whether a name has only accents, in a definition whose sentences have several words with accents."""
    if not all(char.isascii() or _is_accented(char) for char in name):
        return False
    others = (word for text in subject.texts if text.role is TextRole.VALUE for word in text.raw.split()[:_MOST])
    return sum(any(map(_is_accented, word)) for word in others) >= _ACCENTED


def _is_accented(char: str) -> bool:
    return not char.isascii() and ord(char) <= _LAST_LATIN and char.isalpha() and strip_marks(char).isascii()


def _mixed(text: Text) -> tuple[int, int] | None:
    """Return the first word that mixes Latin letters with look-alikes. Signs of units (μs) are too short to count."""
    words = (word for word in text.raw.split()[:_MOST] if not word.isascii())
    at = 0
    for word in words:
        at = text.raw.index(word, at)
        for part in _letters(word):
            plain = strip_marks(part).casefold()
            if len(plain) >= _SHORT and _two_scripts(plain) and latin(plain):
                start = text.raw.index(part, at)
                return start, start + len(part)
    return None


def _two_scripts(word: str) -> bool:
    """Tell whether a word has plain Latin letters and those of another script. The Turkish i is a Latin letter."""
    foreign = any(not char.isascii() and not unicodedata.name(char, "").startswith("LATIN") for char in word)
    return foreign and any("a" <= char <= "z" for char in word)


def _letters(word: str) -> list[str]:
    return "".join(char if char.isalpha() else " " for char in word).split()


def _styled(text: Text) -> int | None:
    """Return where a word in mathematical or enclosed letters ends; None if there is none."""
    styled = {char for char in set(text.raw) if ord(char) > _LAST_LATIN and _is_styled(char)}
    if not styled:
        return None
    run = 0
    for at, char in enumerate(text.raw):
        run = run + 1 if char in styled else 0
        if run >= _SHORT:
            return at
    return None


def _is_styled(char: str) -> bool:
    """Tell whether the character stands for a Latin letter without being one."""
    if not (char.isalpha() or unicodedata.category(char) == "So"):
        return False
    plain = unicodedata.normalize("NFKC", char)[0]
    return (plain.isascii() and plain.isalpha()) or STYLED.match(unicodedata.name(char, "")) is not None


DETECTOR: Final = Detector((_MIXED, _STRAY, _NAME, _PASSES, _STYLED), _find)
