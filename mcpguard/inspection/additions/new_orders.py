"""Tells which instructions and which requests for data a change adds.

Rules kept here:
1. The detectors of definitions look at what is new; what they are sure enough of is an addition. Besides, more patterns
   are searched for than in a whole definition (`addition_patterns`).
2. What stood in the approved definition word by word is not new, even in a sentence that was changed elsewhere.
3. How an argument is to be written, and which tool of the same server comes first, is no instruction of this kind.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from mcpguard.domain.additions import Addition, AdditionKind
from mcpguard.domain.findings import Evidence, Finding, Severity
from mcpguard.inspection.additions.addition_patterns import (
    ARGUMENTS,
    HIDING,
    NAMES,
    ORDERS,
    PURPOSES,
    REQUESTS,
    SURE,
    UNSURE,
    WHOLE_DEFINITION,
)
from mcpguard.inspection.additions.new_texts import ApprovedText
from mcpguard.inspection.detectors.detector import Phrases, Surroundings
from mcpguard.inspection.detectors.detector_table import DEFINITION_DETECTORS
from mcpguard.inspection.diff.excerpts import text_at
from mcpguard.inspection.reading.vocabulary import PhraseHit
from mcpguard.inspection.texts.texts import DefinitionTexts, Text, TextRole, strings
from mcpguard.inspection.vocabulary import CHANGE_WORDS

_WEAK: Final = (Severity.INFO, Severity.LOW)
_LOOKS_UP: Final = frozenset(
    {"get", "list", "search", "find", "lookup", "look", "describe", "resolve", "query", "fetch", "show", "count"}
)
"""First words of the names of tools that only look something up."""
_FULL_PATH: Final = re.compile(r"(?<![\w/.:-])(?:~|/[A-Za-z_][\w.-]{1,60})(?:/[\w.-]{1,60}){1,12}")
_EXCUSES: Final[Mapping[str, tuple[str, int]]] = {"AGREED": ("CONDITION", 5), "DIRECTIONS": ("NOT_AS", 2)}
"""What makes a meaning harmless if it stands so many words before: "only if the user has agreed"."""
_BEGINNING: Final = 6
"""Words with which a description begins."""
_LONGEST_NAME: Final = 200
Table = tuple[AdditionKind, tuple[Phrases, ...]]


def find_new_orders(new: DefinitionTexts, approved: ApprovedText, surroundings: Surroundings) -> Iterator[Addition]:
    """Yield the instructions and the requests for data that the approved definition did not have."""

    def is_new(evidence: Evidence) -> bool:
        said = text_at(new.definition, evidence.path)
        return said is None or not approved.has_words(said[evidence.start : evidence.end])

    for finding in _findings(new, surroundings):
        if finding.rule.partition(".")[0] in HIDING:
            yield Addition(AdditionKind.HIDDEN, finding.evidence)
        elif is_new(finding.evidence) and not _is_consent(new.definition, finding):
            purpose = PURPOSES.get(finding.rule, "")
            kind = _requests(finding.evidence.path) if purpose else AdditionKind.INSTRUCTION
            yield Addition(kind, finding.evidence, purpose)
    known = _own_names(new.definition, surroundings)
    for text in new.texts:
        yield from _matches(text, known, is_new)


def _findings(new: DefinitionTexts, surroundings: Surroundings) -> Iterator[Finding]:
    """Yield what the detectors of texts are sure enough of."""
    for detector in DEFINITION_DETECTORS:
        if any(rule.id.partition(".")[0] in WHOLE_DEFINITION for rule in detector.rules):
            continue
        for finding in detector.find(new, surroundings):
            if finding.confidence >= SURE and finding.severity not in _WEAK and finding.rule not in UNSURE:
                yield finding


def _is_consent(definition: object, finding: Finding) -> bool:
    """Tell whether all that was found is "user has agreed", which is judged by what stands before it (`_EXCUSES`)."""
    said = text_at(definition, finding.evidence.path) or ""
    words = said[finding.evidence.start : finding.evidence.end]
    return finding.rule == "turn.label" and words.casefold().startswith("user ")


def _is_in_argument(path: str) -> bool:
    return "/inputSchema/" in path or path.startswith(("/arguments/", "key:/arguments/"))


def _requests(path: str) -> AdditionKind:
    return AdditionKind.ARGUMENT if _is_in_argument(path) else AdditionKind.REQUEST


def _tables(text: Text) -> tuple[Table, ...]:
    """Return what is searched for in a text."""
    inside = _is_in_argument(text.path)
    if text.role is TextRole.KEY:
        orders: tuple[Table, ...] = ((AdditionKind.INSTRUCTION, ORDERS),) if " " in text.raw else ()
        return ((AdditionKind.ARGUMENT, NAMES), *orders) if inside and "/properties/" in text.path else orders
    if text.role is TextRole.NAME or "/enum/" in text.path:
        return ()
    return ((_requests(text.path), ARGUMENTS if inside else REQUESTS), (AdditionKind.INSTRUCTION, ORDERS))


def _matches(text: Text, known: frozenset[str], is_new: Callable[[Evidence], bool]) -> Iterator[Addition]:
    tables = _tables(text)
    more = _meanings(text, known) if tables else {}
    for kind, table in tables:
        for each in table:
            finding = each.find_in(text, more)
            if finding and finding.severity not in _WEAK and is_new(finding.evidence):
                yield Addition(kind, finding.evidence, each.rule.title)


def _meanings(text: Text, known: frozenset[str]) -> Mapping[str, list[PhraseHit]]:
    """Return the meanings that count in new text only. Verbs in the name of something tell nobody to do anything."""
    names = text.hits.get("NAMED", ())
    named = {at for hit in names for at in range(hit.first, hit.last + 1)} if text.role is TextRole.VALUE else set()
    hits = {
        meaning: [hit for hit in each if hit.first not in named]
        for meaning, each in CHANGE_WORDS.find(text.tokens).items()
    }
    for meaning, (excuse, words) in _EXCUSES.items():
        if meaning in hits and excuse in hits:
            hits[meaning] = [*_not_after(hits[meaning], hits[excuse], words)]
    others = [hit for hit in names if _is_other_tool(text.tokens.words[hit.first : hit.last + 1], known)]
    paths = [hit for match in _FULL_PATH.finditer(text.raw) for hit in _covered(text, *match.span())]
    begins = [hit for hit in hits.get("CREDENTIAL", ()) if text.offset == 0 and hit.first < _BEGINNING]
    return {**hits, "OTHER_TOOL": others, "FULL_PATH": paths, "FIRST_SECRET": begins}


def _not_after(hits: list[PhraseHit], excuses: list[PhraseHit], words: int) -> Iterator[PhraseHit]:
    """Yield the hits before which no excuse stands within so many words."""
    ends = sorted(each.last for each in excuses)
    for hit in hits:
        at = bisect_left(ends, hit.first) - 1
        if at < 0 or hit.first - ends[at] > words:
            yield hit


def _covered(text: Text, start: int, end: int) -> Iterator[PhraseHit]:
    """Yield the words that a part of the text covers, as one hit."""
    tokens = text.tokens
    first, last = bisect_right(tokens.ends, start), bisect_left(tokens.starts, end) - 1
    if first <= last:
        yield PhraseHit(first, last)


def _own_names(definition: Mapping[str, object], surroundings: Surroundings) -> frozenset[str]:
    """Return the names of the server's own tools, and of everything that the definition has."""
    names = (text for _, text, role in strings(definition) if text and role is not TextRole.VALUE)
    return frozenset(map(_plain_name, (*names, *surroundings.own)))


def _is_other_tool(words: list[str], known: frozenset[str]) -> bool:
    return "".join(words) not in known and words[0] not in _LOOKS_UP


def _plain_name(name: str) -> str:
    return "".join(char for char in name[:_LONGEST_NAME].casefold() if char.isalnum())
