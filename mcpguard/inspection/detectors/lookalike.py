"""Names that are taken for those of other servers' tools (T7)."""

from collections.abc import Iterator
from typing import Final

from mcpguard.domain.findings import Evidence, Finding, Severity
from mcpguard.inspection.detectors.detector import Detector, Rule, Surroundings
from mcpguard.inspection.reading.texts import Subject
from mcpguard.policy.lexicon import parts, plain
from mcpguard.text.confusable import skeleton

_SAME: Final = Rule("lookalike.same", "T7", Severity.MEDIUM, 0.35, "Another server has a tool of this very name")
_LOOKS: Final = Rule("lookalike.looks", "T7", Severity.HIGH, 0.8, "Its name looks like that of another server's tool")
_NEAR: Final = Rule(
    "lookalike.near", "T7", Severity.MEDIUM, 0.5, "Its name is one letter away from another server's tool"
)
_MORE: Final = Rule(
    "lookalike.better", "T7", Severity.MEDIUM, 0.5, "Its name claims to be a better tool of another server"
)
_CLAIM_WORDS: Final = """
    secure safe safer better best fast faster official verified trusted new pro plus premium enhanced improved v2 2 real
    original updated latest fixed
"""
_CLAIMS: Final = frozenset(_CLAIM_WORDS.split())
_LONG: Final = 7
_LONGEST: Final = 128
_DISTINCT: Final = 2
"""A name of so many words is hardly chosen twice by chance."""


def _find(subject: Subject, surroundings: Surroundings) -> Iterator[Finding]:
    name = subject.definition.get("name")
    if not isinstance(name, str) or not name or len(name) > _LONGEST:
        return
    rules = {rule.id: rule for tools in surroundings.others.values() for each in tools if (rule := _alike(name, each))}
    for rule in rules.values():
        yield rule.at(Evidence("/name", 0, len(name)))


def _alike(name: str, other: str) -> Rule | None:
    if len(other) > _LONGEST:
        return None
    if name == other:
        return _SAME if len(parts(name)) >= _DISTINCT else None
    one, two = plain(name), plain(other)
    if skeleton(one) == skeleton(two) and (one != two or len(parts(name)) >= _DISTINCT):
        return _LOOKS
    if len(one) >= _LONG and len(two) >= _LONG and _one_letter(one, two):
        return _NEAR
    mine, theirs = parts(name), parts(other)
    if len(theirs) >= _DISTINCT and set(mine) > set(theirs) and set(mine) - set(theirs) <= _CLAIMS:
        return _MORE
    return None


def _one_letter(one: str, two: str) -> bool:
    """One letter more, less or another, or two changed places; a plural or a number is no trick."""
    short, long = sorted((one, two), key=len)
    if len(long) - len(short) > 1 or long.rstrip("s0123456789") == short.rstrip("s0123456789"):
        return False
    at = next((at for at, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) != len(long):
        return short[at:] == long[at + 1 :]
    swapped = short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
    return swapped or short[at + 1 :] == long[at + 1 :]


DETECTOR: Final = Detector((_SAME, _LOOKS, _NEAR, _MORE), _find)
