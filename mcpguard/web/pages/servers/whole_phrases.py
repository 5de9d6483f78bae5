"""Widens the places of findings to the phrases that they stand in, so that a reader sees what was said.

Rules kept here:
1. A mark begins and ends where a sentence, a line or a tag does, and never goes further than `_FARTHEST` characters.
2. It never covers the place of another finding that is as grave or graver: each keeps its own words.
3. Places whose characters matter themselves (hidden characters, encoded text, look-alike letters) stay as they are.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from mcpguard.domain.findings import Evidence, Finding
from mcpguard.web.pages.servers.evidence import worse
from mcpguard.web.visible_text import hidden_characters

_FARTHEST: Final = 240
_EXACT: Final = ("hidden.", "mixed.", "encoded.", "padding.", "markup.", "turn.template", "secret.")
"""What the rules begin with whose places are shown exactly."""
_TAG: Final = "turn.tag"
"""The rule whose places lack the end of the tag."""
_TAG_END: Final = re.compile(r"[>\])}]{0,3}")
_CJK_ENDS: Final = "\u3002\uff01\uff1f\uff1b"
_BEGIN: Final = re.compile(rf".*(?:[.!?;:][\"')\]]?\s+|[\n<>{_CJK_ENDS}]\s*)", re.DOTALL)
_END: Final = re.compile(rf"[.!?;](?=[\"')\]]?(?:\s|$))|(?=[\n<])|[{_CJK_ENDS}]")


class FindingPlace(NamedTuple):
    """A place in a text, and the findings there, the worst first. `path` is that of the text."""

    path: str
    start: int
    end: int
    findings: tuple[Finding, ...]


def places_in(path: str, text: str, findings: Iterable[Finding]) -> list[FindingPlace]:
    """Return the places of findings in a text, widened to whole phrases, in the order of the text."""
    exact = [each for each in findings if 0 <= each.evidence.start < each.evidence.end <= len(text)]
    worst_first = sorted(exact, key=worse, reverse=True)
    wide = [(_widened(text, each, worst_first), each) for each in worst_first]
    wide.sort(key=lambda each: each[0])
    return [
        FindingPlace(path, start, end, tuple(finding for _, finding in there))
        for (start, end), there in groupby(wide, key=lambda each: each[0])
    ]


def _widened(text: str, finding: Finding, others: Sequence[Finding]) -> tuple[int, int]:
    place = finding.evidence
    if finding.rule == _TAG:
        return place.start, place.end + len(_TAG_END.match(text, place.end)[0])  # type: ignore[index]
    if finding.rule.startswith(_EXACT) or hidden_characters(text[place.start : place.end]).number:
        return place.start, place.end
    before = text[max(0, place.start - _FARTHEST) : place.start]
    begun = _BEGIN.match(before)
    start = place.start - len(before) + (begun.end() if begun else 0)
    ended = _END.search(text, max(place.end - 1, place.start), place.end + _FARTHEST)
    end = max(place.end, ended.end() if ended else min(len(text), place.end + _FARTHEST))
    graver = [each.evidence for each in others if worse(each) >= worse(finding)]
    start, end = _cut_off(start, end, place, graver)
    return start + _blanks_before(text[start : place.start]), end


def _cut_off(start: int, end: int, place: Evidence, others: Iterable[Evidence]) -> tuple[int, int]:
    """Return the span without what other places have of it, on either side of its own."""
    for each in others:
        if each.path != place.path or (each.start, each.end) == (place.start, place.end):
            continue
        if each.end <= place.start:
            start = max(start, each.end)
        elif each.start >= place.end:
            end = min(end, each.start)
    return start, end


def _blanks_before(text: str) -> int:
    return len(text) - len(text.lstrip())
