"""Reads the sentences of a reply: what each of them orders, of whom, with what, and where to.

Rules kept here:
1. A verb is an order where a sentence or a part of one begins with it, after a word such as "please" or "must", and in
   a row of orders. Within a name, a path or code it orders nothing, and neither does a negated one.
2. Time is linear in the words of a text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from mcpguard.inspection.reading.tokens import Tokens, tokens
from mcpguard.inspection.reading.vocabulary import PhraseHit
from mcpguard.inspection.vocabulary import ORDERED_ACTS, PATHS_ALONE, PATHS_ANYWHERE, STRAY_ORDER_WORDS, deed_of
from mcpguard.text.linear import AnyOf

ACTS: Final = frozenset(ORDERED_ACTS)
"""The meanings of verbs that order something."""
ORDERED: Final = {act: f"DO_{act}" for act in ACTS}
"""The signs that such a verb is an order."""
DOES: Final = {act: f"DOES_{act}" for act in ACTS}
"""The signs that an agent is said to do so: "agents pay it at once", "the assistant sends a copy"."""
TOLD: Final = "TOLD"
"""The sign that an agent is told to do something of this."""
OBLIGED: Final = "OBLIGED"
"""The sign that an agent must do something, whatever it is."""
DONE: Final = "DONE"
"""The sign that something is to be done, whoever does it."""
READING: Final = "READING"
"""The sign that something is to be done when a text is read, answered or summarised."""
YOURS: Final = "YOURS"
"""The sign that a sentence speaks to its reader or of its writer, as people do."""
OF_AN_AGENT: Final = frozenset({"THE_ANSWER", "PROCESSOR"})
"""Meanings beside which the reader is no person: "your answer", "your assistant"."""
MARKS: Final = frozenset({"EMAIL", "SECRET_FILE", "LINK", "ACCOUNT"})
"""Signs that are known by their form."""
_ACT_OF: Final = {form: act for act in ACTS for form in (act, deed_of(act))}
_AGENTS: Final = frozenset({"AGENT", "PROCESSOR"})
_LEADS: Final = frozenset({"MUST", "PLEASE"})
"""What makes a row of orders of the verbs after it that are joined by "and"."""
_DOER: Final = 12
"""How many words before an order the one who is to do it may stand."""
_DUTY: Final = 7
"""How many words after an agent a "must", and after that what is to be done, may stand."""
_DOING: Final = 6
"""How many words after an agent what it does may stand."""
_READ: Final = 4
"""How many words after "before" or "when" the reading may stand."""
_TOLD_WORDS: Final = """
    please kindly must should shall always also now then instead just simply first soll muss bitte veuillez favor favore
"""
_TOLD: Final = frozenset(_TOLD_WORDS.split())
_JOINS: Final = frozenset(["and", "or", "then", "und", "et", "y", "e", "и"])
_TOLD_TO_WORDS: Final = "has have need needs is are asked required want wants sure asks instructed supposed"
_TOLD_TO: Final = frozenset(_TOLD_TO_WORDS.split())
_CONDITIONS: Final = frozenset(["if", "when", "once", "whether", "unless", "while"])
_MADE_TO: Final = frozenset(["have", "let", "make", "that"])
"""What stands before the one who is to do something: "have the agent pay", "that you pay"."""
_NOT_WORDS: Final = "not never t dont don cannot nicht ne no não non 不 别 не nie"
_NOT: Final = frozenset(_NOT_WORDS.split())
_NO_DEED_WORDS: Final = "the a an that its their to of for with in on by your our no any"
_NO_DEED_AFTER: Final = frozenset(_NO_DEED_WORDS.split())
"""What stands before a noun, and before a verb that tells what somebody is to do."""
_OTHERS: Final = frozenset(["i", "we", "you", "they", "users", "people"])
"""Who else does something, if they stand between an agent and the verb."""
_WITHIN: Final = frozenset("_/.`@#-$\\=")
"""What stands before a word of a name, a path or code."""
_GOES_ON: Final = frozenset("_(`=/-:")
"""What stands after a word of a name or of code, and after a label."""
_ENDS: Final = re.compile(
    "(?<![.!?;…])[.!?;…]++[\"'”)\\]]{0,3}(?=\\s)|[\u3002\uff01\uff1f\uff1b]"
    r"|\n\s{0,20}(?:\n|(?=[-*•#|>\"]|\d{1,3}[.)]))|[\"”]\s{0,4},\s{0,20}[\"“]|[\"”]\s{0,4}:\s{0,4}[\"“]"
)
"""What ends a sentence; without a full stop an empty line, an item of a list, a member of an object."""
_SHORTEST: Final = 16
"""Characters of the shortest part that is a sentence."""
_LONGEST: Final = 350
"""Characters of the longest sentence; what goes on after them is the next one."""
_EMAIL: Final = re.compile(r"\w@\w[\w-]{0,60}\.\w")
_ENDING: Final = r"\.(?:com|net|org|io|example|dev|app|info|biz|site|online|xyz)\b"
_LINK: Final = re.compile(rf"https?://|www\.|\b[a-z0-9-]{{3,40}}{_ENDING}")
_MAY_LINK: Final = re.compile(rf"://|www\.|{_ENDING}")
_ACCOUNT: Final = re.compile(
    r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}|\b\d{4}[ -]\d{4}|\b0x[0-9a-fA-F]{16}|\+\d[\d ]{7,20}"
    r"|\b(?:account|card) [^ .]{0,8}\d"
)
_DIGIT: Final = re.compile(r"\d")
_SECRET_FILES: Final = AnyOf((*PATHS_ANYWHERE, *PATHS_ALONE))


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence by its place in a text."""

    start: int
    end: int
    text: str


