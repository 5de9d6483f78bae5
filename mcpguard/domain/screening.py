"""Modes of scanning replies, and the result for one reply."""

from dataclasses import dataclass
from enum import StrEnum


class Screening(StrEnum):
    """What happens to a reply in which something is found, the loosest mode first."""

    OFF = "off"
    NOTE = "note"
    MASK = "mask"
    REFUSE = "refuse"

    def is_looser_than(self, other: "Screening") -> bool:
        ranks = tuple(Screening)
        return ranks.index(self) < ranks.index(other)


@dataclass(frozen=True, slots=True)
class ScreeningResult:
    """What was found in a reply and done with it. `found`: ids of rules, none of the reply's text.

    `masked`: in how many places the reply was changed.
    """

    mode: Screening
    found: tuple[str, ...] = ()
    masked: int = 0
