"""Counts calls, their durations, and findings in them, for the metrics.

Rules kept here:
1. Labels come only from the guard: names of existing servers, and words of closed lists. Everything else, and
   everything beyond a bound, is `OTHER`, so that no agent or server can make the tables grow.
2. Neither callers nor tools are labels: the audit log has them.
3. A server that is removed is forgotten with its counts.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from mcpguard.domain.calls.outcomes import OutcomeKind
from mcpguard.guard.traffic.events import EndedCall
from mcpguard.guard.traffic.tallies import OTHER

NONE: Final = "none"
MOST_SERVERS: Final = 250
"""The most servers that are counted by name."""
MOST_SERIES: Final = 10_000
MOST_RULES: Final = 1000
BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Seconds."""


class Series(NamedTuple):
    """The labels of calls that are counted together."""

    server: str
    effect: str
    verdict: str
    outcome: str
    reason: str


class Durations:
    """A histogram of durations. `counts`: one for each bucket, and one for what took longer than all of them."""

    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(BUCKETS) + 1)
        self.total = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BUCKETS, seconds)] += 1
        self.total += seconds


def own_quantile(durations: Iterable[Durations], share: float) -> float | None:
    """Return the seconds within which this share of the calls were worked on, as the end of a bucket; None without
    calls.
    """
    counts = [sum(numbers) for numbers in zip(*(each.counts for each in durations), strict=True)]
    total, seen = sum(counts), 0
    for number, end in zip(counts, (*BUCKETS, BUCKETS[-1]), strict=False):
        seen += number
        if total and seen >= share * total:
            return end
    return None


class ProgramCounts:
    """How many programs ended in which way, and how long they took."""

    def __init__(self) -> None:
        self.ended: Counter[tuple[str, str]] = Counter()
        self.took = defaultdict[str, Durations](Durations)

    def add(self, outcome: OutcomeKind, failure: str, seconds: float) -> None:
        """Count a program that has ended or was suspended. `failure`: the code of its error."""
        self.ended[outcome.value, failure or NONE] += 1
        self.took[outcome.value].add(seconds)


class CallCounts:
    """The tables that metrics are read from. `exists`: whether there is a server of this name."""

    def __init__(self, exists: Callable[[str], bool]) -> None:
        self._exists = exists
        self._named: set[str] = set()
        self.calls: Counter[Series] = Counter()
        self.whole = defaultdict[str, Durations](Durations)
        self.own = defaultdict[str, Durations](Durations)
        self.found: Counter[tuple[str, str]] = Counter()

    def count_call(self, ended: EndedCall) -> None:
        """Count a call that has ended."""
        opening, outcome = ended.opening, ended.outcome
        server, effect = opening.capability.server, opening.effect.value if opening.effect else NONE
        if server not in self._named:  # one that was removed meanwhile is forgotten before it is shown
            server = self.label(server)
        reason = outcome.reason.value if outcome.reason else NONE
        series = Series(server, effect, opening.verdict.word, outcome.kind.value, reason)
        # Agents choose what they call: without a bound they could make the tables grow for ever.
        if series not in self.calls and len(self.calls) >= MOST_SERIES:
            series = series._replace(server=OTHER)
        self.calls[series] += 1
        self.whole[server].add(ended.took)
        self.own[effect].add(ended.own)
        if opening.secrets:
            self.count_findings("arguments", opening.secrets)
        if outcome.screened is not None:
            self.count_findings("replies", outcome.screened.found)

    def count_findings(self, where: str, rules: Iterable[str]) -> None:
        """Count findings in arguments or replies, by the ids of their rules."""
        for rule in rules:
            key = (where, rule)
            if key not in self.found and len(self.found) >= MOST_RULES:
                key = (where, OTHER)
            self.found[key] += 1

    def label(self, server: str) -> str:
        """The label for a server: its name, or `OTHER`."""
        if not self._exists(server):
            return OTHER
        if server not in self._named:
            if len(self._named) >= MOST_SERVERS:
                return OTHER
            self._named.add(server)
        return server

    def forget(self) -> None:
        """Forget servers that are gone. Otherwise names of servers that come and go would fill the tables."""
        gone = {name for name in self._named if not self._exists(name)}
        if gone:
            self._named -= gone
            self.calls = Counter({series: count for series, count in self.calls.items() if series.server not in gone})
            for name in gone & self.whole.keys():
                del self.whole[name]
