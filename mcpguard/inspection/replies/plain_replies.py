"""Tells at a glance that what a server sent is clean, as nearly everything is, at a fraction of the cost of a scan.

Rules kept here:
1. A glance may doubt what is clean, but never passes over what a rule would find (`screening`, `reply_findings`). Of
   the comparison with attacks it spares what is short or has no usual word of one (`may_resemble`).
2. Every string is looked at, wherever it is, and so are member names that are sentences. Images, audio, and bytes that
   are not declared to be text are searched only for secrets that the server was given.
3. One search tells whether a text has any sign that is known by its form. Nearly none has, so only its words are
   looked up.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from math import prod
from typing import Final

from mcpguard.inspection.detectors import turns
from mcpguard.inspection.detectors.detector import Surroundings
from mcpguard.inspection.detectors.detector_table import REPLY_DETECTORS, REPLY_WEIGHTS
from mcpguard.inspection.detectors.orders import steering
from mcpguard.inspection.detectors.resemblance import find_resemblance
from mcpguard.inspection.reading.patterns import MeaningPattern
from mcpguard.inspection.replies import hidden_characters
from mcpguard.inspection.replies.forged_refusals import HINTS, find_forged_refusal
from mcpguard.inspection.replies.stray_orders import find_stray_order
from mcpguard.inspection.resemblance.published_attacks import LEAST_WORDS, REPLIES, attack_weights
from mcpguard.inspection.texts.glance import ALWAYS, FORMS, Glance, meanings_by_form, words_of
from mcpguard.inspection.texts.texts import Text
from mcpguard.inspection.vocabulary import TABLES
from mcpguard.policy.secrets import detection
from mcpguard.policy.secrets.known_secrets import KnownSecrets
from mcpguard.policy.secrets.layers import ENCODED
from mcpguard.text.linear import Pattern, any_word, compile_pattern

ENOUGH: Final = 0.5
"""The risk of the signs in one window, as if they were independent, from which it is a finding."""
BLOCK: Final = 4000
OVERLAP: Final = 150
TURNED: Final = frozenset(
    ["vtaber", "cerivbhf", "vafgehpgvbaf", "jvgubhg", "flfgrz", "erongi", "snoitcurtsni", "suoiverp"]
)
"""Words of orders in rot13, or in reverse."""
_CODES: Final = (
    r"[A-Za-z0-9+/_-]{24,}={0,2}|(?:[0-9a-fA-F]{2}[ :,-]?){16,}|(?:(?:\\x|\\u00|%)[0-9a-fA-F]{2}[^\n]{0,3}){6,}"
    r"|(?:[0-9A-Za-z][ .·_*-]{1,3}){10,}"
)
_MARKS: Final = r"(?i:<\||\[/?INST|<!--|system>|!\[[^\]\n]{0,80}\]\(http)"
_COMMENTS: Final = r"/\*|\[//\]"
CODES: Final = compile_pattern(_CODES)
_MARKED: Final = compile_pattern(_MARKS)
_COMMENTED: Final = compile_pattern(_COMMENTS)
_MIXED: Final = re.compile("[A-Za-z][\u0370-\u052f]|[\u0370-\u052f][A-Za-z]")
_ENCODED: Final = compile_pattern(ENCODED)
_SENTENCE: Final = " "
SHORTEST_ATTACK: Final = 40
"""Characters of the shortest text that is compared: a shorter one has too few words in common with anything."""
_PART: Final = 400
_PART_OVERLAP: Final = 100
_HOLDING_BYTES: Final = frozenset({"blob", "data"})
"""Members that may hold bytes: whether they do depends on what is beside them."""
_MEDIA: Final = frozenset({"image", "audio"})
_TEXTUAL: Final = ("text/", "application/json", "application/xml", "application/javascript", "application/yaml")
_EVERY: Final = 1000
"""How many values are read between two checks of the time."""


def is_plain(value: object, given: KnownSecrets, around: Surroundings, *, clear: bool = False) -> bool:
    """Tell whether a glance shows that a small value is clean, within a few milliseconds. `clear`: its JSON was
    searched already for what `may_hold_in_json` looks for, and has nothing of it."""
    strings = ReplyStrings(value)
    whole = "\n".join(strings.every)
    if given.spellings and given.occur_in(whole):
        return False
    raw = whole.encode(errors="replace")
    # Each of these first questions spares nearly all replies the next one.
    is_printable = whole.isascii() and not raw.translate(None, hidden_characters.PRINTABLE)
    if not is_printable and hidden_characters.may_hide(whole):
        return False
    if HINTS.search(raw) and isinstance(value, dict) and find_forged_refusal(value, whole):
        return False
    if not (clear and not strings.decoded) and _may_hold_secret(raw):
        return False
    text = "\n".join(strings.read)
    if len(text) > BLOCK:
        return not any(_is_doubtful(block, around) for block in blocks(text))
    return not worth_reading(text, around) and (len(text) < SHORTEST_ATTACK or _resembles_nothing(text, around))


def _resembles_nothing(text: str, around: Surroundings) -> bool:
    """Tell whether a small text is clean. It is compared here and now: to hand it over to a thread costs more."""
    alike = may_be_alike(text, around)
    if alike and find_resemblance((Text("", text),), REPLIES):
        return False
    return not find_stray_order(text, compared=around.compared, alike=alike)


def _is_doubtful(block: str, around: Surroundings) -> bool:
    if worth_reading(block, around) or may_be_alike(block, around):
        return True
    return find_stray_order(block, compared=around.compared, alike=False) is not None


def _may_hold_secret(raw: bytes) -> bool:
    if not detection.may_hold(raw):
        return False
    return any(rule.sure for rule in detection.rules_for_text(raw)) or _ENCODED.search(raw) is not None


def blocks(text: str) -> Iterator[str]:
    """Yield the text in blocks that overlap."""
    step = BLOCK - OVERLAP  # so that a phrase across an edge stands whole in one of the two blocks
    for start in range(0, max(len(text) - OVERLAP, 1), step):
        yield text[start : start + BLOCK]


def worth_reading(text: str, surroundings: Surroundings, *, coded: bool = True) -> bool:
    """Tell whether the words of a block or a window could add up to a finding. `coded`: also where it has codes, which
    are decoded before they are read."""
    raw = text.encode(errors="replace")
    has_signs = reply_signs().search(raw) is not None
    if has_signs and (_MARKED.search(raw) or (coded and CODES.search(raw))):
        return True
    if not text.isascii() and _MIXED.search(text):
        return True
    words = words_of(text)
    if not TURNED.isdisjoint(words):
        return True
    if surroundings.foreign and _names(words, surroundings.foreign):
        return True
    meanings = _glance().possible_meanings(words)
    left = _left_by_phrases(meanings | meanings_by_form(raw) if has_signs else meanings)
    if has_signs and _turns().search(raw):
        left *= (1 - REPLY_WEIGHTS["turn.template"]) * (1 - REPLY_WEIGHTS["turn.label"])
    if not turns.SPECIAL.isdisjoint(words):
        left *= 1 - REPLY_WEIGHTS["turn.tag"]
    if has_signs and _COMMENTED.search(raw):
        left *= 1 - REPLY_WEIGHTS["markup.comment"]
    return 1 - left >= ENOUGH


def may_be_alike(block: str, around: Surroundings) -> bool:
    """Tell whether a block is to be compared with published attacks."""
    return around.compared and len(block) >= SHORTEST_ATTACK and may_resemble(block)


def may_resemble(block: str) -> bool:
    """Tell whether the words of some part of a block speak for an attack at all, so that comparing it may pay.

    This is the one glance that may pass over something: a few attacks of a hundred have none of the usual words.
    """
    weight = attack_weights(REPLIES).word_weight
    for start in range(0, max(len(block) - _PART_OVERLAP, 1), _PART - _PART_OVERLAP):
        if sum(map(weight, words_of(block[start : start + _PART]))) >= LEAST_WORDS:
            return True
    return False


@cache
def _glance() -> Glance:
    """Return the vocabulary by its words."""
    return Glance(*TABLES)


@cache
def _turns() -> Pattern:
    return compile_pattern(any_word(turns.WORDS))


@cache
def reply_signs() -> Pattern:
    """Return what finds any of the signs that are known by their form, whichever it is."""
    return compile_pattern("|".join((_CODES, _MARKS, _COMMENTS, FORMS, any_word(turns.WORDS))))


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


class ReplyStrings:
    """All strings of a value in their order: `read` without images and audio, `every` with them, `named` with their
    names. `decoded`: whether any of them stands in the value as bytes."""

    __slots__ = ("decoded", "every", "named", "read")

    def __init__(self, value: object, check: Callable[[], None] | None = None) -> None:
        """`check` is called from time to time: it may raise an error that ends this."""
        self.read: list[str] = []
        self.every: list[str] = []
        self.named: list[tuple[str, str]] = []
        self.decoded = False
        waiting: list[tuple[str, object, bool]] = [("", value, False)]
        count = 0
        while waiting:
            name, each, media = waiting.pop()
            count += 1
            if count % _EVERY == 0 and check is not None:
                check()
            if isinstance(each, str):
                self.every.append(each)
                if not media:
                    self.read.append(each)
                    self.named.append((name, each))
            elif isinstance(each, list):
                waiting += [(name, one, False) for one in reversed(each)]
            elif isinstance(each, dict):
                self.every += each
                first = len(waiting)
                for key, held in each.items():
                    if _SENTENCE in key:
                        self.read.append(key)
                    if key in _HOLDING_BYTES:
                        text, is_media = as_text(each, key)
                        self.decoded = self.decoded or text is not held
                        waiting.append((key, text, is_media))
                    else:
                        waiting.append((key, held, False))
                waiting[first:] = reversed(waiting[first:])  # the last of them is taken first


def as_text(holder: Mapping[str, object], key: str) -> tuple[object, bool]:
    """Return what is scanned of a member, and whether that is media instead of text."""
    value = holder[key]
    if key == "blob" and isinstance(value, str):
        text = _decoded(holder, value)
        return (value, True) if text is None else (text, False)
    kind = holder.get("type")  # which may be anything, also something that cannot be looked up
    return value, key == "data" and isinstance(kind, str) and kind in _MEDIA


def _decoded(holder: Mapping[str, object], blob: str) -> str | None:
    """Return the text that the bytes of a resource are declared to be; None if they are none."""
    kind = holder.get("mimeType")
    if not isinstance(kind, str) or not kind.startswith(_TEXTUAL):
        return None
    try:
        return base64.b64decode(blob, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
