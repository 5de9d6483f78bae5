"""Detects a short order for an agent amid content of another kind, by weak signs that meet in one sentence (T11).

Rules kept here:
1. No sign is enough alone. An honest sentence has one or two: it names an assistant, or asks its reader to send
   something. An order that a stranger put there has more of them: who is to do it, with whose data, where to, unseen.
2. How much the sentence resembles published attacks counts as well, and alone it is not enough either.
3. In a long text more signs are needed: of its many sentences one may have several by chance.
4. A sentence whose words cannot add up to an order is passed over at a glance, and nothing else is.
"""

from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product
from typing import Final, NamedTuple

from mcpguard.domain.findings import Finding
from mcpguard.inspection.reading.patterns import mask
from mcpguard.inspection.replies.sentence_signs import (
    DOES,
    DONE,
    MARKS,
    OBLIGED,
    OF_AN_AGENT,
    ORDERED,
    READING,
    TOLD,
    YOURS,
    Sentence,
    marks_of,
    signs_of,
    split_sentences,
)
from mcpguard.inspection.resemblance.published_attacks import LEAST_WORDS, REPLIES, attack_weights
from mcpguard.inspection.resemblance.word_classes import classed_words
from mcpguard.inspection.rules.rule_table import RULES
from mcpguard.inspection.texts.glance import Glance, words_of
from mcpguard.inspection.texts.texts import Text
from mcpguard.inspection.vocabulary import STRAY_ORDERS, deed_of

LINE: Final = 2.0
"""The points from which a sentence is a finding."""
_ORDERING: Final = 0.8
"""The points from which a sentence orders something at all."""
_ITSELF: Final = 0.5
"""The points that its signs must have, whatever it resembles."""
_ALIKE: Final = 1.2
"""The points for each unit of the score of resemblance, which is cut to the range below."""
_LEAST_ALIKE, _MOST_ALIKE = -2.0, 2.0
LENGTH: Final = 1.2
"""How many more points the longest block needs."""
_LONGEST: Final = 4000
_OWN: Final = "stray."
"""What the meanings of these words begin with, where they stand beside those of other words."""
_MEANT_BY: Final = {
    **{sign: (act,) for act, sign in ORDERED.items()},
    **{sign: (act, deed_of(act)) for act, sign in DOES.items()},
    TOLD: ("AGENT", "PROCESSOR"),
    OBLIGED: ("AGENT", "PROCESSOR"),
    DONE: ("SENT",),
    READING: ("PROCESS",),
}
"""The meanings without which a sentence has no such sign."""
_BESIDE: Final = 40
"""How many characters beside a sentence are compared with it."""
_DOES: Final = "|".join(sorted(DOES.values()))
_ORDER: Final = "|".join((*sorted(ORDERED.values()), OBLIGED, DONE, _DOES))
_ORDERS: Final = frozenset(_ORDER.split("|"))
_DATA: Final = "HELD_DATA|SECRET|SECRET_FILE"
_PLACE: Final = "EMAIL|LINK|ACCOUNT"


@dataclass(frozen=True, slots=True)
class _Sign:
    """What a sentence has that has one of each of these; below 0: what speaks for a sentence to a person."""

    points: float
    needs: tuple[frozenset[str], ...]


def _sign(points: float, *needs: str) -> _Sign:
    return _Sign(points, tuple(frozenset(each.split("|")) for each in needs))


_YOURS: Final = _sign(-1.0, YOURS)
_SIGNS: Final = (
    _sign(2.0, TOLD),
    _sign(1.0, OBLIGED),
    _sign(1.0, f"{TOLD}|{OBLIGED}", "PROCESSOR"),
    _sign(0.5, _ORDER, "AGENT"),
    _sign(2.0, _ORDER, "INSTEAD"),
    _sign(0.8, _ORDER, READING),
    _sign(0.7, _ORDER, "THE_USER"),
    _sign(0.6, _ORDER, "URGENT"),
    _sign(1.7, "SECRECY"),
    _sign(0.9, _ORDER, "SECRECY"),
    _sign(1.0, _ORDER, "NO_ASK"),
    _sign(1.4, "DO_SEND|DONE", _DATA),
    _sign(0.7, "DO_SEND|DONE", _DATA, "BULK"),
    _sign(0.8, "DO_SEND|DONE", _DATA, _PLACE),
    _sign(0.4, "DO_SEND|DONE", _PLACE),
    _sign(0.8, "DO_SEND|DONE|DO_SAY|DO_GRANT|DO_RUN", "SECRET"),
    _sign(0.8, "DO_RUN|DO_SEND", "SECRET_FILE"),
    _sign(1.4, "DO_GRANT", _PLACE),
    _sign(0.5, "DO_GRANT|DOES_GRANT", "RIGHTS"),
    _sign(0.4, "DO_DESTROY"),
    _sign(1.2, "DO_SAY|DO_GRANT|DO_SEND|DO_PAY|OBLIGED", "THE_ANSWER"),
    _sign(0.8, f"DO_SAY|{TOLD}|{OBLIGED}", "SAY_THAT"),
    _sign(0.7, "DO_SAY|SAY_THAT|DO_GRANT", "PRAISE"),
    _sign(0.2, "DO_SAY"),
    _sign(0.6, "DOES_GRANT|DOES_PAY|DOES_DESTROY"),
    _sign(0.6, "DOES_SEND", _DATA),
    _sign(0.5, "DOES_SEND|DOES_GRANT|DOES_PAY", _PLACE),
    _sign(0.8, _DOES, "SECRET"),
    _sign(-0.8, "DO_SEND|DONE"),
    _sign(-0.3, "DO_GRANT"),
    _sign(-0.3, "DO_RUN"),
    _YOURS,
    _sign(-2.0, "ABOUT"),
)
_RULES: Final = (
    (RULES["stray.agent"], _sign(0, f"{TOLD}|{OBLIGED}")),
    (RULES["stray.data"], _sign(0, "DO_SEND|DONE", f"{_DATA}|{_PLACE}")),
    (RULES["stray.answer"], _sign(0, "THE_ANSWER|SAY_THAT|PRAISE")),
    (RULES["stray.act"], _sign(0)),
)
"""The rules, by what the sentence has that breaks them; the first that fits is said."""