def split_sentences(raw: str) -> Iterator[Sentence]:
    """Yield the sentences of a text without the shortest. One that is very long is cut where a word ends."""
    start = 0
    for match in _ENDS.finditer(raw):
        yield from _pieces(raw, start, match.start())
        start = match.end()
    yield from _pieces(raw, start, len(raw))


def _pieces(raw: str, start: int, end: int) -> Iterator[Sentence]:
    while end - start > _LONGEST:
        blank = raw.rfind(" ", start + 1, start + _LONGEST)
        cut = blank if blank > 0 else start + _LONGEST
        yield Sentence(start, cut, raw[start:cut])
        start = cut
    if end - start >= _SHORTEST:
        yield Sentence(start, end, raw[start:end])


def signs_of(sentence: str) -> frozenset[str]:
    """Return the signs of a sentence: meanings of its words, their forms, and what it orders."""
    words = tokens(sentence)
    hits = sorted((*hit, meaning) for meaning, found in STRAY_ORDER_WORDS.find(words).items() for hit in found)
    return frozenset((*_said(sentence, words, hits), *marks_of(sentence)))


def marks_of(sentence: str) -> Iterator[str]:
    """Yield the signs of a text that are known by its form alone."""
    if "@" in sentence and _EMAIL.search(sentence):
        yield "EMAIL"
    if _MAY_LINK.search(sentence) and _LINK.search(sentence):
        yield "LINK"
    if _DIGIT.search(sentence) and _ACCOUNT.search(sentence):
        yield "ACCOUNT"
    if _SECRET_FILES.occur_in(sentence.lower()):
        yield "SECRET_FILE"


def _said(raw: str, words: Tokens, hits: Sequence[tuple[int, int, str]]) -> set[str]:
    """Return the signs that the words of a sentence give."""
    signs = {meaning for _, _, meaning in hits if meaning not in _ACT_OF}
    agent = when = lead = -_LONGEST
    row = False
    for at, last, meaning in hits:
        if act := _ACT_OF.get(meaning):
            ordered = meaning in ACTS and _is_order(raw, words, PhraseHit(at, last), row=row or lead >= 0)
            row = row or ordered
            if ordered:
                signs.update((ORDERED[act], TOLD) if at - agent <= _DOER else (ORDERED[act],))
            else:
                signs.update(_deed(raw, words, PhraseHit(at, last), agent, act))
        elif meaning in _AGENTS:
            agent = agent if _is_spoken_of(words.words, PhraseHit(at, last)) else at
        elif meaning in _LEADS:
            lead = at
            if meaning == "MUST" and at - agent <= _DUTY:
                signs.add(OBLIGED)
        elif meaning == "SENT" and at - lead <= _DOER:
            signs.add(DONE)
        elif meaning == "WHEN":
            when = at
        elif meaning == "PROCESS" and 0 < at - when <= _READ:
            signs.add(READING)
    return signs if signs.isdisjoint(OF_AN_AGENT) else signs - {YOURS}


def _is_spoken_of(words: Sequence[str], agent: PhraseHit) -> bool:
    """Tell whether an agent is in a condition, or somebody's: "if the assistant fails", "agents of the company"."""
    before, after = words[max(0, agent.first - 2) : agent.first], words[agent.last + 1 : agent.last + 2]
    return not _CONDITIONS.isdisjoint(before) or after == ["of"]


def _deed(raw: str, words: Tokens, verb: PhraseHit, agent: int, act: str) -> Iterator[str]:
    """Yield the sign of an act if the verb is what the agent does that begins at this word."""
    at = verb.first
    start, end = words.starts[at], words.ends[verb.last]
    if not 0 < at - agent <= _DOING or not raw[start - 1 : start].isspace() or raw[end : end + 1] in _GOES_ON:
        return
    between = words.words[agent:at]
    if between[-1] not in _NO_DEED_AFTER and _NOT.isdisjoint(between[-2:]) and _OTHERS.isdisjoint(between):
        yield DOES[act]


def _is_order(raw: str, words: Tokens, verb: PhraseHit, *, row: bool) -> bool:
    """Tell whether a verb is an order. `row`: an order or a "must" stands before it in the sentence."""
    at = verb.first
    start, end = words.starts[at], words.ends[verb.last]
    before = words.words[max(0, at - 3) : at]
    if raw[start - 1 : start] in _WITHIN or raw[end : end + 1] in _GOES_ON or not _NOT.isdisjoint(before[-2:]):
        return False
    if not before or words.positions[at] - words.positions[at - 1] > 1 or not words.words[at].isascii():
        return True
    if before[-1] == "to":
        return not _TOLD_TO.isdisjoint(before)
    return before[-1] in _TOLD or (row and before[-1] in _JOINS) or not _MADE_TO.isdisjoint(before[:-1])
