"""What clients asked for and what became of it, each request once; and whatever should never have been."""

import itertools
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

ANSWERED, FAILED, GIVEN_UP = "answered", "failed", "given up"
UNREACHABLE, LOST, BUSY = "server:unreachable", "server:lost", "server:busy"
KILLED = (UNREACHABLE, LOST, BUSY)
"""What may come in the place of any answer, because servers are killed and few calls may wait for one."""
MOST_TOLD = 50
LONGEST = 2000


@dataclass(slots=True)
class Asked:
    """One request. `how` is empty until it has ended. `recorded`: whether it is a call, and so in the ledger."""

    trace: str
    act: str
    where: str
    recorded: bool
    how: str = ""
    call_id: str = ""


@dataclass
class Book:
    """The accounts of a run."""

    began: float = field(default_factory=time.monotonic)
    asked: dict[str, Asked] = field(default_factory=dict)
    ended: Counter[tuple[str, str]] = field(default_factory=Counter)
    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    heard: Counter[str] = field(default_factory=Counter)
    kills: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    wrongs: int = 0
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @contextmanager
    def asking(self, act: str, where: str, *, recorded: bool) -> Iterator[Asked]:
        """One request, from its beginning to its end. A block that is left without a word was given up."""
        trace = f"00-{next(self._numbers):032x}-{1:016x}-01"
        one = self.asked[trace] = Asked(trace, act, where, recorded)
        began = time.monotonic()
        try:
            yield one
        finally:
            one.how = one.how or GIVEN_UP
            self.ended[act, one.how] += 1
            if one.how in (ANSWERED, FAILED):
                self.seconds[act].append(time.monotonic() - began)

    def restart(self) -> None:
        """Count anew: what was before was the warm-up. What was asked and what was wrong is kept."""
        self.ended.clear()
        self.seconds.clear()
        self.heard.clear()
        self.kills.clear()

    def blame(self, what: str) -> None:
        """Something that should not be."""
        self.wrongs += 1
        if len(self.wrong) < MOST_TOLD:
            self.wrong.append(f"[{time.monotonic() - self.began:.1f} s] {what[:LONGEST]}")

    def check(self, holds: bool, what: str) -> None:
        if not holds:
            self.blame(what)
