"""What became of each call, for whoever counts calls or draws them.

Rules kept here:
1. A call is in one stage at a time, from its first judgement until its closing is stored. Only what the guard does in
   between is its own time: not what the server takes, nor a person.
2. Each call is told once, when it has ended, however it did; what the store had to refuse as overtaken is none yet.
3. Whoever listens does not wait and does not fail, and tells nobody what a server or an agent wrote.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.calls.records import Opening
from mcpguard.domain.clock import Clock


class CallStage(StrEnum):
    """What is done with a call, or waited for."""

    JUDGING = "judging"
    LISTING = "listing"
    RECORDING = "recording"
    PERSON = "person"
    SERVER = "server"
    SCREENING = "screening"


OF_OTHERS: Final = frozenset({CallStage.LISTING, CallStage.PERSON, CallStage.SERVER})
"""Where the guard waits: for what a server lists, for a person, for a server with all that it asks of the client."""


class Course:
    """How far a call has come. `trace`: what its client says that the call is a part of."""

    __slots__ = ("_monotonic", "began", "steps", "trace")

    def __init__(self, clock: Clock, trace: str) -> None:
        self._monotonic = clock.monotonic
        self.trace = trace
        self.began = clock.now()
        self.steps = [(CallStage.JUDGING, self._monotonic())]

    def enter(self, stage: CallStage) -> None:
        """From here on it is in this stage."""
        self.steps.append((stage, self._monotonic()))

    def listing(self) -> None:
        """It waits for what its server lists."""
        self.enter(CallStage.LISTING)


@dataclass(frozen=True, slots=True)
class Step:
    """A part of a call, in seconds from its beginning."""

    stage: CallStage
    began: float
    ended: float


@dataclass(frozen=True, slots=True)
class EndedCall:
    """A call that has ended. `began` is UTC in microseconds, `took` seconds, `own` those that the guard itself took.

    `approved`: the name that a person has approved for what was called, empty where nobody has.
    """

    opening: Opening
    outcome: Outcome
    approved: str
    trace: str
    began: int
    took: float
    own: float
    steps: tuple[tuple[CallStage, float], ...]

    def parts(self) -> Iterator[Step]:
        """In their order, without those that took no time."""
        first = self.steps[0][1]
        ends = (*(at for _, at in self.steps[1:]), first + self.took)
        for (stage, began), ended in zip(self.steps, ends, strict=True):
            if ended > began:
                yield Step(stage, began - first, ended - first)


Listener = Callable[[EndedCall], None]


class Events:
    """Tells what became of calls."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._listeners: tuple[Listener, ...] = ()

    def subscribe(self, listener: Listener) -> None:
        self._listeners = (*self._listeners, listener)

    def course(self, trace: str) -> Course:
        """A call begins."""
        return Course(self._clock, trace)

    def ended(self, course: Course, opening: Opening, approved: str, outcome: Outcome) -> None:
        """A call has ended, and its entry with it."""
        steps, end = course.steps, self._clock.monotonic()
        own, until = 0.0, end
        for stage, at in reversed(steps):
            if stage not in OF_OTHERS:
                own += until - at
            until = at
        ended = EndedCall(opening, outcome, approved, course.trace, course.began, end - steps[0][1], own, tuple(steps))
        for listener in self._listeners:
            listener(ended)
