"""The last inspection of a server, for as long as there is something to tell about it; and how far one has come."""

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class InspectionStage(StrEnum):
    """What is being done in an inspection that is under way, in this order. A server that runs is only listed."""

    INSTALLING = "installing"
    STARTING = "starting"
    LISTING = "listing"
    COMPARING = "comparing"

    @property
    def sentence(self) -> str:
        """What is being done, after the name of the server and a colon."""
        return _DOING[self]


_DOING: Final = MappingProxyType(
    {
        InspectionStage.INSTALLING: "installing what it needs",
        InspectionStage.STARTING: "starting or contacting it",
        InspectionStage.LISTING: "reading what it offers",
        InspectionStage.COMPARING: "looking through what it offers",
    }
)


@dataclass(frozen=True, slots=True)
class Inspection:
    """An inspection that has begun and has not ended, or that failed. One that succeeds leaves its listing instead.

    Times are microseconds in UTC. `by`: who asked for it; `ended`: None until it is known how it ended. `why`: what
    went wrong, in a sentence of ours. `started`: whether the server was started or contacted. `wrote`: the last lines
    that the server wrote to its standard error meanwhile, made fit to be read.
    """

    began: int
    by: str
    ended: int | None = None
    why: str = ""
    started: bool = False
    wrote: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        return self.ended is not None
