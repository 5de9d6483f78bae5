"""Detects tool names that can be mistaken for names of other servers' tools (T7)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from mcpguard.domain.findings import Evidence, Finding
from mcpguard.inspection.detectors.detector import Detector, Surroundings
from mcpguard.inspection.rules.rule_table import RULES, DetectorRule
from mcpguard.inspection.texts.texts import DefinitionTexts
from mcpguard.policy.lexicon import parts, plain_text
from mcpguard.text.confusable import skeleton

_SAME: Final = RULES["lookalike.same"]
_LOOKS: Final = RULES["lookalike.looks"]
_NEAR: Final = RULES["lookalike.near"]
_MORE: Final = RULES["lookalike.better"]
_CLAIM_WORDS: Final = """
    secure safe safer better best fast faster official verified trusted new pro plus premium enhanced improved v2 2 real
    original updated latest fixed
"""
_CLAIMS: Final = frozenset(_CLAIM_WORDS.split())
_LONG: Final = 7
_LONGEST: Final = 128
_DISTINCT: Final = 2
"""How many words a name has that two servers hardly choose by chance."""


@dataclass(frozen=True, slots=True)
class _Name:
    """A name, with the forms in which it is compared."""

    name: str
    plain: str
    skeleton: str
    parts: frozenset[str]
    distinct: bool

    def marks(self) -> Iterator[tuple[str, object]]:
        """Yield the keys of which two similar names share one: names that differ by a letter share a half."""
        yield "same", self.name
        yield "looks", self.skeleton
        yield "better", self.parts - _CLAIMS
        for length in {len(self.plain), len(self.plain) - 1} if len(self.plain) >= _LONG else ():
            half = (length - 1) // 2
            yield "begins", self.plain[:half]
            yield "ends", self.plain[-half:]


def _find(subject: DefinitionTexts, surroundings: Surroundings) -> Iterator[Finding]:
    name = subject.definition.get("name")
    if not isinstance(name, str) or not name or len(name) > _LONGEST:
        return
    mine, near = _name(name), _by_key(surroundings.other_names)
    others = {each for key in mine.marks() for each in near.get(key, ())}
    findings: dict[str, Finding] = {}
    for other in sorted(others, key=_text):
        if (rule := _alike(mine, other)) and (server := surroundings.imitated_server(name, other.name)):
            findings[rule.id] = replace(
                rule.finding_at(Evidence("/name", 0, len(name))), about=f"{server}:{other.name}"
            )
    yield from findings.values()


@lru_cache(maxsize=4)
def _by_key(names: frozenset[str]) -> dict[tuple[str, object], list[_Name]]:
    """Return the names by their keys. They are read once for all definitions: there may be thousands of them."""
    names_by_key: dict[tuple[str, object], list[_Name]] = {}
    for other in (_name(each) for each in names if len(each) <= _LONGEST):
        for key in {*other.marks()}:
            names_by_key.setdefault(key, []).append(other)
    return names_by_key


def _name(name: str) -> _Name:
    plain, apart = plain_text(name), parts(name)
    return _Name(name, plain, skeleton(plain), frozenset(apart), len(apart) >= _DISTINCT)


def _text(name: _Name) -> str:
    return name.name


def _alike(mine: _Name, other: _Name) -> DetectorRule | None:
    if mine.name == other.name:
        return _SAME if mine.distinct else None
    one, two = mine.plain, other.plain
    if mine.skeleton == other.skeleton and (one != two or mine.distinct):
        return _LOOKS
    if len(one) >= _LONG and len(two) >= _LONG and _one_letter(one, two):
        return _NEAR
    if other.distinct and mine.parts > other.parts and mine.parts - other.parts <= _CLAIMS:
        return _MORE
    return None


def _one_letter(one: str, two: str) -> bool:
    """Tell whether two names differ by one letter or by two swapped ones; a plural or a number is no trick."""
    short, long = sorted((one, two), key=len)
    if len(long) - len(short) > 1 or long.rstrip("s0123456789") == short.rstrip("s0123456789"):
        return False
    at = next((at for at, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) != len(long):
        return short[at:] == long[at + 1 :]
    swapped = short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
    return swapped or short[at + 1 :] == long[at + 1 :]


DETECTOR: Final = Detector((_SAME, _LOOKS, _NEAR, _MORE), _find)
