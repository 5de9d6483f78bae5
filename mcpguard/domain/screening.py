"""What is done with what a server says, and what was done with one reply."""

from dataclasses import dataclass
from enum import StrEnum


class Screening(StrEnum):
    """How a reply is screened, the loosest first."""

    OFF = "off"
    NOTE = "note"
    MASK = "mask"
    REFUSE = "refuse"

    def is_looser_than(self, other: "Screening") -> bool:
        ranks = tuple(Screening)
        return ranks.index(self) < ranks.index(other)


@dataclass(frozen=True, slots=True)
class Screened:
    """That something was found in a reply, or done with it. `found`: rules by their ids, none of the reply's text.

    `masked`: how many places of it are not as the server wrote them.
    """

    mode: Screening
    found: tuple[str, ...] = ()
    masked: int = 0
