"""Turns a text into the sequence of words that it is compared by, with names and addresses replaced by classes.

Rules kept here:
1. Which tool, parameter, file, address or number a text names tells nothing about attacks in general, so each is one
   word that stands for all of its class. A word in capitals keeps its form beside its meaning.
2. Words are those that every detector reads (`reading.tokens`): case, accents, look-alikes and invisible characters
   make no difference.
3. Time is linear: each form begins where no such form can have begun earlier, and takes all that it can.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from mcpguard.inspection.reading.tokens import SENTENCE, Tokens
from mcpguard.inspection.texts.texts import Text, TextRole

_CLASSES: Final = re.compile(
    r"(?:(?<!\S)(?:[A-Z]?[a-z]++|[A-Z]++)[,.;:)!?]?+\s++)++"
    r"|(?P<url>\b(?:https?|wss?|ftp)://[^\s\"'<>)\]]++|\bwww\.[^\s\"'<>)\]]++)"
    r"|(?P<mail>(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.\w++)++)"
    r"|(?P<tag>[<\[]{1,2}[/!#]?[A-Za-z_|][\w |:-]{0,40}+[>\]])"
    r"|(?P<path>(?<![\w./\\~])(?:~|\.{1,2}|[A-Za-z]:|\$\w++)?(?:[/\\][\w.$*{}-]++)++"
    r"|(?<![\w./-])\.?[\w-]{1,60}+\.(?:json|ya?ml|env|txt|md|py|js|ts|csv|pem|key|conf|cfg|ini|toml|log|pdf|sh|html?)\b"
    r"|(?<![\w./])\.(?:env|ssh|aws|bashrc|zshrc|netrc|npmrc|cursorrules|git)\b)"
    r"|(?P<name>(?<![A-Za-z0-9_])[A-Za-z][A-Za-z0-9]*+(?:_[A-Za-z0-9]++)++|\b[a-z]++(?:[A-Z][a-z0-9]*+)++\b"
    r"|`[^`\n]{1,60}+`|(?<![\w:])\w++::\w++)"
    r"|(?P<number>(?<![\w.])\d[\d.,:%-]*+)"
    r"|[A-Za-z0-9_]++[,;:)!?*\"']*+\s*+"
)
"""The forms, and what has none, which is passed over at once: plain words with blanks after them, and a word with which
none begins, as none begins within it.
"""
_MAY: Final = re.compile(r"[/@<\[_`:\\\d]|\.\w|[a-z][A-Z]")
"""What is in every text that has any of these forms."""
_SHOUTED: Final = re.compile(r"[^\W\d_a-z]{4}")
_CLASS: Final = "·"
"""What the word of a class begins with, and no other word."""
CAPITALS: Final = "·CAPITALS"
PARAMETER: Final = "·PARAMETER"
_SHORTEST_CAPITALS: Final = 4


class ClassedWord(NamedTuple):
    """A word or class, the range of characters that it stands for, and whether a sentence begins with it."""

    word: str
    start: int
    end: int
    begins: bool


def texts_as_words(texts: Iterable[Text]) -> tuple[ClassedWord, ...]:
    """Return the words of several texts in order, without the name of what they define."""
    return tuple(each for text in texts if text.role is not TextRole.NAME for each in classed_words(text))


def classed_words(text: Text) -> list[ClassedWord]:
    """Return the words of a text in order."""
    tokens, raw = text.tokens, text.raw
    if text.role is TextRole.KEY:
        return _of_key(tokens)
    begins = [at - before > SENTENCE for before, at in pairwise((-SENTENCE - 1, *tokens.positions))]
    words = [*map(ClassedWord._make, zip(tokens.words, tokens.starts, tokens.ends, begins, strict=True))]
    if _MAY.search(raw):
        words = _with_classes(words, raw, tokens.starts)
    return [*_with_capitals(words, raw)] if _SHOUTED.search(raw) else words


def _with_classes(words: Sequence[ClassedWord], raw: str, starts: Sequence[int]) -> list[ClassedWord]:
    """Return the words, with one that stands for its class in place of those of each form."""
    result, at = list[ClassedWord](), 0
    for match in _CLASSES.finditer(raw):
        if match.lastgroup is None:
            continue
        start, end = match.span()
        first = bisect_left(starts, start, at)
        result += words[at:first]
        at = bisect_left(starts, end, first)
        if first < at:
            result.append(ClassedWord(f"{_CLASS}{match.lastgroup}", start, end, words[first].begins))
    result += words[at:]
    return result


def _with_capitals(words: Iterable[ClassedWord], raw: str) -> Iterator[ClassedWord]:
    """Yield the words, and before each one in capitals that it is."""
    for each in words:
        _, start, end, begins = each
        if end - start >= _SHORTEST_CAPITALS and not each.word.startswith(_CLASS) and raw[start:end].isupper():
            yield ClassedWord(CAPITALS, start, end, begins)
            yield each._replace(begins=False)
        else:
            yield each


def _of_key(tokens: Tokens) -> list[ClassedWord]:
    begins = True
    result = [ClassedWord(PARAMETER, tokens.starts[0], tokens.ends[-1], begins)] if tokens.words else []
    result += [
        ClassedWord(word, start, end, begins=False)
        for word, start, end in zip(tokens.words, tokens.starts, tokens.ends, strict=True)
    ]
    return result
