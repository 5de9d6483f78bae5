"""What is told of counted calls: sums, bars over time, and how long calls took."""

from collections.abc import Mapping
from dataclasses import dataclass

from mcpguard.domain.calls.outcomes import OutcomeKind
from mcpguard.domain.calls.verdicts import Allow, Deny, Hold

VERDICTS = (Allow.word, Hold.word, Deny.word)
OPEN = "open"
OUTCOMES = (*(kind.value for kind in OutcomeKind), OPEN)


@dataclass(frozen=True, slots=True)
class CallSums:
    """How many calls got which verdict first, and how they ended. One that is still held counts as held, any other that
    has not ended as open."""

    verdicts: Mapping[str, int]
    outcomes: Mapping[str, int]

    @property
    def calls(self) -> int:
        return sum(self.outcomes.values())

    @property
    def failed(self) -> int:
        return self.outcomes[OutcomeKind.FAILED]


@dataclass(frozen=True, slots=True)
class TookAbout:
    """How long the calls that were sent took, in microseconds, within 19 %: half of them, and 95 in 100. None where
    none was sent."""

    p50: int | None
    p95: int | None


@dataclass(frozen=True, slots=True)
class CallBar:
    """The calls of one bar, which starts at `at`."""

    at: int
    sums: CallSums
    took: TookAbout


@dataclass(frozen=True, slots=True)
class CountedTool:
    """How often a tool or prompt was called."""

    server: str
    name: str
    calls: int
    failed: int
    refused: int


@dataclass(frozen=True, slots=True)
class CountedCaller:
    """How often a caller, named by its id, called."""

    caller: str
    calls: int
    failed: int
    refused: int


@dataclass(frozen=True, slots=True)
class CountedUpTo:
    """How far the calls of the log are counted: from the slot `since` on (None: nothing is), but for the `behind`
    newest records."""

    since: int | None
    behind: int


@dataclass(frozen=True, slots=True)
class SpanNumbers:
    """The counted calls from `since` on and before `until`, in bars of equal width without gaps; the first one may
    begin earlier.

    `before` and `before_took`: the same of the span of the same length before it; None where that is not kept any more.
    `refused`: the number of refused calls by reason. `unnamed`: calls that are in the sums, and that no tool and no
    caller is told of. How long calls took is not known where the filter has other keys than server, name and caller.
    """

    since: int
    until: int
    width: int
    bars: tuple[CallBar, ...]
    sums: CallSums
    took: TookAbout
    before: CallSums | None
    before_took: TookAbout | None
    tools: tuple[CountedTool, ...]
    callers: tuple[CountedCaller, ...]
    refused: Mapping[str, int]
    unnamed: int
    counted: CountedUpTo


@dataclass(frozen=True, slots=True)
class ServerHour:
    """The calls of one server in the hour that begins at `at`."""

    at: int
    calls: int
    failed: int
    refused: int


@dataclass(frozen=True, slots=True)
class ServerDay:
    """The calls of one server in 24 hours, without hours that had none. `last`: the start of the minute of the last
    call, or of its hour if that is long ago."""

    hours: tuple[ServerHour, ...]
    p95: int | None
    last: int

    @property
    def calls(self) -> int:
        return sum(hour.calls for hour in self.hours)

    @property
    def failed(self) -> int:
        return sum(hour.failed for hour in self.hours)

    @property
    def refused(self) -> int:
        return sum(hour.refused for hour in self.hours)


@dataclass(frozen=True, slots=True)
class DayOfServers:
    """The calls of each server that had any in the 24 hours from `since` on."""

    since: int
    servers: Mapping[str, ServerDay]
    counted: CountedUpTo
