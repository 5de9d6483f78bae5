"""The building blocks of a detector: its rules, the phrases it searches for, and the other tools it knows of.

Rules kept here:
1. A detector is a pure function plus the rules whose findings it may return. It never repeats inspected text: a title
   is a constant, and evidence is a path and a span.
2. A sentence that describes attacks (in a scanner's or a manual's text) is not an order. A finding in it counts little
   and is never hard.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Final

from mcpguard.domain.findings import Finding, Severity
from mcpguard.inspection.reading.patterns import MeaningPattern, mask, pattern
from mcpguard.inspection.reading.tokens import SENTENCE
from mcpguard.inspection.reading.vocabulary import PhraseHit
from mcpguard.inspection.rules.rule_table import RULES, DetectorRule
from mcpguard.inspection.texts.marks import MARKS
from mcpguard.inspection.texts.texts import DefinitionTexts, Text
from mcpguard.inspection.vocabulary import WORDS
from mcpguard.policy.lexicon import parts

_MEANINGS: Final = WORDS.meanings | MARKS | {"FOREIGN", "STRANGE"}
_LONGEST_NAME: Final = 100
_REPORTED: Final = 0.2
_FORBIDDEN: Final = 2
_CLOSE: Final = 6
_NEITHER: Final = 12
"""How many words before a "without" a prohibition may stand and still belong to it."""
_BEFORE: Final = 16
"""How many words before a phrase a sentence may say that it only quotes it."""


Since = tuple[bool, str]
"""When a tool was first seen, less for earlier. Approved tools come before all that are not."""
NEWEST: Final[Since] = (True, "~")
"""The time of a tool that was never seen before."""


@dataclass(frozen=True)
class Surroundings:
    """What is known about the other tools: those of the same server, and those of every other server.

    `compared`: whether texts are compared with published attacks. `since` says for each server, its own too, when its
    tools were first seen. None: all other servers were earlier.
    """

    server: str = ""
    own: frozenset[str] = frozenset()
    others: Mapping[str, frozenset[str]] = field(default_factory=dict)
    since: Mapping[str, Mapping[str, Since]] | None = None
    compared: bool = True

    def imitated_server(self, mine: str, other: str) -> str | None:
        """Return the server that has offered the tool `other` for longest, if it was there before `mine`."""
        offering = sorted(server for server, tools in self.others.items() if other in tools)
        if self.since is None or not offering:
            return offering[0] if offering else None
        # The earlier tool is the original, or a newcomer could make an approved tool look like the copy.
        came, first = min((self.since[server][other], server) for server in offering)
        return first if came < self.since.get(self.server, {}).get(mine, NEWEST) else None

    @cached_property
    def other_names(self) -> frozenset[str]:
        """The names of the tools of every other server."""
        return frozenset[str]().union(*self.others.values())

    @cached_property
    def tools_by_word(self) -> Mapping[str, frozenset[tuple[str, str]]]:
        """The tools of other servers, each with its server, by the words of their names."""
        tools = ((server, tool) for server, names in self.others.items() for tool in names)
        named = [(word, each) for each in tools for word in {*parts(each[1][:_LONGEST_NAME])}]
        found: dict[str, set[tuple[str, str]]] = {}
        for word, each in named:
            found.setdefault(word, set()).add(each)
        return {word: frozenset(some) for word, some in found.items()}

    @cached_property
    def foreign(self) -> frozenset[str]:
        """The names of other servers' tools that the server itself does not have."""
        return self.other_names - self.own


