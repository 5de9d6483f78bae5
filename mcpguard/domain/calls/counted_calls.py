"""Calls that are counted together, because they have the same values, in slots of time.

A call belongs to the slots in which it was opened. Until it is closed it has no outcome.
"""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, NamedTuple

SECOND: Final = 1_000_000


class Grain(IntEnum):
    """How long a slot of time is, in microseconds."""

    MINUTE = 60 * SECOND
    HOUR = 3600 * SECOND
    DAY = 86_400 * SECOND


class CountDetail(IntEnum):
    """What calls are counted by: what is asked for most often has few rows."""

    SERVER = 0
    TOOL = 1
    """By server, name and caller."""


KEPT: Final = {Grain.MINUTE: 50 * Grain.HOUR, Grain.HOUR: 35 * Grain.DAY, Grain.DAY: 731 * Grain.DAY}
"""For how long slots are kept. Minutes: two hours more than two days, so that a day can be compared with the one
before."""


class CallValues(NamedTuple):
    """What calls that are counted together have in common; empty where there is none. `verdict` is the first one."""

    server: str
    name: str
    caller: str
    effect: str
    verdict: str
    outcome: str
    reason: str


class DurationValues(NamedTuple):
    """What durations that are counted together have in common."""

    server: str
    name: str
    caller: str
    bucket: int


@dataclass(slots=True)
class CallChanges:
    """By how much the counts of each minute change, by the minute's start, in the order in which the changes came."""

    calls: dict[tuple[int, CallValues], int] = field(default_factory=dict)
    durations: dict[tuple[int, DurationValues], int] = field(default_factory=dict)

    def count_call(self, minute: int, values: CallValues, by: int = 1) -> None:
        """Change the number of calls with these values."""
        self.calls[minute, values] = self.calls.get((minute, values), 0) + by

    def count_duration(self, minute: int, values: DurationValues) -> None:
        """Count a call that took so long."""
        self.durations[minute, values] = self.durations.get((minute, values), 0) + 1


@dataclass(frozen=True, slots=True)
class CountFilter:
    """The values that counted calls must have; None: any."""

    server: str | None = None
    name: str | None = None
    caller: str | None = None
    effect: str | None = None
    verdict: str | None = None
    outcome: str | None = None
    reason: str | None = None


ALL_CALLS: Final = CountFilter()
