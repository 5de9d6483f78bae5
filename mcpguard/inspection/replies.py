"""What inspection finds in what a server answers: free text, of any kind and length.

Rules kept here:
1. A reply is data. That it speaks of orders, of users and of passwords says nothing; only several signs close to each
   other do. What a sign is worth here is in `WORTH`, which is another matter than in a definition.
2. A glance at the words comes first (`glancing`). Only where what may be said there could come to enough is it read.
3. The text is looked at in pieces, each of a bounded size, so that whoever looks can stop between two of them.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache, lru_cache
from itertools import islice
from typing import Final

from mcpguard.domain.findings import Finding
from mcpguard.inspection.detectors import (
    consent,
    delayed,
    encoded,
    exfiltration,
    handing,
    markup,
    mixed,
    overriding,
    priority,
    quiet,
    rewriting,
    safeguards,
    secrecy,
    sensitive,
    speaking,
    steering,
    turns,
)
from mcpguard.inspection.detectors.detector import Detector, Surroundings
from mcpguard.inspection.reading.glancing import Glance, words_of
from mcpguard.inspection.reading.patterns import Pattern
from mcpguard.inspection.reading.texts import Subject, Text
from mcpguard.inspection.vocabulary import TABLES, tongues
from mcpguard.text.linear import Words, compiled

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
WORTH: Final = {
    "speaking.addressed": 0.3,
    "speaking.all": 0.2,
    "speaking.agreed": 0.4,
    "speaking.memory": 0.35,
    "secrecy.order": 0.45,
    "secrecy.silence": 0.3,
    "secrecy.stealth": 0.2,
    "quiet.order": 0.25,
    "quiet.traces": 0.3,
    "quiet.pretence": 0.3,
    "override.instructions": 0.4,
    "override.request": 0.4,
    "override.persona": 0.35,
    "override.lasting": 0.2,
    "override.prompt": 0.25,
    "override.obey": 0.4,
    "sensitive.pass": 0.45,
    "sensitive.read": 0.2,
    "sensitive.secrets": 0.3,
    "exfiltration.conversation": 0.45,
    "exfiltration.private": 0.3,
    "exfiltration.outside": 0.3,
    "exfiltration.copy": 0.2,
    "priority.before": 0.25,
    "rewriting.recipient": 0.3,
    "rewriting.calls": 0.3,
    "rewriting.chosen": 0.3,
    "steering.foreign": 0.15,
    "steering.calls": 0.15,
    "steering.values": 0.3,
    "steering.next": 0.4,
    "steering.mention": 0.1,
    "consent.skipped": 0.25,
    "consent.user": 0.2,
    "consent.none": 0.3,
    "consent.behind": 0.4,
    "handing.talk": 0.3,
    "handing.inner": 0.2,
    "handing.others": 0.3,
    "handing.kept": 0.25,
    "handing.person": 0.25,
    "handing.held": 0.3,
    "handing.secrets": 0.35,
    "safeguard.off": 0.35,
    "safeguard.agreed": 0.4,
    "safeguard.trust": 0.4,
    "delayed.review": 0.2,
    "turn.template": 0.3,
    "turn.tag": 0.3,
    "turn.label": 0.25,
    "markup.comment": 0.4,
    "markup.image": 0.5,
    "mixed.word": 0.5,
    "encoded.order": 0.6,
}
"""How much a rule of definitions, and of replies, counts in a reply. What is not here does not count."""
_SAID: Final = (
    secrecy.DETECTOR,
    quiet.DETECTOR,
    overriding.DETECTOR,
    sensitive.DETECTOR,
    exfiltration.DETECTOR,
    priority.DETECTOR,
    rewriting.DETECTOR,
    steering.DETECTOR,
    consent.DETECTOR,
    handing.DETECTOR,
    safeguards.DETECTOR,
    delayed.DETECTOR,
    speaking.DETECTOR,
)
_DETECTORS: Final[tuple[Detector, ...]] = (*_SAID, turns.DETECTOR, markup.DETECTOR, mixed.DETECTOR)
_DECODED: Final = encoded.decoding((*_SAID, turns.DETECTOR))
_CODES: Final = compiled(
    r"[A-Za-z0-9+/_-]{24,}={0,2}|(?:[0-9a-fA-F]{2}[ :,-]?){16,}|(?:(?:\\x|\\u00|%)[0-9a-fA-F]{2}[^\n]{0,3}){6,}"
    r"|(?:[0-9A-Za-z][ .·_*-]{1,3}){10,}"
)
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
    raw = block.encode(errors="replace")
    if _CODES.search(raw) or _MARKS.search(raw) or (not block.isascii() and _MIXED.search(block)):
        return True
    return _may_say_enough(block, surroundings)


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
    step = WINDOW - _OVERLAP
    for start in range(0, max(len(block) - _OVERLAP, 1), step):
        window = block[start : start + WINDOW]
        marked = _MARKS.search(window.encode(errors="replace")) or (not window.isascii() and _MIXED.search(window))
        if marked or _may_say_enough(window, surroundings):
            yield window


def _found(window: str, surroundings: Surroundings) -> tuple[Finding, ...]:
    subject = Subject({}, (Text("", window),))
    found: dict[str, Finding] = {}
    for detector in _DETECTORS:
        for each in detector.find(subject, surroundings):
            worth = WORTH.get(each.rule, 0.0)
            if worth:
                found[each.rule] = replace(each, confidence=worth * min(each.confidence / _full(each.rule), 1))
    return tuple(found.values())


def _in_codes(block: str, surroundings: Surroundings) -> Iterator[Finding]:
    """Orders that are encoded. A run that is longer than a few sentences is an image or an archive."""
    found = islice(_CODES.finditer(block.encode(errors="replace")), _MOST_CODES)
    runs = [each[0][:_LONGEST_CODE].decode(errors="ignore") for each in found]
    if not _TURNED.isdisjoint(words_of(block)):
        runs.append(block)
    for run in runs:
        for each in _DECODED.find(Subject({}, (Text("", run),)), surroundings):
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


@cache
def _glance() -> tuple[Glance, tuple[tuple[float, tuple[Pattern, ...]], ...]]:
    """The vocabulary by its words, and the phrases of each rule with what it is worth, the most first."""
    said = [
        (WORTH[each.rule.id], each.patterns) for detector in _SAID for each in detector.said if each.rule.id in WORTH
    ]
    return Glance(*TABLES, *tongues.TABLES), tuple(sorted(said, key=lambda one: -one[0]))


@cache
def _turns() -> Words:
    return Words(turns.WORDS)


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
    for worth, patterns in rules:
        if any(each.possible(said) for each in patterns):
            left *= 1 - worth
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