Find = Callable[[DefinitionTexts, Surroundings], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class Detector:
    """A detector of one behaviour. `phrases` holds what it looks for, where it looks for nothing else."""

    rules: tuple[DetectorRule, ...]
    find: Find
    phrases: "tuple[Phrases, ...]" = ()


@dataclass(frozen=True, slots=True)
class Phrases:
    """A rule that a text breaks by matching any of the patterns."""

    rule: DetectorRule
    patterns: tuple[MeaningPattern, ...]
    unless: tuple[MeaningPattern, ...] = ()
    """Patterns that make a match close to them harmless."""
    topics: frozenset[str] = frozenset()
    """Subjects of tools that have a legitimate reason to use such phrases."""

    def find_in(self, text: Text, more: Mapping[str, list[PhraseHit]] | None = None) -> Finding | None:
        """Return the first match in a text as a finding. `more`: meanings that only this detector knows."""
        meanings = text.meanings
        if more:
            meanings |= mask(meaning for meaning, places in more.items() if places)
        hits: Mapping[str, list[PhraseHit]] | None = None
        for each in self.patterns:
            if not each.may_match(meanings):
                continue
            hits = hits or ({**text.hits, **more} if more else text.hits)
            hit = each.find(hits, text.tokens.positions)
            if hit and not _is_neither(text, hit):
                finding = self.rule.finding_at(text.evidence_of(hit))
                harmless = _is_reported(text, hit) or _is_forbidden(text, hit) or self._excused(text, hit)
                return as_weak_finding(finding) if harmless else finding
        return None

    def find_for_tool(self, subject: DefinitionTexts, text: Text) -> Finding | None:
        """Return the first match as a finding, a weak one if the tool's subject gives it a reason."""
        finding = self.find_in(text)
        return as_weak_finding(finding) if finding and not self.topics.isdisjoint(subject.purpose) else finding

    def _excused(self, text: Text, hit: PhraseHit) -> bool:
        positions = text.tokens.positions
        for each in self.unless:
            for excuse in each.find_all(text.hits, positions) if each.may_match(text.meanings) else ():
                if (
                    positions[excuse.first] - positions[hit.last]
                    <= _CLOSE
                    >= positions[hit.first] - positions[excuse.last]
                ):
                    return True
        return False


_MOST_KEPT: Final = 4096


class PhraseRules:
    """Several rules, of which it is known at once which a text may break. Nearly no text may break any.

    It is remembered by those meanings of a text that any pattern has, which are the same few for nearly all texts.
    """

    def __init__(self, *rules: Phrases) -> None:
        self.rules = rules
        self._meanings = 0
        for each in rules:
            for one in each.patterns:
                for step in one.needs:
                    self._meanings |= step
        self._remembered = lru_cache(maxsize=_MOST_KEPT)(self._breakable_with)

    def breakable_by(self, meanings: int) -> tuple[Phrases, ...]:
        """Return the rules that a text with these meanings, as a mask, may break, in order."""
        return self._remembered(meanings & self._meanings)

    def _breakable_with(self, meanings: int) -> tuple[Phrases, ...]:
        return tuple(each for each in self.rules if any(one.may_match(meanings) for one in each.patterns))


def phrases(rule: str, *patterns: str, unless: tuple[str, ...] = (), topics: str = "") -> Phrases:
    """Return the rule with this id and its patterns. Raises ValueError for a meaning that the vocabulary does not have,
    and KeyError for a rule that the table does not have.
    """
    ours, excuses = tuple(map(pattern, patterns)), tuple(map(pattern, unless))
    if unknown := {meaning for each in (*ours, *excuses) for step in each.steps for meaning in step} - _MEANINGS:
        raise ValueError(f"unknown meaning: {', '.join(unknown)}")
    return Phrases(RULES[rule], ours, excuses, frozenset(topics.split()))


def phrase_detector(*rules: Phrases) -> Detector:
    """Return a detector that looks for phrases anywhere in a definition."""

    every = PhraseRules(*rules)

    def find(subject: DefinitionTexts, _surroundings: Surroundings) -> Iterator[Finding]:
        for text in subject.texts if every.breakable_by(subject.meanings) else ():
            for each in every.breakable_by(text.meanings):
                if finding := each.find_for_tool(subject, text):
                    yield finding

    return Detector(tuple(each.rule for each in rules), find, rules)


def as_weak_finding(finding: Finding) -> Finding:
    """Return the finding with little weight, for text that quotes an attack or has a reason for such words."""
    severity = Severity.INFO if finding.severity is Severity.INFO else Severity.LOW
    return replace(finding, severity=severity, confidence=finding.confidence * _REPORTED, hard=False)


def is_reported_at(text: Text, start: int) -> bool:
    """Tell whether what begins at this character of a text is only spoken about, as a scanner's description does."""
    at = bisect_right(text.tokens.starts, start) - 1
    return at >= 0 and _is_reported(text, PhraseHit(at, at))


def _is_reported(text: Text, hit: PhraseHit) -> bool:
    """Tell whether the sentence began by saying that it is about such phrases."""
    at = text.tokens.positions[hit.first]
    for mark in text.hits.get("NOBODY_SPEAKS", ()):
        if mark.first >= hit.first:
            break
        near = at - text.tokens.positions[mark.last] <= _BEFORE and not _ended(text, mark.last, hit.first)
        if near and not _is_condition(text, mark):
            return True
    return False


def _is_condition(text: Text, mark: PhraseHit) -> bool:
    """Tell whether the sentence is "if the page has the phrase …", after which an order follows."""
    return any(
        0 < mark.first - when.last <= _CLOSE and not _ended(text, when.last, mark.first)
        for when in text.hits.get("WHEN", ())
    )


def _is_forbidden(text: Text, hit: PhraseHit) -> bool:
    """Tell whether the sentence forbids or denies what was found; a negated "forget" forbids nothing."""
    prohibitions = [*text.hits.get("NEVER", ()), *text.hits.get("DENIED", ())]
    never = [each for each in prohibitions if each.last < hit.first]
    if not never or any(hit.first <= each.first <= hit.last for each in prohibitions):
        return False
    last, positions = max(each.last for each in never), text.tokens.positions
    forgotten = any(last < each.first < hit.first for each in text.hits.get("FORGET", ()))
    return not forgotten and positions[hit.first] - positions[last] <= _FORBIDDEN


def _is_neither(text: Text, hit: PhraseHit) -> bool:
    """Tell whether the sentence only forbids to act without doing what was found."""
    positions = text.tokens.positions
    return any(each.first == hit.first for each in text.hits.get("WITHOUT", ())) and any(
        positions[hit.first] - positions[each.last] <= _NEITHER and not _ended(text, each.last, hit.first)
        for each in text.hits.get("NEVER", ())
        if each.last < hit.first
    )


def _ended(text: Text, first: int, last: int) -> bool:
    positions = text.tokens.positions
    return any(positions[at + 1] - positions[at] > SENTENCE for at in range(first, last))
