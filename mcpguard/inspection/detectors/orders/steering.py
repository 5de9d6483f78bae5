"""Detects text that influences how another server's tools are used (T6).

The surroundings list the foreign names. Without them, any name that is neither the tool's own nor one of its parameters
may be foreign: findings about it weigh less, and only phrases count that are not used about a tool of the same server.
The foreign names are compiled once for all definitions with the same surroundings, as there may be thousands of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from mcpguard.domain.findings import Finding
from mcpguard.inspection.detectors.detector import Detector, PhraseRules, Surroundings, phrases
from mcpguard.inspection.reading.patterns import mask
from mcpguard.inspection.reading.tokens import words
from mcpguard.inspection.reading.vocabulary import PhraseHit
from mcpguard.inspection.texts.texts import DefinitionTexts, Text, TextRole
from mcpguard.policy.lexicon import parts

_STEERS: Final = phrases(
    "steering.foreign",
    "WHEN|BEFORE|ALWAYS|ANY 4 FOREIGN 8 MUST|SEND|CHANGE|CARRY|CALL|FIRST",
    "TAMPER|IGNORE 6 FOREIGN",
    "INSTEAD 3 FOREIGN",
    "NEVER 3 CALL 3 FOREIGN",
    "FOREIGN 6 INSTEAD|WORSE|TAMPER",
    "SEND 6 FOREIGN",
)
_CALLS: Final = phrases(
    "steering.calls",
    "MUST|FIRST|ALWAYS 3 CALL 4 FOREIGN",
    "CALL 3 FOREIGN 4 BEFORE|FIRST",
)
_MENTIONS: Final = phrases("steering.mention", "FOREIGN")
_MAYBE: Final = phrases(
    "steering.other",
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
    "steering.forces",
    "MUST 3 FIRST 2 CALL 3 STRANGE",
    "MUST 2 CALL 3 STRANGE 6 FIRST|BEFORE",
    "BEFORE 2 CALL 2 THIS 6 MUST|CALL|FIRST 6 STRANGE",
)
_PLACES: Final = phrases(
    "steering.values",
    "~14 STRANGE EMAIL BCC|RECIPIENT|TAMPER|CHANGED|MUST",
    "~14 STRANGE NUMBER TAMPER|CHANGED",
    "~10 STRANGE URL TAMPER",
    "MEANT_FOR 1 STRANGE",
    "CALLS_OF 1 STRANGE 4 MUST|ALWAYS 3 CARRY|CHANGE|SEND|BE_VALUE",
    "CALLS_OF 1 STRANGE 10 NUMBER|EMAIL|TAMPER",
    "CALLS_OF 1 STRANGE 6 RECIPIENT 3 MUST|CHANGED",
    "STRANGE 3 ONLY_IF 6 CHANGED|TAMPER",
    "IGNORE 0 STRANGE _",
    "CONDUCT 3 STRANGE 3 CHANGE|MUST",
)
_DUTIES: Final = phrases(
    "steering.duties",
    "BEFORE|WHEN 3 CALL 4 STRANGE 12 MUST|ALWAYS|FIRST|CHANGE|TAMPER|IGNORE|CHANGED"
    " 6 STRANGE|PARAMETER|QUOTED|RECIPIENT",
    "MUST|ALWAYS|FIRST 3 CALL 3 STRANGE 16 BEFORE 3 CALL 4 STRANGE",
    "CALLS_OF 2 STRANGE 12 MUST|ALWAYS 3 CHANGE|TAMPER|IGNORE|CALL",
    "MUST|ALWAYS 3 CHANGE|TAMPER 3 PARAMETER|QUOTED 12 STRANGE",
)
_REDIRECTS: Final = phrases(
    "steering.redirects",
    "STRANGE 6 OFF|WORSE|VOID 12 INSTEAD|CALL|PREFER 5 STRANGE",
    "OFF|WORSE|VOID 10 INSTEAD|CALL|PREFER 5 STRANGE",
    "SAFER 2 STRANGE 4 INSTEAD",
    "CALL|PREFER 3 STRANGE 4 INSTEAD",
)
_AFTER: Final = phrases(
    "steering.after",
    "WHEN 4 CALL|THIS 10 MUST|ALWAYS|ALSO 4 CALL 3 STRANGE",
    "THIS 4 MUST 2 WHEN 4 CALL 3 STRANGE",
)
_REPLACES: Final = phrases(
    "steering.replaces",
    "INSTEAD|REPLACE 2 STRANGE",
)
_FORBIDS: Final = phrases(
    "steering.forbids",
    "NEVER 1 CALL 1 STRANGE",
    "STRANGE 5 OFF",
)
_RULES: Final = PhraseRules(
    _STEERS, _CALLS, _MENTIONS, _MAYBE, _DUTIES, _FORCES, _PLACES, _REDIRECTS, _AFTER, _REPLACES, _FORBIDS
)
_FOREIGN, _STRANGE, _NAMED = mask(["FOREIGN"]), mask(["STRANGE"]), mask(["NAMED"])
_ABOUT_FOREIGN: Final = (_STEERS, _CALLS, _MENTIONS)
_SHORT: Final = 7
_LONGEST: Final = 128
"""Characters of the longest name that is searched for in a text."""


@dataclass(frozen=True, slots=True)
class _Names:
    """Names as words: those that each sequence of words stands for, and their lengths by the first word."""

    of: dict[tuple[str, ...], frozenset[str]]
    lengths: dict[str, frozenset[int]]


def _find(subject: DefinitionTexts, surroundings: Surroundings) -> Iterator[Finding]:
    foreign = _names(surroundings.foreign)
    name = subject.definition.get("name")
    mine = name if isinstance(name, str) else ""
    possible = subject.meanings | (_FOREIGN if foreign.of else 0) | (_STRANGE if subject.meanings & _NAMED else 0)
    if not _RULES.breakable_by(possible):
        return
    known = _own(subject, surroundings)
    for text in subject.texts:
        if text.role is not TextRole.VALUE:
            continue
        more = {"FOREIGN": _foreign(text, foreign, mine), "STRANGE": _strange(text, known)}
        meanings = text.meanings | mask(meaning for meaning, places in more.items() if places)
        for each in _RULES.breakable_by(meanings):
            if finding := each.find_in(text, more):
                about = each in _ABOUT_FOREIGN
                yield _naming(finding, text, more["FOREIGN"], surroundings, mine) if about else finding
                if each is _STEERS:
                    break


def _naming(finding: Finding, text: Text, hits: list[PhraseHit], surroundings: Surroundings, mine: str) -> Finding:
    """Return the finding with the first of other servers' tools that stands at its place."""
    place, names = finding.evidence, _names(surroundings.foreign)
    there = (hit for hit in hits if place.start <= text.evidence_of(hit).start < place.end)
    hit = next(there, hits[0])
    name = min(names.of[tuple(text.tokens.words[hit.first : hit.last + 1])] - {mine})
    server = min(server for server, tools in surroundings.others.items() if name in tools)
    return replace(finding, about=f"{server}:{name}")


