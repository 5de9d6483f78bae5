"""Counts calls, how long they took, and what was found in them.

Rules kept here:
1. What is counted by is ours: names of servers that are there, and words of closed lists. Everything else, and whatever
   is beyond a bound, is `OTHER`, so that nobody makes the tables grow by what they call or say.
2. Neither callers nor tools are counted by: the audit log has them.
3. A server that is gone is forgotten with its counts.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, assert_never

from mcpguard.domain.calls.verdicts import Allow, Deny, Hold, Verdict
from mcpguard.guard.traffic.events import EndedCall
from mcpguard.guard.traffic.tallies import OTHER

NONE: Final = "none"
MOST_SERVERS: Final = 250
"""Servers that are counted by their names."""
MOST_SERIES: Final = 10_000
MOST_RULES: Final = 1000
BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Seconds."""


class Series(NamedTuple):
    """Calls that are counted together."""

    server: str
    effect: str
    verdict: str
    outcome: str
    reason: str


class Durations:
    """How many took how long. `counts`: one for each bucket, and what took longer than all of them."""

    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(BUCKETS) + 1)
        self.total = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BUCKETS, seconds)] += 1
        self.total += seconds


class Counting:
    """The tables. `exists`: whether there is a server of this name."""

    def __init__(self, exists: Callable[[str], bool]) -> None:
        self._exists = exists
        self._named: set[str] = set()
        self.calls: Counter[Series] = Counter()
        self.whole: dict[str, Durations] = {}
        self.own: dict[str, Durations] = {}
        self.found: Counter[tuple[str, str]] = Counter()

    def ended(self, ended: EndedCall) -> None:
        """A call has ended."""
        opening, outcome = ended.opening, ended.outcome
        server, effect = self.label(opening.capability.server), opening.effect.value if opening.effect else NONE
        reason = outcome.reason.value if outcome.reason else NONE
        series = Series(server, effect, verdict(opening.verdict), outcome.kind.value, reason)
        if series not in self.calls and len(self.calls) >= MOST_SERIES:
            series = series._replace(server=OTHER)
        self.calls[series] += 1
        _add(self.whole, server, ended.took)
        _add(self.own, effect, ended.own)
        if opening.secrets:
            self.found_by("arguments", opening.secrets)
        if outcome.screened is not None:
            self.found_by("replies", outcome.screened.found)

    def found_by(self, where: str, rules: Iterable[str]) -> None:
        """Something was found somewhere, by rules that are named by their ids."""
        for rule in rules:
            key = (where, rule)
            if key not in self.found and len(self.found) >= MOST_RULES:
                key = (where, OTHER)
            self.found[key] += 1

    def label(self, server: str) -> str:
        """What a server is counted by."""
        if not self._exists(server):
            return OTHER
        if server not in self._named:
            if len(self._named) >= MOST_SERVERS:
                return OTHER
            self._named.add(server)
        return server

    def forget(self) -> None:
        """Forget those that are gone. Without that names of servers that came and went would fill the tables."""
        gone = {name for name in self._named if not self._exists(name)}
        if gone:
            self._named -= gone
            self.calls = Counter({series: count for series, count in self.calls.items() if series.server not in gone})
            self.whole = {name: durations for name, durations in self.whole.items() if name not in gone}


def verdict(verdict: Verdict) -> str:
    """The word for it."""
    match verdict:
        case Allow():
            return "allow"
        case Hold():
            return "hold"
        case Deny():
            return "deny"
        case _:
            assert_never(verdict)


def _add(table: dict[str, Durations], key: str, seconds: float) -> None:
    durations = table.get(key)
    if durations is None:
        durations = table[key] = Durations()
    durations.add(seconds)
