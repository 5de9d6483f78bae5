"""The last inspection of a server, for as long as there is something to tell about it."""

from dataclasses import dataclass


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
