"""Splits text into words: identifiers split, letters folded, scripts without blanks cut into pairs.

Rules kept here:
1. Time is linear in the text, and every pattern moves forward only; the caller has already cut the text to a limit.
2. Names and prose are treated alike, so `createIssue`, `create_issue` and "create issue" yield the same words.
3. A word composed of two or three others (`GitHub`) also counts as a whole.
4. No word is longer than `LONGEST_WORD`.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

LONGEST_WORD: Final = 40
_MOST_PARTS: Final = 4
_RUN: Final = re.compile("[^\\W_]+(?:['\u2019][^\\W_]+)?")
_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
"""Thai, Lao, Burmese, Khmer, kana and Han: scripts that put no blanks between words."""


def words(text: str) -> list[str]:
    """Return the words of a text in order, in lower case and without accents."""
    return [word for run in _RUN.findall(fold(text)) for word in _words(run)]


def fold(text: str) -> str:
    """Return the text in its plainest form, with its case: an accented Latin letter becomes that letter."""
    if text.isascii():
        return text
    return "".join(map(_folded, unicodedata.normalize("NFKC", text)))


@lru_cache(4096)
def _folded(char: str) -> str:
    if char.isascii():
        return char
    if unicodedata.category(char) == "Cf":
        return ""
    base = unicodedata.normalize("NFKD", char)[0]
    return base if base.isascii() and base.isalpha() else char


@lru_cache(65_536)
def _words(run: str) -> tuple[str, ...]:
    """Return the words of one run of letters and digits."""
    run = run[: LONGEST_WORD * _MOST_PARTS]
    run, _, ending = run.replace("\u2019", "'").partition("'")
    if len(ending) > 2:
        return (*_words(run), *_words(ending))
    if run.isascii():
        return tuple(word[:LONGEST_WORD] for word in _identifier(run))
    return tuple(word[:LONGEST_WORD] for word in _mixed(run.casefold()))


def _identifier(run: str) -> Iterator[str]:
    """Yield the parts of a run of ASCII, and the whole where it may be one word (`GitHub`, `s3`, `base64`)."""
    whole = run.lower()
    if run.isdigit() or (whole == run and run.isalpha()):
        yield whole
        return
    parts = _PARTS.findall(run)
    if len(parts) == 1:
        yield whole
        return
    has_digits = not run.isalpha()
    for part in parts:
        if len(part) > 1 or not has_digits:
            yield part.lower()
    if len(parts) < _MOST_PARTS and len(whole) <= LONGEST_WORD:
        yield whole


def _mixed(run: str) -> Iterator[str]:
    """Yield the words between stretches without blanks, and the pairs of letters within these."""
    at = 0
    for stretch in _UNSPACED.finditer(run):
        if stretch.start() > at:
            yield run[at : stretch.start()]
        yield from pairs(stretch.group())
        at = stretch.end()
    if at < len(run):
        yield run[at:]


def pairs(stretch: str) -> Iterator[str]:
    """Yield each two neighbouring letters; a single letter as it is."""
    if len(stretch) == 1:
        yield stretch
    for at in range(len(stretch) - 1):
        yield stretch[at : at + 2]


def unspaced_stretches(text: str) -> list[str]:
    """Return the stretches of a text whose script puts no blanks between words."""
    return _UNSPACED.findall(text)
