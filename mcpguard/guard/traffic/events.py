"""Tells listeners the outcome of each call, so that they can count or trace it.

Rules kept here:
1. A call is in one stage at a time, from its first judgement until its closing is stored. The guard's own time excludes
   the stages that wait for a server or a reviewer.
2. Each call is reported once, when it has ended, in whatever way; an attempt that the store rejected as overtaken is
   not yet a call.
3. A listener must not wait or fail, and passes on nothing that a server or an agent wrote.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.calls.records import Opening
from mcpguard.domain.clock import Clock
from mcpguard.domain.servers.pins import Pin


class CallStage(StrEnum):
    """What is being done with a call, or waited for."""

    JUDGING = "judging"
    LISTING = "listing"
    RECORDING = "recording"
    PERSON = "person"
    SERVER = "server"
    SCREENING = "screening"


OF_OTHERS: Final = frozenset({CallStage.LISTING, CallStage.PERSON, CallStage.SERVER})
"""Stages in which the guard waits for others: for a listing, a reviewer, or a server and what it asks the client."""


class CallCourse:
    """The stages of one call so far. `trace`: the trace that its client says the call is part of."""

    __slots__ = ("_monotonic", "began", "steps", "trace")

    def __init__(self, clock: Clock, trace: str) -> None:
        self._monotonic = clock.monotonic
        self.trace = trace
        self.began = clock.now()
        self.steps = [(CallStage.JUDGING, self._monotonic())]

    def enter(self, stage: CallStage) -> None:
        """Take note that the call enters this stage."""
        self.steps.append((stage, self._monotonic()))

    def enter_listing(self) -> None:
        """Take note that the call waits for a listing."""
        self.enter(CallStage.LISTING)


@dataclass(frozen=True, slots=True)
class Step:
    """One stage of a call, in seconds from its beginning."""

    stage: CallStage
    began: float
    ended: float


@dataclass(frozen=True, slots=True)
class EndedCall:
    """A call that has ended. `began` is UTC in microseconds, `took` seconds, `own` those that the guard itself took.

    `pin`: what was decided about what was called; None where nothing was.
    """

    opening: Opening
    outcome: Outcome
    pin: Pin | None
    trace: str
    began: int
    took: float
    own: float
    steps: tuple[tuple[CallStage, float], ...]

    @property
    def approved(self) -> str:
        """The name of what was called, where it is approved; else empty. Names that agents invent are counted
        nowhere."""
        return self.pin.name if self.pin is not None and self.pin.callable else ""

    def parts(self) -> Iterator[Step]:
        """The stages in order, without those that took no time."""
        first = self.steps[0][1]
        ends = (*(at for _, at in self.steps[1:]), first + self.took)
        for (stage, began), ended in zip(self.steps, ends, strict=True):
            if ended > began:
                yield Step(stage, began - first, ended - first)


Listener = Callable[[EndedCall], None]


class CallEvents:
    """Tells listeners what became of calls."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._listeners: tuple[Listener, ...] = ()

    def subscribe(self, listener: Listener) -> None:
        self._listeners = (*self._listeners, listener)

    def publish_end(self, course: CallCourse, opening: Opening, pin: Pin | None, outcome: Outcome) -> None:
        """Tell the listeners that a call has ended."""
        steps, end = course.steps, self.clock.monotonic()
        own, until = 0.0, end
        # Backwards, as each stage lasts until the next one begins.
        for stage, at in reversed(steps):
            if stage not in OF_OTHERS:
                own += until - at
            until = at
        ended = EndedCall(opening, outcome, pin, course.trace, course.began, end - steps[0][1], own, tuple(steps))
        for listener in self._listeners:
            listener(ended)
