"""What inspection finds in what a server answers: free text, of any kind and length.

Rules kept here:
1. A reply is data. That it speaks of orders, of users and of passwords says nothing; only several signs close to each
   other do. What a sign is worth here is in `worth`, which is another matter than in a definition.
2. A glance at the words comes first (`glance`). Only where what may be said there could come to enough is it read.
3. The text is looked at in pieces, each of a bounded size, so that whoever looks can stop between two of them.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import islice
from typing import Final

from mcpguard.domain.findings import Finding
from mcpguard.inspection.definitions.weights import SAID, WORTH
from mcpguard.inspection.detectors import encoded, markup, mixed, turns
from mcpguard.inspection.detectors.detector import Detector, Surroundings
from mcpguard.inspection.detectors.orders import steering
from mcpguard.inspection.reading.patterns import MeaningPattern
from mcpguard.inspection.texts.glance import ALWAYS, Glance, words_of
from mcpguard.inspection.texts.texts import DefinitionTexts, Text
from mcpguard.inspection.vocabulary import TABLES, tongues
from mcpguard.text.linear import WordSet, compiled

ENOUGH: Final = 0.5
"""What the signs in one window have to come to, taken as if they were independent."""
ABOUT: Final = 0.7
"""The same where the text speaks about such attacks."""
SURE: Final = 0.8
BLOCK: Final = 4000
WINDOW: Final = 400
_OVERLAP: Final = 150
_MOST_CODES: Final = 20
"""Runs of codes that are decoded in one block."""
_LONGEST_CODE: Final = 2000
_DETECTORS: Final[tuple[Detector, ...]] = (*SAID, turns.DETECTOR, markup.DETECTOR, mixed.DETECTOR)
_DECODED: Final = encoded.decoding((*SAID, turns.DETECTOR))
_CODES: Final = compiled(
    r"[A-Za-z0-9+/_-]{24,}={0,2}|(?:[0-9a-fA-F]{2}[ :,-]?){16,}|(?:(?:\\x|\\u00|%)[0-9a-fA-F]{2}[^\n]{0,3}){6,}"
    r"|(?:[0-9A-Za-z][ .·_*-]{1,3}){10,}"
)
_ID: Final = re.compile(b"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
"""Numbers that are everywhere, and decode to nothing."""
_MIXED: Final = re.compile("[A-Za-z][\u0370-\u052f]|[\u0370-\u052f][A-Za-z]")
_MARKS: Final = compiled(r"(?i)<\||\[/?INST|<!--|system>|!\[[^\]\n]{0,80}\]\(http")
_TURNED: Final = frozenset(
    ["vtaber", "cerivbhf", "vafgehpgvbaf", "jvgubhg", "flfgrz", "erongi", "snoitcurtsni", "suoiverp"]
)
"""What words of orders are in an alphabet turned by thirteen, or in reverse."""
_ATTACKS: Final = re.compile(r"(?i)prompt.injection|injection attack|jailbreak|\battack|payload|detect|scanner")
_OFTEN: Final = 2
_AGAIN: Final = 0.25
_APART: Final = ("steering.", "turn.tag", "speaking.")
"""Rules that say something else than the others whose names begin so."""
HARD: Final = frozenset({"secrecy.order", "encoded.order", "steering.next", "override.instructions"})
"""Of these one is in whatever is surely an attack."""


def pieces(text: str) -> Iterator[str]:
    """The text in blocks that overlap."""
    step = BLOCK - _OVERLAP
    for start in range(0, max(len(text) - _OVERLAP, 1), step):
        yield text[start : start + BLOCK]


def worth_reading(block: str, surroundings: Surroundings) -> bool:
    """Whether what may be said in a block could come to enough."""
    return bool(_CODES.search(block.encode(errors="replace"))) or _may_say(block, surroundings)


def read(block: str, surroundings: Surroundings) -> tuple[Finding, ...]:
    """What is found in a block: in the window with the most, and in what the block decodes to."""
    most = max((_found(window, surroundings) for window in _windows(block, surroundings)), key=_risk, default=())
    decoded = tuple(_in_codes(block, surroundings))
    if _risk((*most, *decoded)) < (ABOUT if _is_about(block) else ENOUGH):
        return ()
    return tuple({each.rule: each for each in (*decoded, *most)}.values())


def is_hard(found: Iterable[Finding]) -> bool:
    """Whether what was found in a block can hardly be anything harmless."""
    every = tuple(found)
    return _risk(every) >= SURE and any(each.rule in HARD for each in every)


def _is_about(block: str) -> bool:
    return len(_ATTACKS.findall(block)) >= _OFTEN


def _windows(block: str, surroundings: Surroundings) -> Iterator[str]:
    if len(block) <= WINDOW:
        yield block
        return
    if not _may_say(block, surroundings):  # it has nothing but codes
        return
    step = WINDOW - _OVERLAP
    for start in range(0, max(len(block) - _OVERLAP, 1), step):
        window = block[start : start + WINDOW]
        if _may_say(window, surroundings):
            yield window


def _may_say(text: str, surroundings: Surroundings) -> bool:
    """Whether what may be said in a text, as it stands, could come to enough."""
    if _MARKS.search(text.encode(errors="replace")) or (not text.isascii() and _MIXED.search(text)):
        return True
    return _may_say_enough(text, surroundings)


def _found(window: str, surroundings: Surroundings) -> tuple[Finding, ...]:
    subject = DefinitionTexts({}, (Text("", window),))
    found: dict[str, Finding] = {}
    for detector in _DETECTORS:
        for each in detector.find(subject, surroundings):
            worth = WORTH.get(each.rule, 0.0)
            if worth:
                found[each.rule] = replace(each, confidence=worth * min(each.confidence / _full(each.rule), 1))
    return tuple(found.values())


def _in_codes(block: str, surroundings: Surroundings) -> Iterator[Finding]:
    """Orders that are encoded. Of a long run the beginning counts; one that fills a block is an image or an archive."""
    raw = block.encode(errors="replace")
    found = (each[0] for each in _CODES.finditer(raw) if len(each[0]) < BLOCK and not _ID.fullmatch(each[0]))
    runs = [each[:_LONGEST_CODE].decode(errors="ignore") for each in islice(found, _MOST_CODES)]
    if not _TURNED.isdisjoint(words_of(block)):
        runs.append(block)
    for run in runs:
        for each in _DECODED.find(DefinitionTexts({}, (Text("", run),)), surroundings):
            if each.rule in WORTH:
                yield replace(each, confidence=WORTH[each.rule])
                return


def _risk(found: Iterable[Finding]) -> float:
    """What signs come to. A second one of a family that says the same thing adds a part of what it is worth."""
    left, seen = 1.0, set[str]()
    for each in sorted({one.rule: one for one in found}.values(), key=lambda one: -one.confidence):
        family = each.rule if each.rule.startswith(_APART) else each.rule.partition(".")[0]
        left *= 1 - each.confidence * (_AGAIN if family in seen else 1)
        seen.add(family)
    return 1 - left


@cache
def _full(rule: str) -> float:
    """The confidence of a rule where nothing speaks against it."""
    every = (each for detector in (*_DETECTORS, _DECODED) for each in detector.rules)
    return next(each.confidence for each in every if each.id == rule)


@dataclass(frozen=True, slots=True)
class _Phrases:
    """Those of one rule, and what it is worth. Where nothing of `needs` is said, none of them is."""

    worth: float
    patterns: tuple[MeaningPattern, ...]
    needs: int

    def possible(self, said: int) -> bool:
        return bool(said & self.needs) and any(each.possible(said) for each in self.patterns)


@cache
def _glance() -> tuple[Glance, tuple[_Phrases, ...]]:
    """The vocabulary by its words, and the phrases of each rule, of what is worth the most first."""
    rules = (each for detector in SAID for each in detector.said if each.rule.id in WORTH)
    said = [_Phrases(WORTH[each.rule.id], each.patterns, _needs(each.patterns)) for each in rules]
    return Glance(*TABLES, *tongues.TABLES), tuple(sorted(said, key=lambda one: -one.worth))


def _needs(patterns: Iterable[MeaningPattern]) -> int:
    """What has to be said for one of them: of each, the step that is in the fewest texts."""
    needs = 0
    for each in patterns:
        needs |= min(each.needs, key=lambda step: (bool(step & ALWAYS), step.bit_count()))
    return needs


@cache
def _turns() -> WordSet:
    return WordSet(turns.WORDS)


def _may_say_enough(text: str, surroundings: Surroundings) -> bool:
    glance, rules = _glance()
    words = words_of(text)
    if not _TURNED.isdisjoint(words):
        return True
    said = glance.said(words, text)
    left = 1.0
    if surroundings.foreign and _names(words, surroundings.foreign):
        return True
    if _turns().within(text.encode(errors="replace")):
        left *= (1 - WORTH["turn.template"]) * (1 - WORTH["turn.label"])
    if not turns.SPECIAL.isdisjoint(words):
        left *= 1 - WORTH["turn.tag"]
    if "/*" in text or "[//]" in text:
        left *= 1 - WORTH["markup.comment"]
    for phrases in rules:
        if phrases.possible(said):
            left *= 1 - phrases.worth
            if 1 - left >= ENOUGH:
                return True
    return False


def _names(words: set[str], names: frozenset[str]) -> bool:
    firsts = _by_first(names)
    return any(rest <= words for word in words & firsts.keys() for rest in firsts[word])


@lru_cache(maxsize=8)
def _by_first(names: frozenset[str]) -> dict[str, list[frozenset[str]]]:
    """The other words of names, by their first one."""
    found: dict[str, list[frozenset[str]]] = {}
    for first, *rest in filter(None, map(steering.words_of_name, names)):
        found.setdefault(first, []).append(frozenset(rest))
    return found
