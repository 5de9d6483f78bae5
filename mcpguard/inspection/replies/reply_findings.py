"""Inspects a server's replies: free text of any kind and length.

Rules kept here:
1. A reply is data. Orders, user names and passwords in it prove nothing individually; only several signs close to each
   other do. The weight of a sign in a reply is in `detector_table`; in a definition it weighs more.
2. A quick check of the words runs first (`glance`). A text is read in full only if its words could add up to a finding.
3. A text is inspected in blocks of bounded size, so that the caller can stop between two of them.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import islice
from math import prod
from typing import Final

from mcpguard.domain.findings import Finding
from mcpguard.inspection.detectors import turns
from mcpguard.inspection.detectors.detector import Surroundings
from mcpguard.inspection.detectors.detector_table import DECODED_REPLY_DETECTOR, REPLY_DETECTORS, REPLY_WEIGHTS
from mcpguard.inspection.detectors.orders import steering
from mcpguard.inspection.reading.patterns import MeaningPattern
from mcpguard.inspection.texts.glance import ALWAYS, Glance, words_of
from mcpguard.inspection.texts.texts import DefinitionTexts, Text
from mcpguard.inspection.vocabulary import TABLES
from mcpguard.text.linear import WordSet, compile_pattern

ENOUGH: Final = 0.5
"""The risk of the signs in one window, as if they were independent, from which it is a finding."""
ABOUT: Final = 0.7
"""The risk from which it is a finding in a text about attacks."""
SURE: Final = 0.8
BLOCK: Final = 4000
WINDOW: Final = 400
_OVERLAP: Final = 150
_MOST_CODES: Final = 20
"""How many runs of codes are decoded in one block."""
_LONGEST_CODE: Final = 2000
_CODES: Final = compile_pattern(
    r"[A-Za-z0-9+/_-]{24,}={0,2}|(?:[0-9a-fA-F]{2}[ :,-]?){16,}|(?:(?:\\x|\\u00|%)[0-9a-fA-F]{2}[^\n]{0,3}){6,}"
    r"|(?:[0-9A-Za-z][ .·_*-]{1,3}){10,}"
)
_ID: Final = re.compile(b"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
"""Ids, which are everywhere and decode to nothing."""
_MIXED: Final = re.compile("[A-Za-z][\u0370-\u052f]|[\u0370-\u052f][A-Za-z]")
_MARKS: Final = compile_pattern(r"(?i)<\||\[/?INST|<!--|system>|!\[[^\]\n]{0,80}\]\(http")
_TURNED: Final = frozenset(
    ["vtaber", "cerivbhf", "vafgehpgvbaf", "jvgubhg", "flfgrz", "erongi", "snoitcurtsni", "suoiverp"]
)
"""Words of orders in rot13, or in reverse."""
_ATTACKS: Final = re.compile(r"(?i)prompt.injection|injection attack|jailbreak|\battack|payload|detect|scanner")
_OFTEN: Final = 2
_AGAIN: Final = 0.25
_APART: Final = ("steering.", "turn.tag", "speaking.")
"""Beginnings of rules that say something else than the rest of their family, so that they count fully beside it."""
HARD: Final = frozenset({"secrecy.order", "encoded.order", "steering.next", "override.instructions"})
"""Rules of which every sure attack breaks one."""


def blocks(text: str) -> Iterator[str]:
    """Yield the text in blocks that overlap."""
    step = BLOCK - _OVERLAP  # so that a phrase across an edge stands whole in one of the two blocks
    for start in range(0, max(len(text) - _OVERLAP, 1), step):
        yield text[start : start + BLOCK]


def worth_reading(block: str, surroundings: Surroundings) -> bool:
    """Tell whether the words of a block could add up to a finding."""
    raw = block.encode(errors="replace")
    return _CODES.search(raw) is not None or _may_say(block, raw, surroundings)


def find_in_block(block: str, surroundings: Surroundings) -> tuple[Finding, ...]:
    """Return the findings in a block: those of its riskiest window, and those in what the block decodes to."""
    most = max((_found(window, surroundings) for window in _windows(block, surroundings)), key=_risk, default=())
    decoded = tuple(_in_codes(block, surroundings))
    if _risk((*most, *decoded)) < (ABOUT if _is_about(block) else ENOUGH):
        return ()
    return tuple({each.rule: each for each in (*decoded, *most)}.values())


def is_hard(findings: Iterable[Finding]) -> bool:
    """Tell whether the findings in a block can hardly be harmless."""
    every = tuple(findings)
    return _risk(every) >= SURE and any(each.rule in HARD for each in every)


def _is_about(block: str) -> bool:
    return len(_ATTACKS.findall(block)) >= _OFTEN


def _windows(block: str, surroundings: Surroundings) -> Iterator[str]:
    if len(block) <= WINDOW:
        yield block
        return
    if not _may_say(
        block, block.encode(errors="replace"), surroundings
    ):  # only its codes were worth reading, and they are decoded elsewhere
        return
    step = WINDOW - _OVERLAP
    for start in range(0, max(len(block) - _OVERLAP, 1), step):
        window = block[start : start + WINDOW]
        if _may_say(window, window.encode(errors="replace"), surroundings):
            yield window


def _found(window: str, surroundings: Surroundings) -> tuple[Finding, ...]:
    subject = DefinitionTexts({}, (Text("", window),))
    findings: dict[str, Finding] = {}
    for detector in REPLY_DETECTORS:
        for each in detector.find(subject, surroundings):
            weight = REPLY_WEIGHTS[each.rule]
            if weight:
                findings[each.rule] = replace(each, confidence=weight * min(each.confidence / _full(each.rule), 1))
    return tuple(findings.values())


def _in_codes(block: str, surroundings: Surroundings) -> Iterator[Finding]:
    """Yield encoded orders. Of a long run only the beginning is decoded, of one that fills a block nothing."""
    raw = block.encode(errors="replace")
    matches = (each[0] for each in _CODES.finditer(raw) if len(each[0]) < BLOCK and not _ID.fullmatch(each[0]))
    runs = [each[:_LONGEST_CODE].decode(errors="ignore") for each in islice(matches, _MOST_CODES)]
    if not _TURNED.isdisjoint(words_of(block)):  # the text itself is rot13 or reversed: no pattern of codes shows that
        runs.append(block)
    for run in runs:
        for each in DECODED_REPLY_DETECTOR.find(DefinitionTexts({}, (Text("", run),)), surroundings):
            if REPLY_WEIGHTS[each.rule]:
                yield replace(each, confidence=REPLY_WEIGHTS[each.rule])
                return


def _risk(findings: Iterable[Finding]) -> float:
    """Return the risk of signs together. A second sign of the same family adds only a part of its weight."""
    left, seen = 1.0, set[str]()
    for each in sorted({one.rule: one for one in findings}.values(), key=lambda one: -one.confidence):
        family = each.rule if each.rule.startswith(_APART) else each.rule.partition(".")[0]
        left *= 1 - each.confidence * (_AGAIN if family in seen else 1)
        seen.add(family)
    return 1 - left


@cache
def _full(rule: str) -> float:
    """Return the confidence of a rule where nothing weakens it."""
    every = (each for detector in (*REPLY_DETECTORS, DECODED_REPLY_DETECTOR) for each in detector.rules)
    return next(each.confidence for each in every if each.id == rule)


@dataclass(frozen=True, slots=True)
class _Phrases:
    """The patterns of one rule, and its weight. A text without any of the meanings in `needs` matches none of them."""

    worth: float
    patterns: tuple[MeaningPattern, ...]
    needs: int

    def may_match(self, meanings: int) -> bool:
        if meanings & self.needs:
            for each in self.patterns:
                if each.may_match(meanings):
                    return True
        return False


@cache
def _glance() -> Glance:
    """Return the vocabulary by its words."""
    return Glance(*TABLES)


@cache
def _phrases() -> tuple[_Phrases, ...]:
    """Return the patterns of each rule."""
    rules = (each for detector in REPLY_DETECTORS for each in detector.phrases if REPLY_WEIGHTS[each.rule.id])
    return tuple(_Phrases(REPLY_WEIGHTS[each.rule.id], each.patterns, _needs(each.patterns)) for each in rules)


@lru_cache(maxsize=4096)
def _left_by_phrases(meanings: int) -> float:
    """Return the chance that a text with these meanings is harmless, as far as phrases go. Texts differ, and have the
    same few meanings.
    """
    return prod(1 - each.worth for each in _phrases() if each.may_match(meanings))


def _needs(patterns: Iterable[MeaningPattern]) -> int:
    """Return the meanings of which a match needs one: of each pattern, the step that is in the fewest texts."""
    needs = 0
    for each in patterns:
        needs |= min(each.needs, key=lambda step: (bool(step & ALWAYS), step.bit_count()))
    return needs


@cache
def _turns() -> WordSet:
    return WordSet(turns.WORDS)


def _may_say(text: str, raw: bytes, surroundings: Surroundings) -> bool:
    """Tell whether a text, as it stands, could have enough signs for a finding. `raw`: its bytes."""
    if _MARKS.search(raw) or (not text.isascii() and _MIXED.search(text)):
        return True
    words = words_of(text)
    if not _TURNED.isdisjoint(words):
        return True
    if surroundings.foreign and _names(words, surroundings.foreign):
        return True
    left = _left_by_phrases(_glance().possible_meanings(words, raw))
    if _turns().matches_in(raw):
        left *= (1 - REPLY_WEIGHTS["turn.template"]) * (1 - REPLY_WEIGHTS["turn.label"])
    if not turns.SPECIAL.isdisjoint(words):
        left *= 1 - REPLY_WEIGHTS["turn.tag"]
    if "/*" in text or "[//]" in text:
        left *= 1 - REPLY_WEIGHTS["markup.comment"]
    return 1 - left >= ENOUGH


def _names(words: set[str], names: frozenset[str]) -> bool:
    firsts = _by_first(names)
    return any(rest <= words for word in words & firsts.keys() for rest in firsts[word])


@lru_cache(maxsize=8)
def _by_first(names: frozenset[str]) -> dict[str, list[frozenset[str]]]:
    """Return the other words of names, by the first word."""
    rests: dict[str, list[frozenset[str]]] = {}
    for first, *rest in filter(None, map(steering.telling_words, names)):
        rests.setdefault(first, []).append(frozenset(rest))
    return rests
