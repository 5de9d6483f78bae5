"""Inspections that are running or have failed, and their stages."""

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class InspectionStage(StrEnum):
    """The stages of an inspection, in order. A server that is connected already is only listed and compared."""

    INSTALLING = "installing"
    STARTING = "starting"
    LISTING = "listing"
    COMPARING = "comparing"

    @property
    def sentence(self) -> str:
        """What is being done, as a clause that follows the name of the server and a colon."""
        return _DOING[self]


_DOING: Final = MappingProxyType(
    {
        InspectionStage.INSTALLING: "installing its package",
        InspectionStage.STARTING: "starting or contacting it",
        InspectionStage.LISTING: "listing its capabilities",
        InspectionStage.COMPARING: "inspecting its capabilities",
    }
)


@dataclass(frozen=True, slots=True)
class Inspection:
    """An inspection that is running or has failed. A successful one leaves a listing instead.

    Times are microseconds in UTC. `by`: who asked for it; `ended`: None while it runs. `why`: what went wrong.
    `started`: whether the server was started or contacted. `wrote`: the last lines that the server wrote to its
    standard error meanwhile, made safe to display.
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
