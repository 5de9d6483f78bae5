"""Text that steers what is done with another server's tools (T6).

Which names are foreign is known from the surroundings. Without them, a name that is neither the tool's own nor one of
its parameters' may be foreign, so that what is said of it counts less, and only what nobody says of a sibling counts.
The names of the surroundings are read once for all definitions in the same ones: there may be thousands of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from mcpguard.domain.findings import Finding, Severity
from mcpguard.inspection.detectors.detector import Detector, DetectorRule, Surroundings, phrases
from mcpguard.inspection.reading.tokens import words
from mcpguard.inspection.reading.vocabulary import PhraseHit
from mcpguard.inspection.texts.texts import DefinitionTexts, Text, TextRole
from mcpguard.policy.lexicon import parts

_STEERS: Final = phrases(
    DetectorRule(
        "steering.foreign",
        "T6",
        Severity.CRITICAL,
        0.9,
        "It tells the model what to do with another server's tool",
        hard=True,
    ),
    "WHEN|BEFORE|ALWAYS|ANY 4 FOREIGN 8 MUST|SEND|CHANGE|CARRY|CALL|FIRST",
    "TAMPER|IGNORE 6 FOREIGN",
    "INSTEAD 3 FOREIGN",
    "NEVER 3 CALL 3 FOREIGN",
    "FOREIGN 6 INSTEAD|WORSE|TAMPER",
    "SEND 6 FOREIGN",
)
_CALLS: Final = phrases(
    DetectorRule("steering.calls", "T6", Severity.HIGH, 0.55, "It wants another server's tool to be called"),
    "MUST|FIRST|ALWAYS 3 CALL 4 FOREIGN",
    "CALL 3 FOREIGN 4 BEFORE|FIRST",
)
_MENTIONS: Final = phrases(
    DetectorRule("steering.mention", "T6", Severity.MEDIUM, 0.35, "It speaks of another server's tool"), "FOREIGN"
)
_MAYBE: Final = phrases(
    DetectorRule("steering.other", "T6", Severity.HIGH, 0.55, "It tells the model to change what another tool does"),
    "WHEN 3 STRANGE 4 CALL 10 TAMPER|SEND|EMAIL|RECIPIENT",
    "WHEN 3 STRANGE 4 CALL 5 MUST|FIRST|ALWAYS 3 CHANGE|CALL|SEND|CARRY",
    "WHEN 4 CALL 3 STRANGE 6 TAMPER|SEND|RECIPIENT",
    "TAMPER 5 STRANGE 0 TOOL",
    "TAMPER 4 BEHAVIOR 4 STRANGE",
    "TAMPER 1 STRANGE 6 SEND|CALL|ALWAYS",
    "INSTEAD 3 STRANGE 8 SEND|TAMPER",
    "STRANGE 8 TAMPER 1 THIS 1 RESULTS",
)
_FORCES: Final = phrases(
    DetectorRule("steering.forces", "T6", Severity.MEDIUM, 0.1, "It makes a call of another tool a condition"),
    "MUST 3 FIRST 2 CALL 3 STRANGE",
    "MUST 2 CALL 3 STRANGE 6 FIRST|BEFORE",
    "BEFORE 2 CALL 2 THIS 6 MUST|CALL|FIRST 6 STRANGE",
)
_PLACES: Final = phrases(
    DetectorRule("steering.values", "T6", Severity.HIGH, 0.5, "It says what another tool is to be called with"),
    "~14 STRANGE EMAIL BCC|RECIPIENT|TAMPER|CHANGED|MUST",
    "~14 STRANGE NUMBER TAMPER|CHANGED",
    "~10 STRANGE URL TAMPER",
    "MEANT_FOR 1 STRANGE",
    "CALLS_OF 1 STRANGE 4 MUST|ALWAYS 3 CARRY|CHANGE|SEND|BE_VALUE",
    "CALLS_OF 1 STRANGE 10 NUMBER|EMAIL|TAMPER",
    "CALLS_OF 1 STRANGE 6 RECIPIENT 3 MUST|CHANGED",
    "STRANGE 3 ONLY_IF 6 CHANGED|TAMPER",
    "IGNORE 1 STRANGE",
    "CONDUCT 3 STRANGE 3 CHANGE|MUST",
)
_REPLACES: Final = phrases(
    DetectorRule("steering.replaces", "T6", Severity.LOW, 0.25, "It takes the place of another tool"),
    "INSTEAD|REPLACE 2 STRANGE",
)
_FORBIDS: Final = phrases(
    DetectorRule("steering.forbids", "T6", Severity.LOW, 0.25, "It speaks against another tool"),
    "NEVER 1 CALL 1 STRANGE",
    "STRANGE 5 OFF",
)
_SOFT: Final = (_CALLS, _MENTIONS, _MAYBE, _FORCES, _PLACES, _REPLACES, _FORBIDS)
_SHORT: Final = 7
_LONGEST: Final = 128
"""Characters of a name that a text may be looked through for."""


@dataclass(frozen=True, slots=True)
class _Names:
    """Names as words: all the names that are read as the same words, and how long those are that begin with a word."""

    of: dict[tuple[str, ...], frozenset[str]]
    lengths: dict[str, frozenset[int]]


def _find(subject: DefinitionTexts, surroundings: Surroundings) -> Iterator[Finding]:
    foreign = _names(surroundings.foreign)
    name = subject.definition.get("name")
    mine = name if isinstance(name, str) else ""
    known = _own(subject, surroundings)
    for text in subject.texts:
        if text.role is not TextRole.VALUE:
            continue
        more = {"FOREIGN": _foreign(text, foreign, mine), "STRANGE": _strange(text, known)}
        if found := _STEERS.of(text, more):
            yield found
            continue
        for each in _SOFT:
            if found := each.of(text, more):
                yield found


@lru_cache(maxsize=4)
def _names(foreign: frozenset[str]) -> _Names:
    of: dict[tuple[str, ...], frozenset[str]] = {}
    lengths: dict[str, frozenset[int]] = {}
    for name in foreign:
        said = words_of_name(name)
        if said:
            of[said] = of.get(said, frozenset()) | {name}
            lengths[said[0]] = lengths.get(said[0], frozenset()) | {len(said)}
    return _Names(of, lengths)


def words_of_name(name: str) -> tuple[str, ...]:
    """As which words it is found in a text; none where it could be in any."""
    return _words(name) if _telling(name) else ()


def _telling(name: str) -> bool:
    """Whether a name is no word that is in any text: two words, or a long one. What is longer still nobody writes."""
    return len(name) <= _LONGEST and (len(parts(name)) > 1 or len(name) > _SHORT)


def _own(subject: DefinitionTexts, surroundings: Surroundings) -> frozenset[tuple[str, ...]]:
    names = (text.raw for text in subject.texts if text.role is not TextRole.VALUE)
    return _all_words(surroundings.own).union(map(_words, names))


@lru_cache(maxsize=4)
def _all_words(names: frozenset[str]) -> frozenset[tuple[str, ...]]:
    return frozenset(map(_words, names))


def _words(name: str) -> tuple[str, ...]:
    return words(name.replace("_", " "))


def _foreign(text: Text, names: _Names, mine: str) -> list[PhraseHit]:
    """Where a name of others stands that is not the very name of what is looked at."""
    said = text.tokens.words
    return [
        PhraseHit(at, at + length - 1)
        for at, word in enumerate(said)
        for length in sorted(names.lengths.get(word, ()))
        if names.of.get(tuple(said[at : at + length]), frozenset()) - {mine}
    ]


def foreign_in(text: Text, surroundings: Surroundings) -> list[PhraseHit]:
    """Where a text names tools of other servers."""
    return _foreign(text, _names(surroundings.foreign), "")


def _strange(text: Text, known: frozenset[tuple[str, ...]]) -> list[PhraseHit]:
    named = text.hits.get("NAMED", ())
    return [hit for hit in named if tuple(text.tokens.words[hit.first : hit.last + 1]) not in known]


DETECTOR: Final = Detector((_STEERS.rule, *(each.rule for each in _SOFT)), _find)
