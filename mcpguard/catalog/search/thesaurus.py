"""What else a word of a query may be called: our synonyms, and English for words of other languages."""

from collections.abc import Mapping
from typing import Final

from mcpguard.catalog.search import synonyms, translations
from mcpguard.catalog.search.stems import stem
from mcpguard.catalog.search.vocabulary import WordForms
from mcpguard.catalog.search.words import unspaced, words

_LONGEST_UNSPACED: Final = 8


def _grouped() -> Mapping[str, tuple[str, ...]]:
    others: dict[str, dict[str, None]] = {}
    for group in synonyms.GROUPS.split(";"):
        stems = [stem(word) for word in group.split()]
        for one in stems:
            others.setdefault(one, {}).update(dict.fromkeys(other for other in stems if other != one))
    return {one: tuple(sorted(some)) for one, some in others.items()}


def _english() -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]:
    spaced: dict[str, dict[str, None]] = {}
    stretches: dict[str, dict[str, None]] = {}
    for line in translations.TABLE.strip().splitlines():
        english, _, foreign = line.partition(":")
        for word in foreign.split():
            if unspaced(word):
                stretches.setdefault(word, {})[stem(english.strip())] = None
            else:
                spaced.setdefault(stem(words(word)[0]), {})[stem(english.strip())] = None
    return {one: tuple(some) for one, some in spaced.items()}, {one: tuple(some) for one, some in stretches.items()}


def _written() -> WordForms:
    vocabulary = WordForms()
    vocabulary.change("", frozenset(), frozenset(synonyms.GROUPS.replace(";", " ").split()))
    return vocabulary


WRITTEN: Final = _written()
"""The words of our synonyms as they are written there."""
_SYNONYMS: Final = _grouped()
_SPACED, _STRETCHES = _english()


def synonymous(term: str) -> tuple[str, ...]:
    """The terms that mean nearly the same."""
    return _SYNONYMS.get(term, ())


def in_english(term: str) -> tuple[str, ...]:
    """The English terms for a term of another language."""
    return _SPACED.get(term, ())


def in_english_within(text: str) -> dict[str, tuple[str, ...]]:
    """The words within a text without blanks that have English terms, the longest where several begin."""
    found: dict[str, tuple[str, ...]] = {}
    for stretch in unspaced(text):
        at = 0
        while at < len(stretch):
            longest = min(len(stretch), at + _LONGEST_UNSPACED)
            word = next((stretch[at:end] for end in range(longest, at, -1) if stretch[at:end] in _STRETCHES), "")
            if word:
                found[word] = _STRETCHES[word]
            at += len(word) or 1
    return found
