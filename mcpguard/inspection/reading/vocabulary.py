"""Finds the words and phrases of a vocabulary in a text, in any language.

Rules kept here:
1. A vocabulary is data: each meaning lists its words and phrases, separated by blanks. `_` stands for a blank within a
   phrase, `*` at the end of an entry for any ending of its last word, and `+` for the endings of an English verb.
2. Text is looked up in a tree of words, for all meanings at once. The work per word of a text is bounded by the longest
   phrase, whatever the text.
3. The tree is grown for the first text: a start with nothing to inspect does without it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
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

    def children(self, word: str) -> Iterator["_Node"]:
        for form in possible_words(word):
            if node := self.words.get(form):
                yield node
            for length in self.lengths:
                if length <= len(form) and (node := self.stems.get(form[:length])):
                    yield node

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


class Vocabulary:
    """Meanings, which can be found in a text by their words."""

    def __init__(self, *tables: Mapping[str, str]) -> None:
        self._tables = tables
        self._begin = lru_cache(maxsize=_MOST_WORDS)(self._beginning_with)
        self.meanings = frozenset(meaning for table in tables for key in table for meaning in key.split())

    @cached_property
    def _root(self) -> "_Node":
        """The tree of all words, which takes as long to grow as a hundred modules to load."""
        root = _Node()
        for table in self._tables:
            for meanings, entries in table.items():
                for entry in entries.split():
                    for form in forms(entry):
                        _learn(root, form, meanings.split())
        return root

    def find(self, text: Tokens) -> dict[str, list[PhraseHit]]:
        """Return where a text has each meaning, in order."""
        hits: dict[str, list[PhraseHit]] = {}
        begin = self._begin
        for at, word in enumerate(text.words):
            meanings, begun = begin(word[:_LONGEST_WORD])
            for meaning in meanings:
                hits.setdefault(meaning, []).append(PhraseHit(at, at))
            for end, node in _followed(begun, text.words, at) if begun else ():
                for meaning in node.meanings:
                    hits.setdefault(meaning, []).append(PhraseHit(at, end))
        return hits

    def _beginning_with(self, word: str) -> tuple[tuple[str, ...], tuple[_Node, ...]]:
        """Return the meanings of a word, and the phrases that begin with it. Texts differ, and have the same few
        thousand words.
        """
        nodes = tuple(self._root.children(word))
        meanings = tuple(meaning for node in nodes for meaning in node.meanings)
        return meanings, tuple(node for node in nodes if node.words or node.stems)


def _learn(root: _Node, entry: str, meanings: Iterable[str]) -> None:
    node, phrase = root, words(entry.removesuffix("*").replace("_", " "))
    if not 0 < len(phrase) <= LONGEST_PHRASE:
        raise ValueError(f"a phrase without words, or with too many: {entry!r}")
    for word in phrase[:-1]:
        node = node.grow(word, stem=False)
    node.grow(phrase[-1], stem=entry.endswith("*")).meanings.update(meanings)


def _followed(nodes: tuple[_Node, ...], text_words: list[str], at: int) -> Iterator[tuple[int, _Node]]:
    """Yield the end of every phrase of several words that begins at this word."""
    reached: Sequence[_Node] = nodes
    for end in range(at + 1, len(text_words)):
        word = text_words[end][:_LONGEST_WORD]
        reached = [each for node in reached if node.words or node.stems for each in node.children(word)]
        if not reached:
            return
        for node in reached:
            yield end, node
