"""Finds the words and phrases of a vocabulary in a text, in any language.

Rules kept here:
1. A vocabulary is data: each meaning lists its words and phrases, separated by blanks. `_` stands for a blank within a
   phrase, `*` at the end of an entry for any ending of its last word, and `+` for the endings of an English verb.
2. Text is looked up in a tree of words, for all meanings at once. The work per word of a text is bounded by the longest
   phrase, whatever the text.
3. Of the tree, only what begins with a word is grown, once the word is met: a start with nothing to inspect does
   without it, and the first text takes little longer than others.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from typing import Final, NamedTuple

from mcpguard.inspection.reading.tokens import Tokens, possible_words, words

LONGEST_PHRASE: Final = 12
_LONGEST_WORD: Final = 64
_MOST_WORDS: Final = 16_384
"""Words that are kept with the phrases that begin with them, cut to the longest that any can have."""
_DOUBLED: Final = "bgmnpt"
"""Letters that are doubled before an ending, after a short vowel."""


class PhraseHit(NamedTuple):
    """The words from `first` to `last` have a meaning of the vocabulary."""

    first: int
    last: int


@dataclass(slots=True)
class _Node:
    words: dict[str, "_Node"] = field(default_factory=dict)
    stems: dict[str, "_Node"] = field(default_factory=dict)
    lengths: tuple[int, ...] = ()
    meanings: set[str] = field(default_factory=set)

    def children(self, word: str) -> Sequence["_Node"]:
        if not self.lengths and word.isalpha():
            node = self.words.get(word)
            return (node,) if node else ()
        found: list[_Node] = []
        for form in (word,) if word.isalpha() else possible_words(word):
            if node := self.words.get(form):
                found.append(node)
            stems = (self.stems.get(form[:length]) for length in self.lengths if length <= len(form))
            found += filter(None, stems)
        return found

    def may_go_on(self, word: str) -> bool:
        """Tell whether a phrase may go on with this word. Mostly it does not, and to look for children takes longer."""
        return word in self.words or bool(self.lengths) or not word.isalpha()

    def grow(self, word: str, *, stem: bool) -> "_Node":
        if stem and len(word) not in self.lengths:
            self.lengths = tuple(sorted({*self.lengths, len(word)}))
        return (self.stems if stem else self.words).setdefault(word, _Node())


def forms(entry: str) -> tuple[str, ...]:
    """Return the forms of an entry: `copy+_to` stands for copies, copied and copying to as well."""
    verb, plus, rest = entry.partition("+")
    if not plus:
        return (entry,)
    last, before = verb[-1], verb[-2:-1]
    if last == "e":
        ends = (verb, verb + "s", verb + "d", verb[:-1] + "ing")
    elif last == "y" and before not in "aeiou":
        ends = (verb, verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing")
    elif last in "sxz" or verb.endswith(("sh", "ch")):
        ends = (verb, verb + "es", verb + "ed", verb + "ing")
    else:
        twice = verb + last if last in _DOUBLED and before in "aeiou" and verb[-3:-2] not in "aeiou" else verb
        ends = (verb, verb + "s", twice + "ed", twice + "ing")
    return tuple(end + rest for end in ends)


class _Entry(NamedTuple):
    """A phrase with its meanings. `stem`: any ending of its last word will do."""

    phrase: tuple[str, ...]
    stem: bool
    meanings: tuple[str, ...]


class _Entries(NamedTuple):
    """Entries by their whole first words, and those of one word of which any ending will do; with their lengths."""

    by_word: Mapping[str, list[_Entry]]
    by_stem: Mapping[str, list[_Entry]]
    lengths: tuple[int, ...]


class Vocabulary:
    """Meanings, which can be found in a text by their words."""

    def __init__(self, *tables: Mapping[str, str]) -> None:
        self._tables = tables
        self._begin = lru_cache(maxsize=_MOST_WORDS)(self._beginning_with)
        self.meanings = frozenset(meaning for table in tables for key in table for meaning in key.split())

    @cached_property
    def _entries(self) -> "_Entries":
        """All entries by their first words."""
        by_word, by_stem = dict[str, list[_Entry]](), dict[str, list[_Entry]]()
        for table in self._tables:
            for key, entries in table.items():
                meanings = tuple(key.split())
                for form in (form for entry in entries.split() for form in forms(entry)):
                    entry = _read(form, meanings)
                    by = by_stem if entry.stem and len(entry.phrase) == 1 else by_word
                    by.setdefault(entry.phrase[0], []).append(entry)
        return _Entries(by_word, by_stem, tuple(sorted({len(stem) for stem in by_stem})))

    def find(self, text: Tokens) -> dict[str, list[PhraseHit]]:
        """Return where a text has each meaning, in order."""
        hits: dict[str, list[PhraseHit]] = {}
        text_words = [word[:_LONGEST_WORD] for word in text.words]
        after = [*text_words[1:], ""]
        for at, ((meanings, begun), next_word) in enumerate(zip(map(self._begin, text_words), after, strict=False)):
            if meanings:
                hit = PhraseHit(at, at)
                for meaning in meanings:
                    hits.setdefault(meaning, []).append(hit)
            if begun is not None and begun.may_go_on(next_word):
                for end, node in _followed(begun, text_words, at):
                    for meaning in node.meanings:
                        hits.setdefault(meaning, []).append(PhraseHit(at, end))
        return hits

    def _beginning_with(self, word: str) -> tuple[tuple[str, ...], _Node | None]:
        """Return the meanings of a word, and the phrases that begin with it. Texts differ, and have the same few
        thousand words.
        """
        every = self._entries
        begun = [every.by_word.get(form) for form in possible_words(word)]
        begun += [
            every.by_stem.get(form[:length])
            for form in possible_words(word)
            for length in every.lengths
            if length <= len(form)
        ]
        node = _grown(chain.from_iterable(filter(None, begun)))
        return tuple(node.meanings), node if node.words or node.stems else None


def _read(entry: str, meanings: tuple[str, ...]) -> _Entry:
    bare = entry.removesuffix("*")
    plain = bare.isascii() and bare.replace("_", "").isalnum()
    phrase = tuple(bare.lower().split("_")) if plain else words(bare.replace("_", " "))
    if not 0 < len(phrase) <= LONGEST_PHRASE or "" in phrase:
        raise ValueError(f"a phrase without words, or with too many: {entry!r}")
    return _Entry(phrase, len(bare) < len(entry), meanings)


def _grown(entries: Iterable[_Entry]) -> _Node:
    """Return the tree of what follows the first word that these have in common."""
    root = _Node()
    for entry in entries:
        node, rest = root, entry.phrase[1:]
        for at, word in enumerate(rest, 1):
            node = node.grow(word, stem=entry.stem and at == len(rest))
        node.meanings.update(entry.meanings)
    return root


def _followed(begun: _Node, text_words: Sequence[str], at: int) -> Iterator[tuple[int, _Node]]:
    """Yield the end of every phrase of several words that begins at this word."""
    reached: Sequence[_Node] = (begun,)
    for end in range(at + 1, len(text_words)):
        word = text_words[end]
        reached = [each for node in reached for each in node.children(word)]
        if not reached:
            return
        for node in reached:
            yield end, node
