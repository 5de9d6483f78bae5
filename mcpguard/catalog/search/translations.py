"""The English meanings of words of other languages.

Rules kept here:
1. The lists are data, `lists/translations/LANGUAGE.txt`. Each file explains its format.
2. A word that is not listed as it stands is looked up by its stem in its language, and a German one by its parts.
3. Any thread may call this module. Stems of listed words are made when they are first needed, those of words with the
   same beginning together: all at once would take a second.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

from mcpguard.catalog.search.stems import stem, stem_in
from mcpguard.catalog.search.stopwords import ASKING, SMALL_WORDS, STOP
from mcpguard.catalog.search.words import fold, unspaced_stretches, words

Meaning = tuple[str, ...]
"""The stems of one meaning: several where one foreign word is an English compound."""
SPACED: Final = ("german", "french", "spanish", "italian", "portuguese", "russian")
_UNSPACED: Final = ("chinese", "japanese")
_LONGEST_UNSPACED: Final = 8
_LONGEST_EXPRESSION: Final = 4
_SAME_BEGINNING: Final = 4
"""Letters by which listed words are kept, to be stemmed together."""
_SHORTEST_PART: Final = 4
_LINKS: Final = ("", "s", "n", "en", "es", "er")
"""What German puts between the parts of a compound."""
_MOST_MEANINGS: Final = 4
_USUAL_MEANINGS: Final = 2
_KANA: Final = range(0x3040, 0x3100)


class WordList:
    """The words of one language, with their meanings."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._words: dict[str, str] = {}
        self._expressions: dict[tuple[str, ...], str] = {}
        self._alike: dict[str, list[str]] = {}
        self._stems: dict[str, dict[str, str]] = {}
        for foreign, meanings in _lines(language):
            for each in foreign.split():
                self._learn(each, meanings)

    def find(self, word: str) -> str:
        """Return what is listed for a word in lower case, without accents; nothing if it is not listed."""
        if found := self._words.get(word):
            return found
        beginning = word[:_SAME_BEGINNING]
        if beginning not in self._alike:
            return ""
        if (stems := self._stems.get(beginning)) is None:
            listed = reversed(self._alike[beginning])  # of two words with one stem, the first listed counts
            stems = self._stems[beginning] = {stem_in(self._language, each): self._words[each] for each in listed}
        return stems.get(stem_in(self._language, word), "")

    def find_written(self, text: str) -> str:
        """Return what is listed for a word that is written exactly so."""
        return self._words.get(text, "")

    def find_expression(self, parts: tuple[str, ...]) -> str:
        return self._expressions.get(parts, "")

    def _learn(self, foreign: str, meanings: str) -> None:
        if self._language in _UNSPACED:
            self._words.setdefault(foreign, meanings)
            return
        parts = tuple(words(foreign.replace("_", " ")))
        if len(parts) > 1:
            self._expressions.setdefault(parts[:_LONGEST_EXPRESSION], meanings)
        elif parts and parts[0] not in self._words:
            self._words[parts[0]] = meanings
            self._alike.setdefault(parts[0][:_SAME_BEGINNING], []).append(parts[0])


@cache
def _list_of(language: str) -> WordList:
    return WordList(language)


def prepare_translations() -> None:
    """Read the lists, so that the first query need not. Any thread may call it."""
    for language in (*SPACED, *_UNSPACED):
        _list_of(language)


def language_of(query_words: Sequence[str]) -> str | None:
    """Return the language of a text by its small words; None if it is English or says too little."""
    if any("\u0400" <= word[0] <= "\u04ff" for word in query_words):
        return "russian"
    small = {language: sum(word in some for word in query_words) for language, some in SMALL_WORDS.items()}
    english = small["english"] + sum(word in ASKING for word in query_words)
    language = max(SPACED, key=lambda one: small[one])
    return language if small[language] > english else None


def meanings_of(word: str, language: str) -> tuple[Meaning, ...]:
    """Return the meanings of a word in a language."""
    return _meanings(_list_of(language).find(word))


def meanings_in_any(word: str) -> tuple[Meaning, ...]:
    """Return the meanings of a word in the first language that has it, or those of the parts of a German compound."""
    return _meanings(listed_in_any(word))


def listed_in_any(word: str) -> str:
    """Return what the first language that has a word lists for it."""
    found = (_list_of(language).find(word) for language in SPACED)
    return next(filter(None, found), "") or _of_compound(word)


