"""Makes lines of a server's log safe for an agent to read.

Rules kept here:
1. Possible secrets that the server was given are masked, in all their usual spellings.
2. A line that looks like a secret or a prompt injection is replaced by a sentence of the guard's. So are lines that do
   so only together.
3. The rest contains no cursor control and nothing hidden.
4. The work is bounded. Everything that could not be checked within the bound is withheld.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from mcpguard.domain.findings import Finding, Severity
from mcpguard.guard.servers.listed_findings import definition_findings
from mcpguard.inspection.detectors.detector import Surroundings
from mcpguard.policy.secrets.detection import NOTHING, find_secrets
from mcpguard.policy.secrets.masking import HIDDEN, spellings
from mcpguard.text.visible import visible

MOST_CHARACTERS: Final = 10_000
"""Characters of all lines together: inspection reads that much of one text without leaving anything out."""
LONGEST_LINE: Final = 1000
LIKE_SECRET: Final = "(line withheld by mcpguard: looks like a secret)"  # noqa: S105
LIKE_ORDER: Final = "(line withheld by mcpguard: possible prompt injection)"
UNTOLD: Final = "(line withheld by mcpguard: may contain a secret)"
_ROUNDS: Final = 25
_ESCAPED: Final = re.compile("⟨U\\+([0-9A-F]{4,6})⟩")
_SEQUENCE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_LAST: Final = 0x10FFFF
_HARMLESS: Final = frozenset({Severity.INFO, Severity.LOW})
Instead = dict[int, str]
"""The sentences that replace withheld lines, by their numbers."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Lines that an agent may read, and how many of them were withheld and replaced by a sentence."""

    lines: tuple[str, ...]
    withheld: int


def fit(written: Sequence[str], given: Iterable[str] | None, surroundings: Surroundings, most: int) -> Fit:
    """The last `most` lines of a log, screened. `given`: the secrets that the server got, None if they are unknown."""
    hide = _masking(given or ())
    lines = _last(hide(plain(line))[:LONGEST_LINE] for line in islice(reversed(written), most))
    instead: Instead = {}
    # Where the secrets are not known nothing can be masked, so nothing is shown.
    if given is None:
        instead = dict.fromkeys(range(len(lines)), UNTOLD)
    else:
        _withhold(lines, instead, LIKE_SECRET, _secret)
        # A part of an order may resemble attacks by itself, and be withheld without the rest: rules see all of it.
        by_rules = replace(surroundings, compared=False)
        _withhold(lines, instead, LIKE_ORDER, lambda texts: _orders(texts, by_rules))
    shown = (instead.get(number) or visible(line)[:LONGEST_LINE] for number, line in enumerate(lines))
    return Fit(tuple(shown), len(instead))


def plain(line: str) -> str:
    """A line of a log as the server wrote it, without what colours it on a terminal."""
    return _SEQUENCE.sub("", _ESCAPED.sub(_written, line)).replace("\t", "    ").rstrip("\r")


def _written(escaped: re.Match[str]) -> str:
    point = int(escaped[1], 16)
    return chr(point) if point <= _LAST else escaped[0]


def _last(lines: Iterable[str]) -> list[str]:
    """As many of the lines as may be told; they come last one first, and earlier ones are not read."""
    kept: list[str] = []
    left = MOST_CHARACTERS
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            break
        kept.insert(0, line)
    return kept


def _masking(given: Iterable[str]) -> Callable[[str], str]:
    known = spellings(given)
    if not known:
        return lambda line: line
    either = re.compile("|".join(re.escape(way.decode()) for way in known))
    return lambda line: either.sub(HIDDEN, line)


def _withhold(
    lines: Sequence[str], instead: Instead, sentence: str, found: Callable[[Sequence[str]], Iterable[int]]
) -> None:
    """Withhold each line with a hit, then those that have a hit only together: an instruction may be spread over
    lines."""
    for number in range(len(lines)):
        if number not in instead and any(True for _ in found([lines[number]])):
            instead[number] = sentence
    # Lines may be harmless alone and steer an agent together. What is left after so many rounds is all withheld.
    for _ in range(_ROUNDS):
        left = [number for number in range(len(lines)) if number not in instead]
        together = {left[at] for at in found([lines[number] for number in left])}
        if not together:
            return
        instead |= dict.fromkeys(together, sentence)
    instead |= {number: sentence for number in range(len(lines)) if number not in instead}


def _secret(texts: Sequence[str]) -> Iterable[int]:
    """The fewest lines around a secret, by their places in `texts`."""

    def there(start: int, end: int) -> bool:
        return find_secrets("\n".join(texts[start:end])) != NOTHING

    if not texts or not there(0, len(texts)):
        return range(0)
    end = _first(len(texts), lambda size: there(0, size))
    return range(end - _first(end, lambda size: there(end - size, end)), end)


def _first(most: int, holds: Callable[[int], bool]) -> int:
    """The least size for which it holds; it does for the largest."""
    least = 1
    while least < most:
        middle = (least + most) // 2
        least, most = (least, middle) if holds(middle) else (middle + 1, most)
    return least


def _orders(texts: Sequence[str], surroundings: Surroundings) -> Iterable[int]:
    """The lines that a finding is about, by their places in `texts`."""
    found = [
        each for each in definition_findings("\n".join(texts), surroundings).findings if each.severity not in _HARMLESS
    ]
    start, places = 0, set[int]()
    for place, text in enumerate(texts):
        end = start + len(text)
        if any(_is_about(each, start, end) for each in found):
            places.add(place)
        start = end + 1
    return places if places or not found else range(len(texts))


def _is_about(found: Finding, start: int, end: int) -> bool:
    return found.evidence.start <= end and found.evidence.end >= start
