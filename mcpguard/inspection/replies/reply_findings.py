"""Inspects a server's replies: free text of any kind and length.

Rules kept here:
1. A reply is data. Orders, user names and passwords in it prove nothing individually; only several signs close to each
   other do. The weight of a sign in a reply is in the table of rules; in a definition it weighs more.
2. A quick check of the words runs first (`plain_replies`). A text is read in full only if its words could add up to a
   finding.
3. A text is inspected in blocks of bounded size, so that the caller can stop between two of them.
4. Signs that are not sure count for nothing in a block in which the comparison with published attacks knows the words
   and finds nothing alike.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from mcpguard.domain.findings import Finding
from mcpguard.inspection.detectors.detector import Surroundings
from mcpguard.inspection.detectors.detector_table import DECODED_REPLY_DETECTOR, REPLY_DETECTORS, REPLY_WEIGHTS
from mcpguard.inspection.detectors.resemblance import find_resemblance, unlike_attacks
from mcpguard.inspection.replies.plain_replies import BLOCK, CODES, ENOUGH, OVERLAP, TURNED, worth_reading
from mcpguard.inspection.replies.stray_orders import find_stray_order, gives_orders
from mcpguard.inspection.resemblance.published_attacks import REPLIES
from mcpguard.inspection.rules.rule_table import RULES
from mcpguard.inspection.texts.glance import words_of
from mcpguard.inspection.texts.texts import DefinitionTexts, Text
from mcpguard.text.linear import compile_pattern

ABOUT: Final = 0.7
"""The risk from which it is a finding in a text about attacks."""
_ABOUT_ATTACKS: Final = 1.0
"""How many more points an order needs in such a text."""
_ALIKE_ABOUT_ATTACKS: Final = 1.5
"""How much more a text about attacks must resemble them."""
_WITHOUT_ORDERS: Final = 2.0
"""How much more several sentences must resemble attacks where nothing is ordered."""
_FEWEST_WORDS: Final = 15
"""Words of the shortest block that can be unlike attacks."""
SURE: Final = 0.8
WINDOW: Final = 400
_MOST_CODES: Final = 20
"""How many runs of codes are decoded in one block."""
_LONGEST_CODE: Final = 2000
_ID: Final = re.compile(b"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
"""Ids, which are everywhere and decode to nothing."""
_ATTACKS: Final = compile_pattern(
    r"(?i)\binjection|jailb(?:reak|roken)|\battack|payload|detect|scanner|poisoning|phish|malware|malicious|vulnerab"
    r"|exploit|red.?team|adversar|threat model|guardrail|\bhack|\bscam|\bfraud|\bCVE-|OWASP|angreif|angriff|attaqu"
    r"|\bataque|atacant|attacc|\binjek|inyecci|инъекц|атак|злоумышл|мошенн|注入|攻击|攻撃|インジェクション"
)
_OFTEN: Final = 2
_AGAIN: Final = 0.25
_APART: Final = ("steering.", "turn.tag", "speaking.")
"""Beginnings of rules that say something else than the rest of their family, so that they count fully beside it."""


def find_in_block(block: str, surroundings: Surroundings) -> tuple[Finding, ...]:
    """Return the findings in a block: those of its riskiest window, and those in what the block decodes to."""
    most = max((_found(window, surroundings) for window in _windows(block, surroundings)), key=_risk, default=())
    decoded = tuple(_in_codes(block, surroundings))
    if _risk((*most, *decoded)) < (ABOUT if _is_about(block) else ENOUGH):
        return ()
    if (
        surroundings.compared
        and not decoded
        and not is_hard(most)
        and unlike_attacks((Text("", block),), REPLIES, _FEWEST_WORDS)
    ):
        return ()
    return tuple({each.rule: each for each in (*decoded, *most)}.values())


def find_alike(block: str) -> tuple[Finding, ...]:
    """Return the finding that a block resembles published attacks, if it does; more than usual if it is about attacks,
    or orders nothing.
    """
    texts = (Text("", block),)
    found = find_resemblance(texts, REPLIES)
    if not found:
        return ()
    more = _ALIKE_ABOUT_ATTACKS if _is_about(block, times=1) else 0.0
    more_of_several = 0.0 if gives_orders(block) else _WITHOUT_ORDERS
    if more or more_of_several:
        found = find_resemblance(texts, REPLIES, more, more_of_several)
    return (found,) if found else ()


def find_stray(block: str, surroundings: Surroundings, *, alike: bool) -> tuple[Finding, ...]:
    """Return the finding that a block holds an order for an agent amid other content, if it does.

    `alike`: a part of it may resemble attacks.
    """
    more = _ABOUT_ATTACKS if _is_about(block) else 0
    found = find_stray_order(block, compared=surroundings.compared, alike=alike, more=more)
    return (found,) if found else ()


def is_hard(findings: Iterable[Finding]) -> bool:
    """Tell whether the findings in a block can hardly be harmless."""
    every = tuple(findings)
    return _risk(every) >= SURE and any(RULES[each.rule].sure for each in every)


def _is_about(block: str, times: int = _OFTEN) -> bool:
    """Tell whether a text names attacks so many times."""
    return sum(1 for _ in islice(_ATTACKS.finditer(block.encode(errors="replace")), times)) == times


def _windows(block: str, surroundings: Surroundings) -> Iterator[str]:
    if len(block) <= WINDOW:
        yield block
        return
    if not worth_reading(block, surroundings, coded=False):  # its codes are decoded elsewhere
        return
    step = WINDOW - OVERLAP
    for start in range(0, max(len(block) - OVERLAP, 1), step):
        window = block[start : start + WINDOW]
        if worth_reading(window, surroundings, coded=False):
            yield window


def _found(window: str, surroundings: Surroundings) -> tuple[Finding, ...]:
    subject = DefinitionTexts({}, (Text("", window),))
    findings: dict[str, Finding] = {}
    for detector in REPLY_DETECTORS:
        for each in detector.find(subject, surroundings):
            weight = REPLY_WEIGHTS[each.rule]
            if weight:
                findings[each.rule] = replace(
                    each, confidence=weight * min(each.confidence / RULES[each.rule].confidence, 1)
                )
    return tuple(findings.values())


def _in_codes(block: str, surroundings: Surroundings) -> Iterator[Finding]:
    """Yield encoded orders. Of a long run only the beginning is decoded, of one that fills a block nothing."""
    raw = block.encode(errors="replace")
    matches = (each[0] for each in CODES.finditer(raw) if len(each[0]) < BLOCK and not _ID.fullmatch(each[0]))
    runs = [each[:_LONGEST_CODE].decode(errors="ignore") for each in islice(matches, _MOST_CODES)]
    if not TURNED.isdisjoint(words_of(block)):  # the text itself is rot13 or reversed: no pattern of codes shows that
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
