"""The capabilities of a server as the review shows them: a card for each with findings, a line for each without.

Rules kept here:
1. Cards are sorted by their worst finding. Places are numbered over the whole page, in each card in the order of the
   text; the list under the text has the worst first. A number in a text and in the list is the same one.
2. Whatever a finding points to is shown: in its place, or as an excerpt if the place is not on the page.
3. What is hidden is shown twice: as labels where it stands, and beside that as what it decodes to or leaves.
4. A page is bounded: it says what is left out of a text, a card, or of the page.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.decisions import CapabilityKey
from mcpguard.domain.findings import Finding, Severity
from mcpguard.domain.servers.listings import INSTRUCTIONS
from mcpguard.guard.servers.registry import ServerState
from mcpguard.inspection.definitions.told_findings import (
    MOST_DECODED,
    DecodedText,
    decoded_texts,
    remedy_of,
    whole_definition,
)
from mcpguard.inspection.diff.excerpts import cut_excerpt, text_at
from mcpguard.web.pages.servers.choices import ChoiceRow
from mcpguard.web.pages.servers.evidence import NumberedFinding, Well, numbered_mark, well, worse
from mcpguard.web.pages.servers.whole_phrases import FindingPlace, places_in
from mcpguard.web.visible_text import FindingMark, hidden_characters, plain_text

MOST_PLACES: Final = 200
"""Numbered places on a page; findings beyond it are only counted."""
MOST_TEXTS: Final = 12
"""Texts of a card."""
MOST_DESCRIBED: Final = 400
"""Lines of capabilities without findings that have their description."""
_BRIEF: Final = frozenset({"/name", "/uri", "/uriTemplate"})
"""What names a capability: it stands on the page already."""
_LISTED: Final = (Severity.CRITICAL, Severity.HIGH, Severity.MEDIUM)
_CAREFUL: Final = tuple(each.value for each in reversed(Effect))
_FIRST: Final = 160


@dataclass(frozen=True, slots=True)
class PlainText:
    """What a text says without what hides it; `caption` says how that was found."""

    caption: str
    text: str


@dataclass(frozen=True, slots=True)
class CardText:
    """A text of a capability with its marks, and beside it what is hidden in it."""

    well: Well
    plain: tuple[PlainText, ...] = ()


@dataclass(frozen=True, slots=True)
class ReviewCard:
    """A capability with findings. `listed`: those of medium severity and worse, `brief`: the others; `left_out`: the
    number of findings for which the page has no room. `remedies`: what to do about them.
    """

    row: ChoiceRow
    worst: Severity
    grave: bool
    texts: tuple[CardText, ...]
    listed: tuple[NumberedFinding, ...]
    brief: tuple[NumberedFinding, ...]
    remedies: tuple[str, ...]
    left_out: int = 0

    @property
    def open(self) -> bool:
        """Whether it is shown whole at once."""
        return self.worst in (Severity.CRITICAL, Severity.HIGH)


@dataclass(frozen=True, slots=True)
class ReviewLine:
    """A capability without findings: the beginning of its description, and all of it."""

    row: ChoiceRow
    first: str
    well: Well | None


@dataclass(frozen=True, slots=True)
class LaunchFindings:
    """The findings in how a server is launched, and their marks by path."""

    listed: tuple[NumberedFinding, ...] = ()
    marks: Mapping[str, tuple[FindingMark, ...]] = field(default_factory=dict)
    remedies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """Everything that a server wrote, as its review shows it."""

    launch: LaunchFindings = LaunchFindings()
    cards: tuple[ReviewCard, ...] = ()
    lines: tuple[ReviewLine, ...] = ()


def review_page(
    known: ServerState, definitions: Mapping[CapabilityKey, object], rows: Iterable[ChoiceRow]
) -> ReviewPage:
    """Return what the review shows of these capabilities."""
    flagged, clean = list[ChoiceRow](), list[ChoiceRow]()
    for row in rows:
        (flagged if known.findings_in(row.key).findings else clean).append(row)
    flagged.sort(key=lambda row: _badness(known, row.key), reverse=True)
    clean.sort(key=lambda row: (_CAREFUL.index(row.effect), row.key))
    writing = _CardWriter(definitions)
    launch = writing.launch(known.launch_findings.findings)
    cards = tuple(writing.card(row, known.findings_in(row.key).findings) for row in flagged)
    lines = tuple(_line(row, definitions, described=at < MOST_DESCRIBED) for at, row in enumerate(clean))
    return ReviewPage(launch, cards, lines)


class _CardWriter:
    """Numbers the places of a page as they are written."""

    def __init__(self, definitions: Mapping[CapabilityKey, object]) -> None:
        self._definitions = definitions
        self._last = 0
        self._decodes = MOST_DECODED

    def launch(self, findings: Sequence[Finding]) -> LaunchFindings:
        listed = list[NumberedFinding]()
        marks = dict[str, list[FindingMark]]()
        for found in findings:
            number = self._next()
            place = found.evidence
            marks.setdefault(place.path, []).append(numbered_mark(number, found))
            listed.append(NumberedFinding(number, found, None, place.start < place.end, ""))
        return LaunchFindings(tuple(listed), {path: tuple(some) for path, some in marks.items()}, _remedies(findings))

    def card(self, row: ChoiceRow, findings: Sequence[Finding]) -> ReviewCard:
        definition = whole_definition(self._definitions.get(row.key))
        texts, numbered = list[CardText](), list[NumberedFinding]()
        for path, there in _by_path(row.key, findings).items():
            text = text_at(definition, path) or ""
            places = places_in(path, text, there) if text else []
            elsewhere = [each for each in there if all(each not in place.findings for place in places)]
            shown = bool(text) and path not in _BRIEF and not path.startswith("key:") and len(texts) < MOST_TEXTS
            some = [*self._numbered(row.key, places, definition, shown=shown)]
            numbered += [*some, *self._unplaced(row.key, elsewhere, definition)]
            if shown:
                texts.append(self._text(row.key, path, text, places, some))
        listed = sorted(numbered, key=lambda each: (worse(each.finding), -each.number), reverse=True)
        worst = max(findings, key=worse).severity
        counted = sum(1 + len(each.also) for each in numbered)
        return ReviewCard(
            row,
            worst,
            any(each.grave for each in findings),
            tuple(texts),
            tuple(each for each in listed if _has_row(each.finding)),
            tuple(each for each in listed if not _has_row(each.finding)),
            _remedies(findings),
            len(findings) - counted,
        )

    def _numbered(
        self, key: CapabilityKey, places: Iterable[FindingPlace], definition: object, *, shown: bool
    ) -> Iterator[NumberedFinding]:
        for place in places:
            if self._last >= MOST_PLACES:
                return
            first, *others = place.findings
            excerpt = "" if shown else cut_excerpt(definition, first.evidence)
            yield NumberedFinding(
                self._next(), first, key, shown, excerpt, self._decoded(definition, first), (*others,)
            )

    def _unplaced(
        self, key: CapabilityKey, findings: Iterable[Finding], definition: object
    ) -> Iterator[NumberedFinding]:
        for found in findings:
            if self._last >= MOST_PLACES:
                return
            yield NumberedFinding(self._next(), found, key, False, cut_excerpt(definition, found.evidence))

    def _text(
        self,
        key: CapabilityKey,
        path: str,
        text: str,
        places: Sequence[FindingPlace],
        numbered: Sequence[NumberedFinding],
    ) -> CardText:
        marks = [
            FindingMark(place.start, place.end, each.number, each.finding.severity.value)
            # Where places overlap, the first mark is drawn: that of the worst.
            for place, each in sorted(
                zip(places, numbered, strict=False), key=lambda pair: worse(pair[1].finding), reverse=True
            )
        ]
        shown = well(key, path, text, marks)
        decoded = (decoded for each in numbered for decoded in each.decoded)
        plain = [PlainText(f"Decoded from {each.encoding}", each.text) for each in decoded]
        return CardText(shown, (*_without_hidden(shown.text, decoded=bool(plain)), *plain))

    def _decoded(self, definition: object, finding: Finding) -> tuple[DecodedText, ...]:
        decoded = decoded_texts(definition, finding) if self._decodes else ()
        self._decodes -= bool(decoded)
        return decoded

    def _next(self) -> int:
        self._last += 1
        return self._last


def _by_path(key: CapabilityKey, findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Return findings by the path of their text, the description first, then in the order of the definition's text."""
    first = "/" + INSTRUCTIONS if key[0] is CapabilityKind.INSTRUCTIONS else "/description"
    by_path = dict[str, list[Finding]]()
    for each in sorted(findings, key=lambda each: (each.evidence.path != first, each.evidence.path)):
        by_path.setdefault(each.evidence.path, []).append(each)
    return by_path


