"""Text that steers what is done with another server's tools (T6).

Which names are foreign is known from the surroundings. Without them, a name that is neither the tool's own nor one of
its parameters' may be foreign, so that what is said of it counts less, and only what nobody says of a sibling counts.
"""

from collections.abc import Iterator
from typing import Final

from mcpguard.domain.findings import Finding, Severity
from mcpguard.inspection.detectors.detector import Detector, Rule, Surroundings, phrases
from mcpguard.inspection.reading.texts import Role, Subject, Text
from mcpguard.inspection.reading.tokens import words
from mcpguard.inspection.reading.vocabulary import Hit
from mcpguard.policy.lexicon import parts

_STEERS: Final = phrases(
    Rule(
        "steering.foreign",
        "T6",
        Severity.CRITICAL,
        0.9,
        "It tells the model what to do with another server's tool",
        hard=True,
    ),
    "WHEN|BEFORE|ALWAYS|ANY 4 FOREIGN 8 MUST|SEND|CHANGE|CARRY|CALL|FIRST",
    "TAMPER|IGNORE 6 FOREIGN",
    "INSTEAD 3 FOREIGN",
    "NEVER 3 CALL 3 FOREIGN",
    "FOREIGN 6 INSTEAD|WORSE|TAMPER",
    "SEND 6 FOREIGN",
)
_CALLS: Final = phrases(
    Rule("steering.calls", "T6", Severity.HIGH, 0.55, "It wants another server's tool to be called"),
    "MUST|FIRST|ALWAYS 3 CALL 4 FOREIGN",
    "CALL 3 FOREIGN 4 BEFORE|FIRST",
)
_MENTIONS: Final = phrases(
    Rule("steering.mention", "T6", Severity.MEDIUM, 0.35, "It speaks of another server's tool"), "FOREIGN"
)
_MAYBE: Final = phrases(
    Rule("steering.other", "T6", Severity.HIGH, 0.55, "It tells the model to change what another tool does"),
    "WHEN 3 STRANGE 4 CALL 10 TAMPER|SEND|EMAIL|RECIPIENT",
    "WHEN 3 STRANGE 4 CALL 5 MUST|FIRST|ALWAYS 3 CHANGE|CALL|SEND|CARRY",
    "WHEN 2 CALL 3 STRANGE 6 TAMPER|SEND|RECIPIENT",
    "TAMPER 5 STRANGE 0 TOOL",
    "TAMPER 4 BEHAVIOR 4 STRANGE",
    "TAMPER 1 STRANGE 6 SEND|CALL|ALWAYS",
    "INSTEAD 3 STRANGE 8 SEND|TAMPER",
    "STRANGE 8 TAMPER 1 THIS 1 RESULTS",
)
_FORCES: Final = phrases(
    Rule("steering.forces", "T6", Severity.MEDIUM, 0.2, "It makes a call of another tool a condition"),
    "MUST 3 FIRST 2 CALL 3 STRANGE",
    "MUST 2 CALL 3 STRANGE 6 FIRST|BEFORE",
    "BEFORE 2 CALL 2 THIS 6 MUST|CALL|FIRST 6 STRANGE",
)
_SHORT: Final = 7


def _find(subject: Subject, surroundings: Surroundings) -> Iterator[Finding]:
    others = {name for tools in surroundings.others.values() for name in tools} - surroundings.own
    name = subject.definition.get("name")
    others.discard(name if isinstance(name, str) else "")
    foreign = frozenset(words(each.replace("_", " ")) for each in others if _telling(each))
    known = _own(subject, surroundings)
    for text in subject.texts:
        if text.role is not Role.VALUE:
            continue
        more = {"FOREIGN": _foreign(text, foreign), "STRANGE": _strange(text, known)}
        if found := _STEERS.of(text, more):
            yield found
            continue
        for each in (_CALLS, _MENTIONS, _MAYBE, _FORCES):
            if found := each.of(text, more):
                yield found


def _telling(name: str) -> bool:
    """Whether a name is no word that is in any text: two words, or a long one."""
    return len(parts(name)) > 1 or len(name) > _SHORT


def _own(subject: Subject, surroundings: Surroundings) -> frozenset[tuple[str, ...]]:
    names = [text.raw for text in subject.texts if text.role is not Role.VALUE]
    return frozenset(words(name.replace("_", " ")) for name in (*names, *surroundings.own))


def _foreign(text: Text, names: frozenset[tuple[str, ...]]) -> list[Hit]:
    if not names:
        return []
    said, lengths = text.tokens.words, sorted({len(name) for name in names})
    return [
        Hit(at, at + length - 1)
        for at in range(len(said))
        for length in lengths
        if tuple(said[at : at + length]) in names
    ]


def _strange(text: Text, known: frozenset[tuple[str, ...]]) -> list[Hit]:
    named = text.hits.get("NAMED", ())
    return [hit for hit in named if tuple(text.tokens.words[hit.first : hit.last + 1]) not in known]


DETECTOR: Final = Detector((_STEERS.rule, _CALLS.rule, _MENTIONS.rule, _MAYBE.rule, _FORCES.rule), _find)
