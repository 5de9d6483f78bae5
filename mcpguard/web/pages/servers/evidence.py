"""What a server wrote, one field in each well, with numbered marks where findings point.

Rules kept here:
1. Findings are numbered over the whole page, the worst first. A number in a well and in the list is the same one.
2. Whatever a finding points to is shown: in its place, or as an excerpt if the place is not on the page.
3. A page is bounded: it says what is left out of a text, or of the page.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.decisions import CapabilityKey
from mcpguard.domain.findings import Finding, InspectionFindings, Severity, sentence_parts
from mcpguard.domain.servers.listings import INSTRUCTIONS
from mcpguard.guard.servers.registry import ServerState
from mcpguard.inspection.definitions.told_findings import (
    MOST_DECODED,
    DecodedText,
    decoded_texts,
    reason_of,
    whole_definition,
)
from mcpguard.inspection.diff.excerpts import cut_excerpt, text_at
from mcpguard.text.visible import hides
from mcpguard.web.visible_text import FindingMark

LONGEST: Final = 20_000
"""Characters of a text that are shown on the page of a server; a capability's own page has more of it."""
MOST_FINDINGS: Final = 200
MOST_WELLS: Final = 60
MOST_FOLDED: Final = 200
_SEVERITIES: Final = tuple(Severity)
_DESCRIPTION: Final = "/description"
_NAME: Final = "/name"
_SEEN: Final = frozenset("\n\t")
_BRIEF: Final = frozenset({_NAME, "/uri", "/uriTemplate"})
"""What names a capability: it stands on the page already."""


@dataclass(frozen=True, slots=True)
class NumberedFinding:
    """A finding with its number. `key` is its capability, None for the launch; `placed` tells whether it is marked on
    the page; `excerpt` is what it points to if not. `decoded` is what encoded text there decodes to.
    """

    number: int
    finding: Finding
    key: CapabilityKey | None
    placed: bool
    excerpt: str
    decoded: tuple[DecodedText, ...] = ()

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


@dataclass(frozen=True, slots=True)
class ShownEvidence:
    """Everything that a server wrote, as shown. `launch` has the marks in its launch, by path; `folded` the
    descriptions without findings; `more` the number of findings and wells that are left out.
    """

    findings: tuple[NumberedFinding, ...] = ()
    wells: tuple[Well, ...] = ()
    folded: tuple[Well, ...] = ()
    launch: Mapping[str, tuple[FindingMark, ...]] = field(default_factory=dict)
    more: int = 0
    more_folded: int = 0


def server_evidence(known: ServerState, definitions: Mapping[CapabilityKey, object]) -> ShownEvidence:
    """Return what a server wrote, as far as a page has room for it."""
    found = sorted(known.findings(), key=lambda each: (worse(each[0]), each[1] is None), reverse=True)
    shown = [(number, *each) for number, each in enumerate(found[:MOST_FINDINGS], 1)]
    launch, fields = _by_place(shown)
    wells = tuple(
        well(key, path, text, marks) for (key, path), marks in fields.items() if (text := _text(definitions, key, path))
    )
    kept = {(each.key, each.path): len(each.text) for each in wells[:MOST_WELLS]}
    findings = tuple(_numbered(number, each, key, definitions, kept) for number, each, key in shown)
    findings = tuple(with_decoded(findings, definitions))
    flagged = {key for key, path in kept if path in (_DESCRIPTION, "/" + INSTRUCTIONS)}
    rest = [key for key in sorted(definitions) if key not in flagged and _described(definitions, key)]
    folded = tuple(_described_well(definitions, key) for key in rest[:MOST_FOLDED])
    more = len(found) - len(shown)
    return ShownEvidence(findings, wells[:MOST_WELLS], folded, launch, more, len(rest) - len(folded))


def well(key: CapabilityKey, path: str, text: str, marks: Sequence[FindingMark] = (), longest: int = LONGEST) -> Well:
    """Return a field with its marks."""
    hidden = sum(hides(char) for char in text if char not in _SEEN)
    return Well(key, path, text[:longest], len(text), hidden, tuple(marks))


def marks(found: InspectionFindings) -> dict[str, tuple[FindingMark, ...]]:
    """Return the places of findings in one definition, by path, numbered in order."""
    by_path: dict[str, list[FindingMark]] = {}
    for number, each in enumerate(found.findings, 1):
        by_path.setdefault(each.evidence.path, []).append(mark(number, each))
    return {path: tuple(some) for path, some in by_path.items()}


def mark(number: int, found: Finding) -> FindingMark:
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
    return _SEVERITIES.index(found.severity), found.hard, found.confidence


def _by_place(
    shown: Sequence[tuple[int, Finding, CapabilityKey | None]],
) -> tuple[dict[str, tuple[FindingMark, ...]], dict[tuple[CapabilityKey, str], list[FindingMark]]]:
    launch: dict[str, list[FindingMark]] = {}
    fields: dict[tuple[CapabilityKey, str], list[FindingMark]] = {}
    for number, found, key in shown:
        path = found.evidence.path
        if key is None:
            launch.setdefault(path, []).append(mark(number, found))
        elif path not in _BRIEF and not path.startswith("key:"):
            fields.setdefault((key, path), []).append(mark(number, found))
    return {path: tuple(some) for path, some in launch.items()}, fields


def _numbered(
    number: int,
    found: Finding,
    key: CapabilityKey | None,
    definitions: Mapping[CapabilityKey, object],
    kept: Mapping[tuple[CapabilityKey, str], int],
) -> NumberedFinding:
    place = found.evidence
    if key is None:
        return NumberedFinding(number, found, None, place.start < place.end, "")
    placed = place.start < place.end <= kept.get((key, place.path), 0)
    return finding_with_number(number, found, key, definitions.get(key), placed=placed)


def _text(definitions: Mapping[CapabilityKey, object], key: CapabilityKey, path: str) -> str:
    definition = definitions.get(key)
    return text_at(whole_definition(definition), path) or ""


def _described(definitions: Mapping[CapabilityKey, object], key: CapabilityKey) -> bool:
    return bool(_text(definitions, key, _path(key)))


def _described_well(definitions: Mapping[CapabilityKey, object], key: CapabilityKey) -> Well:
    return well(key, _path(key), _text(definitions, key, _path(key)))


def _path(key: CapabilityKey) -> str:
    return "/" + INSTRUCTIONS if key[0] is CapabilityKind.INSTRUCTIONS else _DESCRIPTION