def _without_hidden(text: str, *, decoded: bool) -> Iterator[PlainText]:
    """Yield what a text says without its hidden characters, and what these spell, if nothing else was decoded."""
    hidden = hidden_characters(text)
    if hidden.number:
        said = "character" if hidden.number == 1 else "characters"
        yield PlainText(f"Without {hidden.number:,} hidden {said}", plain_text(text))
    if hidden.spelt and not decoded:
        yield PlainText(f"Spelt by {len(hidden.spelt):,} tag characters", hidden.spelt)


def _line(row: ChoiceRow, definitions: Mapping[CapabilityKey, object], *, described: bool) -> ReviewLine:
    path = "/" + INSTRUCTIONS if row.key[0] is CapabilityKind.INSTRUCTIONS else "/description"
    text = text_at(whole_definition(definitions.get(row.key)), path) or ""
    shown = well(row.key, path, text) if text and described else None
    return ReviewLine(row, text.lstrip().split("\n", 1)[0][:_FIRST], shown)


def _remedies(findings: Iterable[Finding]) -> tuple[str, ...]:
    """Return what to do about findings, of each kind once, the worst kind first."""
    remedies = map(remedy_of, sorted(findings, key=worse, reverse=True))
    return tuple(dict.fromkeys(filter(None, remedies)))


def _badness(known: ServerState, key: CapabilityKey) -> tuple[object, ...]:
    findings = known.findings_in(key).findings
    return max(map(worse, findings)), len(findings)


def _has_row(finding: Finding) -> bool:
    return finding.hard or finding.severity in _LISTED
