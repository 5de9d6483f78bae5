"""Which of our words, in any language, stand in a text.

Rules kept here:
1. A vocabulary is data: for each meaning the words and phrases that have it, parted by blanks. `_` stands for a blank
   within a phrase, `*` at the end of an entry for any ending of its last word, and `+` for those of an English verb.
2. Text is looked up in a tree of words, all meanings at once. The work for each word of a text is bounded by the
   longest phrase, whatever the text.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from mcpguard.inspection.reading.tokens import Tokens, undisguised, words

LONGEST_PHRASE: Final = 12
_LONGEST_WORD: Final = 64
_DOUBLED: Final = "bgmnpt"
"""Letters that are written twice before an ending, after a short vowel."""


class PhraseHit(NamedTuple):
    """Words `first` to `last` have a meaning of ours."""

    first: int
    last: int


@dataclass(slots=True)
class _Node:
    words: dict[str, "_Node"] = field(default_factory=dict)
    stems: dict[str, "_Node"] = field(default_factory=dict)
    lengths: tuple[int, ...] = ()
    meanings: set[str] = field(default_factory=set)

    def after(self, word: str) -> Iterator["_Node"]:
        for form in undisguised(word):
            if found := self.words.get(form):
                yield found
            for length in self.lengths:
                if length <= len(form) and (found := self.stems.get(form[:length])):
                    yield found

    def grown(self, word: str, *, stem: bool) -> "_Node":
        if stem and len(word) not in self.lengths:
            self.lengths = tuple(sorted({*self.lengths, len(word)}))
        return (self.stems if stem else self.words).setdefault(word, _Node())


def forms(entry: str) -> tuple[str, ...]:
    """An entry with its endings: `copy+_to` is that with copies, copied and copying as well."""
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
    """Meanings by their words."""

    def __init__(self, *tables: Mapping[str, str]) -> None:
        self._root = _Node()
        self.meanings = frozenset(meaning for table in tables for key in table for meaning in key.split())
        for table in tables:
            for meanings, entries in table.items():
                for entry in entries.split():
                    for form in forms(entry):
                        self._learn(form, meanings.split())

    def _learn(self, entry: str, meanings: Iterable[str]) -> None:
        node, phrase = self._root, words(entry.removesuffix("*").replace("_", " "))
        if not 0 < len(phrase) <= LONGEST_PHRASE:
            raise ValueError(f"no phrase that could be found: {entry!r}")
        for word in phrase[:-1]:
            node = node.grown(word, stem=False)
        node.grown(phrase[-1], stem=entry.endswith("*")).meanings.update(meanings)

    def found(self, text: Tokens) -> dict[str, list[PhraseHit]]:
        """Where each meaning is said, in order."""
        hits: dict[str, list[PhraseHit]] = {}
        first: dict[str, tuple[_Node, ...]] = {}
        for at, word in enumerate(text.words):
            nodes = first.get(word)
            if nodes is None:
                nodes = first[word] = tuple(self._root.after(word[:_LONGEST_WORD]))
            for end, node in _followed(nodes, text.words, at) if nodes else ():
                for meaning in node.meanings:
                    hits.setdefault(meaning, []).append(PhraseHit(at, end))
        return hits


def _followed(nodes: tuple[_Node, ...], said: list[str], at: int) -> Iterator[tuple[int, _Node]]:
    """Every phrase that begins here."""
    reached: list[_Node] = list(nodes)
    while reached:
        yield from ((at, node) for node in reached)
        at += 1
        if at == len(said):
            return
        word = said[at][:_LONGEST_WORD]
        reached = [each for node in reached if node.words or node.stems for each in node.after(word)]
