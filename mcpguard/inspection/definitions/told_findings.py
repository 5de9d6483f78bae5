"""Tells a person about a finding: why it matters, the words at its place, and what encoded words decode to.

Rules kept here:
1. Findings are kept without text. What is told is read from the definition at the moment it is shown.
2. Nothing that is told hides, moves a terminal, or passes for text of mcpguard (`clipping`). Pages escape it besides.
3. The work is bounded: the beginning and the end of a long encoded run are decoded, of a few findings, to a few layers.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from mcpguard.codec.findings import as_json
from mcpguard.domain.findings import Evidence, Finding
from mcpguard.domain.servers.listings import INSTRUCTIONS
from mcpguard.inspection.diff.clipping import clip, code_point
from mcpguard.inspection.diff.excerpts import cut_excerpt, text_at
from mcpguard.inspection.rules.rule_table import rule_of
from mcpguard.inspection.texts.decoding import layers
from mcpguard.inspection.texts.texts import Text

MOST_DECODED: Final = 20
"""Findings of one answer whose encoded text is decoded."""
_ENCODED: Final = "encoded."
_MOST_LAYERS: Final = 3
_LONGEST_RUN: Final = 4_000
_MOST: Final = 300
"""Characters of a decoded text that are shown."""


@dataclass(frozen=True, slots=True)
class DecodedText:
    """What a part of a definition decodes to, on one line, safe to show; `encoding` is a word of ours."""

    encoding: str
    text: str


def reason_of(finding: Finding) -> str:
    """Return why such a finding matters; "" for a rule of an earlier version."""
    rule = rule_of(finding)
    return rule.why if rule else ""


def remedy_of(finding: Finding) -> str:
    """Return what to do about such findings; "" for a rule of an earlier version."""
    rule = rule_of(finding)
    return rule.remedy if rule else ""


def whole_definition(definition: object) -> object:
    """Return a definition as findings point into it: instructions, which are only a text, as a member."""
    return {INSTRUCTIONS: definition} if isinstance(definition, str) else definition


def decoded_texts(definition: object, finding: Finding) -> tuple[DecodedText, ...]:
    """Return what the text at the place of a finding decodes to, layer by layer; nothing for other findings."""
    if not finding.rule.startswith(_ENCODED):
        return ()
    place = finding.evidence
    text = text_at(whole_definition(definition), place.path)
    if text is None or not 0 <= place.start < place.end <= len(text):
        return ()
    run = Text(place.path, text[place.start : place.end][:_LONGEST_RUN])
    shown = dict.fromkeys(DecodedText(each.layer, _on_a_line(each.raw)) for each in layers(run))
    return tuple(shown)[:_MOST_LAYERS]


def told_findings(findings: Iterable[Finding], definition: object) -> list[dict[str, Any]]:
    """Return findings in one definition as programs get them, with what a person needs in order to judge them."""
    left = MOST_DECODED
    told = list[dict[str, Any]]()
    for each in findings:
        decoded = decoded_texts(definition, each) if left else ()
        left -= bool(decoded)
        told.append(_told(each, cut_excerpt(whole_definition(definition), each.evidence), decoded))
    return told


def told_launch_findings(findings: Iterable[Finding], launch: object) -> list[dict[str, Any]]:
    """Return findings in a launch. `launch`: as it is shown, with secrets masked, so that spans may have moved."""
    return [_told(each, _words_at(launch, each.evidence.path), ()) for each in findings]


def finding_with_reason(finding: Finding) -> dict[str, Any]:
    """Return a finding as programs get it, with why it matters."""
    return {**as_json(finding), "why": reason_of(finding)}


def _told(finding: Finding, excerpt: str, decoded: Iterable[DecodedText]) -> dict[str, Any]:
    texts = [{"encoding": each.encoding, "text": each.text} for each in decoded]
    return {**finding_with_reason(finding), "excerpt": excerpt, "decoded": texts}


def _words_at(launch: object, path: str) -> str:
    text = text_at(launch, path)
    return "" if text is None else cut_excerpt(launch, Evidence(path, 0, len(text)))


def _on_a_line(text: str) -> str:
    return clip(text, _MOST).replace("\n", code_point("\n"))
