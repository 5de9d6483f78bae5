"""What a detector is made of.

Rules kept here:
1. A detector is a pure function and the rules whose findings it may give. It never repeats a text: a title is a
   constant, evidence is a path and a span.
2. A sentence that speaks about such words (a scanner's, a manual's) is no order. What is found in it counts little, and
   is never hard.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from mcpguard.domain.findings import Evidence, Finding, Severity
from mcpguard.inspection.reading.patterns import MeaningPattern, mask, pattern
from mcpguard.inspection.reading.tokens import SENTENCE
from mcpguard.inspection.reading.vocabulary import PhraseHit
from mcpguard.inspection.texts.marks import MARKS
from mcpguard.inspection.texts.texts import DefinitionTexts, Text
from mcpguard.inspection.vocabulary import WORDS

_MEANINGS: Final = WORDS.meanings | MARKS | {"FOREIGN", "STRANGE"}
_REPORTED: Final = 0.2
_FORBIDDEN: Final = 2
_CLOSE: Final = 6
_NEITHER: Final = 12
"""How far before a "without" another word forbids it: do not change it without telling anybody."""
_BEFORE: Final = 16
"""How many words before something it may be said that nobody says it."""


@dataclass(frozen=True, slots=True)
class DetectorRule:
    """What may be found, and what it means. `confidence` is how likely a definition with this alone is an attack."""

    id: str
    threat: str
    severity: Severity
    confidence: float
    title: str
    hard: bool = False

    def at(self, evidence: Evidence) -> Finding:
        return Finding(self.id, self.threat, self.severity, self.confidence, self.hard, self.title, evidence)


Since = tuple[bool, str]
"""When a tool came: less for what came first. What a person has approved comes before what nobody has."""
NEWEST: Final[Since] = (True, "~")
"""That of a tool which nobody has seen before."""


@dataclass(frozen=True)
class Surroundings:
    """What is known beside a definition: its server, what else that offers, and the tools of every other server.

    `since`: of each server, its own too, when its tools came. None: every tool of another server came earlier.
    """

    server: str = ""
    own: frozenset[str] = frozenset()
    others: Mapping[str, frozenset[str]] = field(default_factory=dict)
    since: Mapping[str, Mapping[str, Since]] | None = None

    def imitated(self, mine: str, other: str) -> str | None:
        """The server that has had this other tool for longest, if that is longer than we have had mine."""
        offering = sorted(server for server, tools in self.others.items() if other in tools)
        if self.since is None or not offering:
            return offering[0] if offering else None
        came, first = min((self.since[server][other], server) for server in offering)
        return first if came < self.since.get(self.server, {}).get(mine, NEWEST) else None

    @cached_property
    def named(self) -> frozenset[str]:
        """The tools of every other server."""
        return frozenset[str]().union(*self.others.values())

    @cached_property
    def foreign(self) -> frozenset[str]:
        """Those of them that the server itself has none of."""
        return self.named - self.own


Find = Callable[[DefinitionTexts, Surroundings], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class Detector:
    """One behaviour. `said`: the phrases by which it is known, where there is nothing else to it."""

    rules: tuple[DetectorRule, ...]
    find: Find
    said: "tuple[Phrases, ...]" = ()


@dataclass(frozen=True, slots=True)
class Phrases:
    """A rule that is broken by what is said: by any of the patterns."""

    rule: DetectorRule
    patterns: tuple[MeaningPattern, ...]
    unless: tuple[MeaningPattern, ...] = ()
    """What makes it harmless, close by."""
    topics: frozenset[str] = frozenset()
    """Tools that are about these have a reason to speak so."""

    def of(self, text: Text, more: Mapping[str, list[PhraseHit]] | None = None) -> Finding | None:
        """The first thing in a text that breaks the rule. `more`: meanings that only this detector knows."""
        said = text.said | mask(meaning for meaning, found in more.items() if found) if more else text.said
        hits: Mapping[str, list[PhraseHit]] | None = None
        for each in self.patterns:
            if not each.possible(said):
                continue
            hits = hits or ({**text.hits, **more} if more else text.hits)
            hit = each.found(hits, text.tokens.positions)
            if hit and not _is_neither(text, hit):
                found = self.rule.at(text.of(hit))
                harmless = _is_reported(text, hit) or _is_forbidden(text, hit) or self._excused(text, hit)
                return reported(found) if harmless else found
        return None

    def about(self, subject: DefinitionTexts, text: Text) -> Finding | None:
        """The same, in view of what the tool is for."""
        found = self.of(text)
        return reported(found) if found and not self.topics.isdisjoint(subject.purpose) else found

    def _excused(self, text: Text, hit: PhraseHit) -> bool:
        positions = text.tokens.positions
        for each in self.unless:
            excuse = each.found(text.hits, positions) if each.possible(text.said) else None
            if (
                excuse
                and positions[excuse.first] - positions[hit.last]
                <= _CLOSE
                >= positions[hit.first] - positions[excuse.last]
            ):
                return True
        return False


def phrases(rule: DetectorRule, *patterns: str, unless: tuple[str, ...] = (), topics: str = "") -> Phrases:
    ours, excuses = tuple(map(pattern, patterns)), tuple(map(pattern, unless))
    if unknown := {meaning for each in (*ours, *excuses) for step in each.steps for meaning in step} - _MEANINGS:
        raise ValueError(f"no such meaning: {', '.join(unknown)}")
    return Phrases(rule, ours, excuses, frozenset(topics.split()))


def saying(*said: Phrases) -> Detector:
    """A detector of phrases alone, anywhere in a definition."""

    def find(subject: DefinitionTexts, _surroundings: Surroundings) -> Iterator[Finding]:
        for text in subject.texts:
            for each in said:
                if found := each.about(subject, text):
                    yield found

    return Detector(tuple(each.rule for each in said), find, said)


def reported(found: Finding) -> Finding:
    severity = Severity.INFO if found.severity is Severity.INFO else Severity.LOW
    return replace(found, severity=severity, confidence=found.confidence * _REPORTED, hard=False)


def _is_reported(text: Text, hit: PhraseHit) -> bool:
    """Whether the sentence began by saying that it is about such words."""
    at = text.tokens.positions[hit.first]
    for mark in text.hits.get("NOBODY_SPEAKS", ()):
        if mark.first >= hit.first:
            break
        near = at - text.tokens.positions[mark.last] <= _BEFORE and not _ended(text, mark.last, hit.first)
        if near and not _is_condition(text, mark):
            return True
    return False


def _is_condition(text: Text, mark: PhraseHit) -> bool:
    """Whether the sentence goes "if the page has the phrase", after which comes what is to be done."""
    return any(
        0 < mark.first - when.last <= _CLOSE and not _ended(text, when.last, mark.first)
        for when in text.hits.get("WHEN", ())
    )


def _is_forbidden(text: Text, hit: PhraseHit) -> bool:
    """Whether what was found is what one is told not to do; "do not forget to" forbids nothing."""
    said = text.hits.get("NEVER", ())
    never = [each for each in said if each.last < hit.first]
    if not never or any(hit.first <= each.first <= hit.last for each in said):
        return False
    last, positions = max(each.last for each in never), text.tokens.positions
    forgotten = any(last < each.first < hit.first for each in text.hits.get("FORGET", ()))
    return not forgotten and positions[hit.first] - positions[last] <= _FORBIDDEN


def _is_neither(text: Text, hit: PhraseHit) -> bool:
    """Whether one is told not to do something without doing this."""
    positions = text.tokens.positions
    return any(each.first == hit.first for each in text.hits.get("WITHOUT", ())) and any(
        positions[hit.first] - positions[each.last] <= _NEITHER and not _ended(text, each.last, hit.first)
        for each in text.hits.get("NEVER", ())
        if each.last < hit.first
    )


def _ended(text: Text, first: int, last: int) -> bool:
    positions = text.tokens.positions
    return any(positions[at + 1] - positions[at] > SENTENCE for at in range(first, last))
