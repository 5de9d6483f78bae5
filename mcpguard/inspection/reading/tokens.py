"""Splits untrusted text into words that can be compared with word lists, each with its place in the original text.

Rules kept here:
1. Case, accents, width, style and invisible characters make no difference. A look-alike of a Latin letter counts as
   that letter among Latin letters, and in a word that looks Latin as a whole.
2. Each Chinese or Japanese character is a word, because these scripts have no blanks between words.
3. Time is linear. `position` counts words, and adds more at the end of a sentence or a line, so that the distance
   between two positions tells how closely two words belong together.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, chain, pairwise
from operator import add
from typing import Final

from mcpguard.policy.lexicon import strip_marks
from mcpguard.text.confusable import latin

SENTENCE: Final = 10
"""How much the end of a sentence adds to a distance."""
_LINE: Final = 2
_PART: Final = 2
"""How much the end of a line, and of a part of a sentence, adds to a distance."""
_CJK: Final = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD: Final = re.compile(rf"[{_CJK}]|(?:(?![{_CJK}])[^\W_])++")
_BETWEEN: Final = re.compile(rf"(?:(?![{_CJK}])[\W_])*+")
_WORDS: Final = re.compile(f"({_WORD.pattern})({_BETWEEN.pattern})")
_PLAIN_WORDS: Final = re.compile("([a-z0-9]++)([^a-z0-9]*+)")
"""Each word with what stands between it and the next one: in any text, and in one of small letters of ASCII."""
_ENDS: Final = frozenset(".!?;。！？；")
_PARTS: Final = ",:，：、"
_ABBREVIATED: Final = (("e", "g"), ("i", "e"))
_LONGEST: Final = 64
_USUAL: Final = 4
"""Characters of the longest usual marks between two words, of which there are few."""
STYLED: Final = re.compile(
    r"^(?:LATIN LETTER SMALL CAPITAL|LATIN SMALL LETTER TURNED"
    r"|(?:CROSSED )?(?:NEGATIVE )?(?:SQUARED|CIRCLED) LATIN CAPITAL LETTER)"
    r" ([A-Z])$"
)
"""The names of letters that stand for others in another style, and have no plain form by the rules of Unicode."""


@dataclass(slots=True)
class Tokens:
    """Words side by side with their places: word `i` is `text[starts[i]:ends[i]]`."""

    words: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)


def tokens(text: str) -> Tokens:
    """Return the words of a text with their places."""
    folded, places = _folded(text)
    plain = folded.isascii()
    found = (_PLAIN_WORDS if plain else _WORDS).findall(folded)
    begin = len(folded) - sum(map(len, chain.from_iterable(found)))
    edges = [*accumulate(map(len, chain.from_iterable(found)), initial=begin)]
    starts, ends = edges[:-1:2], edges[1::2]
    if places is not None:
        starts, ends = [places[start] for start in starts], [places[end - 1] + 1 for end in ends]
    said = [word for word, _ in found]
    pauses = [_pause(between) for between in (folded[:begin], *(between for _, between in found[:-1]))]
    for at in _abbreviated(said):
        if found[at][1].startswith(".") and at + 1 < len(pauses):
            pauses[at + 1] = 0
    positions = [*map(add, accumulate(pauses), range(1, len(said) + 1))]
    return Tokens(said if plain else list(map(folded_word, said)), starts, ends, positions)


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return tuple(tokens(text).words)


def word_runs(folded: str) -> list[str]:
    """Return the words of a folded text, without their places."""
    return _WORD.findall(folded)


def _abbreviated(words: list[str]) -> list[int]:
    """Return where "e.g." or "i.e." may end, after whose full stop the sentence goes on."""
    if "g" not in words and "i" not in words:
        return []
    return [at for at, pair in enumerate(pairwise(words), 1) if pair in _ABBREVIATED]


def _pause(between: str) -> int:
    size = len(between)
    return 0 if size <= 1 else _usual_pause(between) if size <= _USUAL else _pause_of(between)


@lru_cache(maxsize=1024)
def _usual_pause(between: str) -> int:
    return _pause_of(between)


def _pause_of(between: str) -> int:
    """Return the extra distance between two words. A full stop within a path or a number adds none."""
    if between.isspace():
        return _LINE if "\n" in between else 0
    ended = any(
        char in _ENDS and (not char.isascii() or between[at + 1 : at + 2].isspace()) for at, char in enumerate(between)
    )
    if ended:
        return SENTENCE
    return _LINE if "\n" in between else _PART if any(char in between for char in _PARTS) else 0


def _folded(text: str) -> tuple[str, list[int] | None]:
    """Return the text to compare, and the original place of each of its characters; None if places are the same."""
    if text.isascii():
        return text.lower(), None
    if all(len(plain_char(char)) == 1 for char in set(text)):
        return "".join(map(plain_char, text)), None
    chars: list[str] = []
    places: list[int] = []
    for at, char in enumerate(text):
        for each in plain_char(char):
            chars.append(each)
            places.append(at)
    return "".join(chars), places


@lru_cache(maxsize=8192)
def plain_char(char: str) -> str:
    """Return a character as it is compared; "" for an invisible one."""
    if char.isascii():
        return char.lower()
    if unicodedata.category(char) in {"Cf", "Co", "Cn", "Cs", "Mc"}:
        return ""
    if styled := STYLED.search(unicodedata.name(char, "")):
        return styled[1].lower()
    return strip_marks(char).casefold()


@lru_cache(maxsize=8192)
def _known(word: str) -> str:
    return latin(word) or word


def folded_word(word: str) -> str:
    """Return a word of a folded text as it is compared: in Latin letters, where it looks Latin."""
    if word.isascii():
        return word
    return _known(word) if len(word) <= _LONGEST else word


_DIGITS: Final = str.maketrans("013457$@", "oieastsa")


def possible_words(word: str) -> Iterator[str]:
    """Yield the word, and the word that it is if its digits stand for letters: pr0mpt, 1gn0re."""
    yield word
    if len(word) <= _LONGEST and not word.isalpha() and not word.isdigit():
        plain = word.translate(_DIGITS)
        if plain.isalpha() and plain != word:
            yield plain