@lru_cache(maxsize=4)
def _names(foreign: frozenset[str]) -> _Names:
    of: dict[tuple[str, ...], frozenset[str]] = {}
    lengths: dict[str, frozenset[int]] = {}
    for name in foreign:
        name_words = telling_words(name)
        if name_words:
            of[name_words] = of.get(name_words, frozenset()) | {name}
            lengths[name_words[0]] = lengths.get(name_words[0], frozenset()) | {len(name_words)}
    return _Names(of, lengths)


def telling_words(name: str) -> tuple[str, ...]:
    """Return the words as which a name is found in a text; none where any text could have them."""
    return _words(name) if _telling(name) else ()


def _telling(name: str) -> bool:
    """Tell whether a name cannot be an ordinary word: it has two words, or one long one, and no excessive length."""
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
    """Return where foreign names stand, except the name of the inspected tool itself."""
    text_words = text.tokens.words
    if names.lengths.keys().isdisjoint(text_words):
        return []
    return [
        PhraseHit(at, at + length - 1)
        for at, word in enumerate(text_words)
        for length in sorted(names.lengths.get(word, ()))
        if names.of.get(tuple(text_words[at : at + length]), frozenset()) - {mine}
    ]


def find_foreign_names(text: Text, surroundings: Surroundings) -> list[PhraseHit]:
    """Return where a text names tools of other servers."""
    return _foreign(text, _names(surroundings.foreign), "")


def _strange(text: Text, known: frozenset[tuple[str, ...]]) -> list[PhraseHit]:
    """Return where names stand that are not known as the server's own. One in capitals is a variable, not a tool."""
    tokens, named = text.tokens, text.hits.get("NAMED", ())
    return [
        hit
        for hit in named
        if tuple(tokens.words[hit.first : hit.last + 1]) not in known
        and not text.raw[tokens.starts[hit.first] : tokens.ends[hit.last]].isupper()
    ]


DETECTOR: Final = Detector(tuple(each.rule for each in _RULES.rules), _find)
