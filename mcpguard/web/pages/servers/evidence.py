"""What a server wrote, one field in each well, with numbered marks where findings point."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from mcpguard.domain.decisions import CapabilityKey
from mcpguard.domain.findings import Finding, InspectionFindings, sentence_parts
from mcpguard.inspection.definitions.told_findings import (
    MOST_DECODED,
    DecodedText,
    decoded_texts,
    reason_of,
    whole_definition,
)
from mcpguard.inspection.diff.excerpts import cut_excerpt
from mcpguard.web.visible_text import FindingMark, hidden_characters

LONGEST: Final = 20_000
"""Characters of a text that are shown on the page of a server; a capability's own page has more of it."""


@dataclass(frozen=True, slots=True)
class NumberedFinding:
    """A finding with its number. `key` is its capability, None for the launch; `placed` tells whether it is marked on
    the page; `excerpt` is what it points to if not. `decoded` is what encoded text there decodes to; `also` are other
    findings at the same place.
    """

    number: int
    finding: Finding
    key: CapabilityKey | None
    placed: bool
    excerpt: str
    decoded: tuple[DecodedText, ...] = ()
    also: tuple[Finding, ...] = ()

    @property
    def here(self) -> tuple["NumberedFinding", ...]:
        """Every finding at this place, itself first."""
        return (self, *(replace(self, finding=each, also=()) for each in self.also))

    @property
    def why(self) -> str:
        """Why it matters; "" for a rule of an earlier version."""
        return reason_of(self.finding)

    @property
    def sentence(self) -> tuple[str, str, str]:
        """Its title in three parts, the second of which is the name of another server's tool, if any."""
        return sentence_parts(self.finding.title, self.finding.about)


@dataclass(frozen=True, slots=True)
class Well:
    """A field of a capability. `hidden` is the number of its invisible characters; `left_out` the number of characters
    that are not shown.
    """

    key: CapabilityKey
    path: str
    text: str
    characters: int
    hidden: int
    marks: tuple[FindingMark, ...] = ()

    @property
    def left_out(self) -> int:
        return self.characters - len(self.text)


def well(key: CapabilityKey, path: str, text: str, marks: Sequence[FindingMark] = (), longest: int = LONGEST) -> Well:
    """Return a field with its marks."""
    return Well(key, path, text[:longest], len(text), hidden_characters(text).number, tuple(marks))


def marks(found: InspectionFindings) -> dict[str, tuple[FindingMark, ...]]:
    """Return the places of findings in one definition, by path, numbered in order."""
    by_path: dict[str, list[FindingMark]] = {}
    for number, each in enumerate(found.findings, 1):
        by_path.setdefault(each.evidence.path, []).append(numbered_mark(number, each))
    return {path: tuple(some) for path, some in by_path.items()}


def numbered_mark(number: int, found: Finding) -> FindingMark:
    """Return the mark of a finding exactly at its place."""
    return FindingMark(found.evidence.start, found.evidence.end, number, found.severity.value)


def finding_with_number(
    number: int, found: Finding, key: CapabilityKey, definition: object, *, placed: bool
) -> NumberedFinding:
    """Return a finding in a definition with its number, and an excerpt where it is not marked on the page."""
    excerpt = "" if placed else cut_excerpt(whole_definition(definition), found.evidence)
    return NumberedFinding(number, found, key, placed, excerpt)


def with_decoded(
    findings: Iterable[NumberedFinding], definitions: Mapping[CapabilityKey, object]
) -> Iterator[NumberedFinding]:
    """Yield the findings with what encoded text at their place decodes to, of as many as there is time for."""
    left = MOST_DECODED
    for each in findings:
        decoded = () if each.key is None or not left else decoded_texts(definitions.get(each.key), each.finding)
        left -= bool(decoded)
        yield replace(each, decoded=decoded) if decoded else each


def worse(found: Finding) -> tuple[int, bool, float]:
    """Return a number that is higher for words that should be read first."""
    return found.severity.rank, found.hard, found.confidence