def expressions_in(query_words: Sequence[str], language: str) -> Iterator[tuple[str, tuple[Meaning, ...]]]:
    """Yield the expressions of several words, with their meanings."""
    listed = _list_of(language)
    for length in range(2, _LONGEST_EXPRESSION + 1):
        for at in range(len(query_words) - length + 1):
            parts = tuple(query_words[at : at + length])
            if found := _meanings(listed.find_expression(parts)):
                yield " ".join(parts), found


def meanings_in_stretches(text: str) -> dict[str, tuple[Meaning, ...]]:
    """Return the words in stretches without blanks, with their meanings: the longest word where several begin."""
    found = ((word, _meanings(listed)) for word, listed in listed_in_stretches(text))
    return {word: meanings for word, meanings in found if meanings}


def english_in(text: str) -> list[str]:
    """Return the English terms for the words in stretches without blanks, by their most usual meanings."""
    found = meanings_in_stretches(text).values()
    return [term for meanings in found for meaning in meanings[:_USUAL_MEANINGS] for term in meaning]


def first_meaning(listed: str) -> str:
    """Return the most usual meaning of what is listed for a word."""
    return listed.partition(",")[0].strip()


def listed_in(query_words: Sequence[str], language: str) -> Iterator[tuple[str, str]]:
    """Yield the words and expressions of a query without its small words, and what a language lists for each."""
    listed, at = _list_of(language), 0
    while at < len(query_words):
        lengths = range(_LONGEST_EXPRESSION, 1, -1)
        found = ((length, listed.find_expression(tuple(query_words[at : at + length]))) for length in lengths)
        length, expression = next((each for each in found if each[1]), (1, ""))
        word = query_words[at]
        if expression:
            yield " ".join(query_words[at : at + length]), expression
        elif word not in SMALL_WORDS[language]:
            yield word, listed.find(word) or listed_in_any(word)
        at += length


def listed_in_stretches(text: str) -> Iterator[tuple[str, str]]:
    """Yield the words in stretches without blanks, with what is listed for them: the longest where several begin."""
    stretches = unspaced_stretches(text)
    japanese = any(ord(char) in _KANA for stretch in stretches for char in stretch)
    lists = [_list_of(one) for one in (reversed(_UNSPACED) if japanese else _UNSPACED)] if stretches else []
    for stretch in stretches:
        at = 0
        while at < len(stretch):
            word, listed = _longest_word(stretch, at, lists)
            if listed:
                yield word, listed
            at += len(word)


def _longest_word(stretch: str, at: int, lists: Iterable[WordList]) -> tuple[str, str]:
    for end in range(min(len(stretch), at + _LONGEST_UNSPACED), at, -1):
        word = stretch[at:end]
        for each in lists:
            if _meanings(found := each.find_written(word)):
                return word, found
    return stretch[at], ""


@lru_cache(4096)
def _of_compound(word: str) -> str:
    """Return the meaning of a German compound of two listed words, as the meanings of both.

    The first has to be there as it is listed: that takes no stem, and each of many words could be one.
    """
    german = _list_of("german")
    for at in range(len(word) - _SHORTEST_PART, _SHORTEST_PART - 1, -1):
        first = next(_listed_before(word, at), "")
        if first and (rest := german.find(word[at:])):
            return f"{first_meaning(first)} {first_meaning(rest)}"
    return ""


def _listed_before(word: str, at: int) -> Iterator[str]:
    """Yield what is listed for the part before that place, without what German puts between the parts."""
    german = _list_of("german")
    for link in _LINKS:
        end = at - len(link)
        if end >= _SHORTEST_PART and word.endswith(link, 0, at) and (found := german.find_written(word[:end])):
            yield found


@lru_cache(16_384)
def _meanings(text: str) -> tuple[Meaning, ...]:
    read = (tuple(stem(word) for word in words(one) if word not in STOP) for one in text.split(","))
    return tuple(dict.fromkeys(one for one in read if one and not ASKING.issuperset(one)))[:_MOST_MEANINGS]


def _lines(language: str) -> Iterator[tuple[str, str]]:
    text = files(__package__).joinpath("lists", "translations", f"{language}.txt").read_text("utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            foreign, _, meanings = line.partition(":")
            yield fold(foreign).casefold(), meanings
