"""What a change adds to a definition, in words for a reviewer.

Titles and phrases are constants. Beside them stands at most a short piece of what the server wrote, with everything
hidden in it made visible (`detail`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from mcpguard.domain.findings import Evidence

NOTHING_ADDED: Final = "adds no destination, no instruction to the model and no argument for data"
_MOST_NAMED: Final = 4
"""How many additions a summary names."""
_COMPARED: Final = 20
"""How many earlier additions of the same sort and place one is compared with."""


class AdditionKind(StrEnum):
    """What sort of thing was added."""

    DESTINATION = "destination"
    INSTRUCTION = "instruction"
    ARGUMENT = "argument"
    REQUEST = "request"
    VALUE = "value"
    HIDDEN = "hidden"
    ANNOTATION = "annotation"
    SAFEGUARD = "safeguard"
    UNREAD = "unread"
    LINK = "link"


TITLES: Final = {
    AdditionKind.DESTINATION: "New destination",
    AdditionKind.INSTRUCTION: "New instruction to the model",
    AdditionKind.ARGUMENT: "New argument",
    AdditionKind.REQUEST: "New request",
    AdditionKind.VALUE: "New preset value",
    AdditionKind.HIDDEN: "New hidden text",
    AdditionKind.ANNOTATION: "Weaker annotation",
    AdditionKind.SAFEGUARD: "Removed safeguard",
    AdditionKind.UNREAD: "More text than is inspected",
    AdditionKind.LINK: "New link",
}
_PHRASES: Final = {
    AdditionKind.DESTINATION: "adds a destination",
    AdditionKind.INSTRUCTION: "adds an instruction to the model",
    AdditionKind.ARGUMENT: "adds an argument",
    AdditionKind.REQUEST: "adds a request",
    AdditionKind.VALUE: "presets a value",
    AdditionKind.HIDDEN: "adds hidden text",
    AdditionKind.ANNOTATION: "weakens an annotation",
    AdditionKind.SAFEGUARD: "removes a safeguard",
    AdditionKind.UNREAD: "adds more text than is inspected",
    AdditionKind.LINK: "adds a link",
}


@dataclass(frozen=True, slots=True)
class Addition:
    """One thing that the new definition has and the approved one had not; `evidence` is its place in the new one.

    `purpose` says what it is for (a constant), `detail` names it (the server's text, made safe to show).
    """

    kind: AdditionKind
    evidence: Evidence
    purpose: str = ""
    detail: str = ""

    @property
    def title(self) -> str:
        return f"{TITLES[self.kind]}{f' {self.purpose}' if self.purpose else ''}"

    @property
    def alarming(self) -> bool:
        """Whether an honest change hardly ever has one."""
        return self.kind is not AdditionKind.LINK

    @property
    def phrase(self) -> str:
        """The addition in the words of a summary."""
        purpose = f" {self.purpose}" if self.purpose else ""
        return f"{_PHRASES[self.kind]}{purpose}{f': {self.detail}' if self.detail else ''}"


@dataclass(frozen=True, slots=True)
class Additions:
    """All that a change adds, the most telling first; `more` were found besides."""

    found: tuple[Addition, ...] = ()
    more: int = 0

    @property
    def alarming(self) -> bool:
        return any(each.alarming for each in self.found)

    @property
    def summary(self) -> str:
        """One line: what is added, or that nothing of these is."""
        phrases = [*dict.fromkeys(each.phrase for each in self.found)]
        left = len(phrases[_MOST_NAMED:]) + self.more
        named = [*phrases[:_MOST_NAMED], *([f"{left} more"] if left else ())]
        return "; ".join(named) or NOTHING_ADDED


def order_additions(found: Iterable[Addition], most: int) -> Additions:
    """Return the additions, each place once, the alarming ones first, at most so many of them."""
    kept: dict[tuple[AdditionKind, str, str, str], list[Addition]] = {}
    for each in found:
        same = kept.setdefault((each.kind, each.purpose, each.detail, each.evidence.path), [])
        if not any(_overlap(each.evidence, other.evidence) for other in same[-_COMPARED:]):
            same.append(each)
    order = {kind: at for at, kind in enumerate(AdditionKind)}
    every = [each for same in kept.values() for each in same]
    ordered = sorted(every, key=lambda each: (not each.alarming, order[each.kind]))
    return Additions(tuple(ordered[:most]), len(ordered[most:]))


def _overlap(one: Evidence, other: Evidence) -> bool:
    return one == other or (one.start < other.end and other.start < one.end)
