"""Detects texts that share many words with published attacks, which no rule may know (T1, T2)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from mcpguard.domain.findings import Finding, Severity
from mcpguard.inspection.detectors.detector import Detector, Surroundings, as_weak_finding, is_reported_at
from mcpguard.inspection.resemblance.published_attacks import DEFINITIONS, NARROW, attack_weights
from mcpguard.inspection.resemblance.word_classes import ClassedWord, classed_words, texts_as_words
from mcpguard.inspection.rules.rule_table import RULES
from mcpguard.inspection.texts.texts import DefinitionTexts, Text, TextRole

RESEMBLES: Final = RULES["resemblance.attack"]
_FAR: Final = 3.0
"""How far beyond the line a definition is critical: none of 5,080 tools of public servers is so far beyond it."""


def find_resemblance(
    texts: Sequence[Text], kind: str, more: float = 0.0, more_of_several: float = 0.0
) -> Finding | None:
    """Return the finding that texts of this kind, read one after the other, resemble attacks: `more` than usual, and
    if not a sentence alone does, `more_of_several` beyond that.

    Its place is that of the words that speak most for it, in the text that has most of them. In a definition that
    is far beyond the line it is critical.
    """
    words, owners = list[ClassedWord](), list[Text]()
    for text in texts:
        some = classed_words(text)
        words += some
        owners += [text] * len(some)
    alike = attack_weights(kind).alike(words, more, more_of_several)
    if alike is None:
        return None
    of = [[place for place in alike.phrases if owners[place[0]] is text] for text in texts]
    text, there = max(zip(texts, of, strict=True), key=lambda each: len(each[1]))
    start, end = min(words[at].start for at, _ in there), max(words[end - 1].end for _, end in there)
    finding = RESEMBLES.finding_at(text.evidence_at(start, end))
    if kind == DEFINITIONS and alike.beyond >= _FAR:
        finding = replace(finding, severity=Severity.CRITICAL)
    return as_weak_finding(finding) if is_reported_at(text, start) else finding


def unlike_attacks(texts: Sequence[Text], kind: str, fewest: int = NARROW) -> bool:
    """Tell whether nothing in texts of at least so many words resembles published attacks, although they are known."""
    return attack_weights(kind).unlike(texts_as_words(texts), fewest)


def _find(subject: DefinitionTexts, surroundings: Surroundings) -> Iterator[Finding]:
    if surroundings.compared:
        texts = [text for text in subject.texts if text.role is not TextRole.NAME]
        if finding := find_resemblance(texts, DEFINITIONS):
            yield finding


DETECTOR: Final = Detector((RESEMBLES,), _find)