def find_stray_order(block: str, *, compared: bool, alike: bool, more: float = 0.0) -> Finding | None:
    """Return the finding of the sentence that most looks like an order for an agent, if there is one.

    `compared`: what a sentence resembles counts too. `alike`: a part of the block may resemble attacks. `more`: how
    many points a sentence needs beyond the usual ones.
    """
    most = LINE + more + LENGTH * min(len(block), _LONGEST) / _LONGEST
    gain = _ALIKE * _MOST_ALIKE if compared and alike else 0.0
    meanings = _glance().possible_meanings(words_of(block))
    if _highest(meanings | _meaning(*MARKS)) + gain < most:
        return None
    marks = _meaning(*marks_of(block))
    if _highest(meanings | marks) + gain < most:
        return None
    best, broken = None, frozenset[str]()
    for each in split_sentences(block):
        if not _may_order(words_of(each.text), marks, most, gain):
            continue
        signs = signs_of(each.text)
        points = order_points(signs)
        if points < _ITSELF or points + gain < most:
            continue
        points += _ALIKE * _likeness(block, each) if compared else 0.0
        if points >= most:
            best, broken, most = each, signs, points
    if best is None:
        return None
    rule = next(rule for rule, sign in _RULES if _has(broken, sign))
    return rule.finding_at(Text("", block).evidence_at(best.start, best.end))


def _may_order(words: set[str], marks: int, most: float, gain: float) -> bool:
    """Tell whether a sentence with these words, in a text with these marks, may have so many points."""
    meanings = _glance().possible_meanings(words)
    highest = _highest(meanings | marks)
    if meanings & _meaning(YOURS) and not meanings & _meaning(*OF_AN_AGENT):
        highest += _YOURS.points  # its words are single ones, so that a glance is sure of them
    if highest < _ITSELF:
        return False
    return highest >= most or (
        highest + gain >= most and sum(map(attack_weights(REPLIES).word_weight, words)) >= LEAST_WORDS
    )


@cache
def _glance() -> Glance:
    """Return the words by which one sees what a sentence may say, with meanings that nothing else has."""
    return Glance({f"{_OWN}{meaning}": words for meaning, words in STRAY_ORDERS.items()})


class _GlancedSign(NamedTuple):
    """The points of a sign, and the masks of meanings of which it needs one each."""

    points: float
    needs: tuple[int, ...]


@cache
def _for_an_order() -> tuple[_GlancedSign, ...]:
    """Return the signs that speak for an order."""
    return tuple(_glanced(sign) for sign in _SIGNS if sign.points > 0)


@cache
def _acts_that_cost() -> tuple[_GlancedSign, ...]:
    """Return the signs that speak against an order, although they are nothing but one."""
    return tuple(_glanced(sign) for sign in _SIGNS if sign.points < 0 and sign.needs[0] <= _ORDERS)


def _glanced(sign: _Sign) -> _GlancedSign:
    needs = ([meaning for each in group for meaning in _MEANT_BY.get(each, (each,))] for group in sign.needs)
    return _GlancedSign(sign.points, tuple(_meaning(*meanings) for meanings in needs))


@cache
def _meaning(*meanings: str) -> int:
    return mask(f"{_OWN}{meaning}" for meaning in meanings)


@lru_cache(maxsize=16_384)
def _highest(meanings: int) -> float:
    """Return the most points that a sentence with these meanings may have.

    An act that costs points is taken to be ordered or not, whichever gives more.
    """
    signs = [sign for sign in _for_an_order() if all(map(meanings.__and__, sign.needs))]
    acts = [act for act in _acts_that_cost() if meanings & act.needs[0]]
    highest = 0.0
    for ordered in product((True, False), repeat=len(acts)):
        left, points = meanings, 0.0
        for act, is_ordered in zip(acts, ordered, strict=True):
            if is_ordered:
                points += act.points
            else:
                left &= ~act.needs[0]
        highest = max(highest, points + sum(sign.points for sign in signs if all(map(left.__and__, sign.needs))))
    return highest


@lru_cache(maxsize=4096)
def order_points(signs: frozenset[str]) -> float:
    """Return how much the signs of a sentence speak for an order to an agent."""
    return sum(each.points for each in _SIGNS if _has(signs, each))


def _has(signs: frozenset[str], sign: _Sign) -> bool:
    return not any(signs.isdisjoint(group) for group in sign.needs)


def _likeness(block: str, sentence: Sentence) -> float:
    """Return how much a sentence resembles published attacks, by itself or with a few words beside it."""
    beside = block[max(0, sentence.start - _BESIDE) : sentence.end + _BESIDE]
    weights = attack_weights(REPLIES)
    likeness = max(weights.most_alike(classed_words(Text("", said))).score for said in (sentence.text, beside))
    return min(max(likeness, _LEAST_ALIKE), _MOST_ALIKE)


def gives_orders(block: str) -> bool:
    """Tell whether a sentence orders something in a way that is at least a little like that of an attack."""
    return any(
        order_points(signs) + _ALIKE * _likeness(block, each) >= _ORDERING
        for each in split_sentences(block)
        if not _ORDERS.isdisjoint(signs := signs_of(each.text))
    )
