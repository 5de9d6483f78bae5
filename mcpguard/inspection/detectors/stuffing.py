"""Detects tools that name many subjects, so that agents find them whatever they look for (T5).

Rules kept here:
1. Only the name, the title and the beginning of the description count: a search weighs them most.
2. Words that belong together count as one subject: those of one subject of the vocabulary, or of one other tool's name.
   A word that the vocabulary does not have counts where tools of several other servers have it in their names.
3. Subjects are suspicious in a name or title, where they stand alone between commas, and in a text without grammar. A
   sentence may speak of many.
4. The work is bounded: few words of a definition are read, and few tools for each of them.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from mcpguard.domain.findings import Evidence, Finding
from mcpguard.inspection.detectors.detector import Detector, Surroundings
from mcpguard.inspection.reading.tokens import SENTENCE, Tokens
from mcpguard.inspection.rules.rule_table import RULES
from mcpguard.inspection.texts.texts import DefinitionTexts, Text
from mcpguard.inspection.vocabulary import FUNCTION_WORDS, SUBJECTS
from mcpguard.policy.lexicon import EFFECT_WORDS

_STUFFED: Final = RULES["promotion.subjects"]
_NAME: Final = "/name"
_NAMES: Final = (_NAME, "/title", "/annotations/title")
_DESCRIPTION: Final = "/description"
_READ: Final = frozenset({*_NAMES, _DESCRIPTION})
_USUALLY_NAMED: Final = 3
"""Subjects of a name and a title; more of them are rare."""
_LINE: Final = 23
"""Points above which a tool is suspicious: five of 1,244 honest servers have such a tool."""
_BEGINNING: Final = 60
"""Characters after which the first end of a sentence ends the beginning of a description."""
_LONGEST_BEGINNING: Final = 600
_MOST_NAMED: Final = 60
_SHORTEST: Final = 3
_JOINTS: Final = frozenset({"and", "or"})
_FEW_SERVERS: Final = 2
_SEVERAL: Final = 10
"""A word is a subject if two other servers, and one in so many, have it in the names of their tools."""
_MOST_TOOLS: Final = 16
"""Tools of other servers that are looked at for each word."""
_MOST_TOLD: Final = 3
_LONGEST_TOLD: Final = 64
_SHORTEST_LIST: Final = 6
"""Words from which a text without grammar is a list."""
_LONGEST_LIST: Final = 12
"""Words from which a list counts no more."""
_LISTED: Final = 4
"""One word in so many of a list has to belong to a subject."""


def _words_of_subjects() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for subject, words in SUBJECTS.items():
        for word in words.split():
            found.setdefault(word, set()).add(subject)
    return {word: frozenset(subjects) for word, subjects in found.items()}


_KNOWN: Final = _words_of_subjects()


@dataclass(frozen=True, slots=True)
class _Beginning:
    """The words with which a description begins, and those of them that stand alone between marks.

    `listed`: how many of them count as a list, because no grammar holds them together.
    """

    words: list[str]
    alone: list[str]
    listed: int = 0


def _find(subject: DefinitionTexts, surroundings: Surroundings) -> Iterator[Finding]:
    texts = {text.path: text for text in reversed(subject.texts) if text.path in _READ}
    if _NAME not in texts:
        return
    named = [word for path in _NAMES if path in texts for word in texts[path].tokens.words[:_MOST_NAMED]]
    begins = _beginning(texts[_DESCRIPTION]) if _DESCRIPTION in texts else _Beginning([], [])
    # Hardly any tool has as many words as it would need, whatever they are.
    if _points(len({*named}), len({*begins.alone}), begins.listed) <= _LINE:
        return
    subjects = _subjects({*map(_singular, (*named, *begins.words))}, surroundings)
    about = sum(_singular(word) in subjects for word in begins.words)
    listed = begins.listed if about * _LISTED >= len(begins.words) else 0
    if _points(_count(named, subjects), _count(begins.alone, subjects), listed) > _LINE:
        finding = _STUFFED.finding_at(_place(texts, begins, subjects))
        yield replace(finding, about=_others_with(subjects, surroundings))


def _points(named: int, alone: int, listed: int) -> int:
    """Return how much speaks for stuffing: subjects of name and title, of lone words, and the length of a list."""
    return 3 * named + 2 * max(0, named - _USUALLY_NAMED) + 4 * alone + 5 * listed // 3


def _beginning(description: Text) -> _Beginning:
    """Return how a description begins: with its first sentences, until they are long enough."""
    tokens = description.tokens
    ends = (at for at in range(1, len(tokens.words)) if _ends_before(description, at))
    size = next(ends, len(tokens.words))
    words = tokens.words[:size]
    is_list = size >= _SHORTEST_LIST and FUNCTION_WORDS.isdisjoint(words)
    alone = [words[at] for at in range(size) if _stands_alone(tokens, at, size)]
    return _Beginning(words, alone, min(size, _LONGEST_LIST) if is_list else 0)


def _ends_before(description: Text, at: int) -> bool:
    """Tell whether the beginning of a description ends before this word: at a sentence or paragraph, if long enough."""
    tokens = description.tokens
    end, start = tokens.ends[at - 1], tokens.starts[at]
    if end < _BEGINNING:
        return False
    ended = tokens.positions[at] - tokens.positions[at - 1] > SENTENCE
    return ended or start >= _LONGEST_BEGINNING or description.raw[end:start].count("\n") > 1


def _stands_alone(tokens: Tokens, at: int, size: int) -> bool:
    return _is_apart(tokens, at - 1, size) and _is_apart(tokens, at, size)


def _is_apart(tokens: Tokens, at: int, size: int) -> bool:
    """Tell whether a word and the next one are not of the same phrase: between them is a mark, or one is a joint."""
    after = at + 1
    if at < 0 or after >= size or not _JOINTS.isdisjoint(tokens.words[at : after + 1]):
        return True
    return tokens.positions[after] - tokens.positions[at] > 1


def _subjects(words: Iterable[str], surroundings: Surroundings) -> Mapping[str, Collection[str]]:
    """Return the words that belong to subjects, with these."""
    found: dict[str, Collection[str]] = {}
    several = max(_FEW_SERVERS, len(surroundings.others) // _SEVERAL)
    for word in words:
        if word in _KNOWN:
            found[word] = _KNOWN[word]
        elif len(word) >= _SHORTEST and not (word in EFFECT_WORDS or word in FUNCTION_WORDS or word.isdigit()):
            tools = _tools_with(word, surroundings)
            if len({server for server, _ in tools}) >= several:
                found[word] = [f"{server}:{tool}" for server, tool in sorted(tools)[:_MOST_TOOLS]]
    return found


def _tools_with(word: str, surroundings: Surroundings) -> frozenset[tuple[str, str]]:
    """Return the tools of other servers that have a word in their names, in the singular or in the plural."""
    none = frozenset[tuple[str, str]]()
    return surroundings.tools_by_word.get(word, none) | surroundings.tools_by_word.get(f"{word}s", none)


def _count(words: Iterable[str], subjects: Mapping[str, Collection[str]]) -> int:
    """Return how many subjects explain these words: as few as possible, nearly."""
    left, count = {word for word in map(_singular, words) if word in subjects}, 0
    while left:
        having = Counter(each for word in left for each in subjects[word])
        most = min(having, key=lambda each: (-having[each], each))
        left = {word for word in left if most not in subjects[word]}
        count += 1
    return count


def _place(texts: Mapping[str, Text], begins: _Beginning, subjects: Mapping[str, Collection[str]]) -> Evidence:
    """Return the part of the text with the most subjects, from the first word of them to the last."""
    read = {path: text.tokens.words[:_MOST_NAMED] for path, text in texts.items()} | {_DESCRIPTION: begins.words}
    path = max(read, key=lambda each: _count(read[each], subjects))
    text, at = texts[path], [at for at, word in enumerate(read[path]) if _singular(word) in subjects]
    return text.evidence_at(text.tokens.starts[at[0]], text.tokens.ends[at[-1]])


def _others_with(words: Iterable[str], surroundings: Surroundings) -> str:
    """Return how many tools of other servers have these words in their names, and some of them."""
    tools = Counter(each for word in words for each in _tools_with(word, surroundings))
    servers: dict[str, str] = {}
    for server, tool in sorted(tools, key=lambda each: (-tools[each], each)):
        servers.setdefault(server, f"{server}:{tool}"[:_LONGEST_TOLD])
    if not servers:
        return ""
    told = ", ".join([*servers.values()][:_MOST_TOLD])
    those = f"{_counted(len(tools), 'tool')} of {_counted(len(servers), 'other server')}"
    return f"its words are in the names of {those}, such as {told}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _singular(word: str) -> str:
    """Return an English word in the singular, if it is a plural of the usual form; "news" is none."""
    if word in _KNOWN or len(word) <= _SHORTEST or not word.endswith("s"):
        return word
    usual = (word[:-1], word[:-2], f"{word[:-3]}y")
    return next((each for each in usual if each in _KNOWN), word if word.endswith("ss") else word[:-1])


DETECTOR: Final = Detector((_STUFFED,), _find)
