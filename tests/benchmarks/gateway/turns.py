"""What came of turns in which contenders were called one after the other, and how many times as much as directly.

Rules kept here:
1. A ratio is not that of two moments of the machine: times are divided within one round, and what counts is the median
   of the rounds. Processor time is added up first, because the system tells it in hundredths of a second.
2. The processor time of a gateway is divided by that of client and upstream without a gateway, for the same call.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan
from statistics import median

from tests.benchmarks.report import Row, quantile


@dataclass(frozen=True, slots=True)
class Turn:
    """One of them: how long each call took, and the seconds that were computed meanwhile.

    `around_cpu` is of client and upstream.
    """

    answered: Sequence[float]
    seconds: float
    gateway_cpu: float
    around_cpu: float
    failed: int = 0

    @property
    def p50(self) -> float:
        return quantile(self.answered, 0.5) if self.answered else nan


@dataclass(frozen=True, slots=True)
class Taken:
    """All turns of a contender. `alike` are the same for what can be compared: the kind of upstream, and the era."""

    of: dict[str, str | int]
    alike: tuple[str, str]
    is_gateway: bool
    turns: Sequence[Turn]

    @property
    def calls(self) -> int:
        return sum(len(turn.answered) for turn in self.turns)

    @property
    def gateway_cpu(self) -> float:
        return self._each(sum(turn.gateway_cpu for turn in self.turns)) if self.is_gateway else nan

    @property
    def around_cpu(self) -> float:
        return self._each(sum(turn.around_cpu for turn in self.turns))

    def _each(self, seconds: float) -> float:
        return seconds / self.calls if self.calls else nan


def rows(everyone: Sequence[Taken]) -> Iterator[Row]:
    """A row for each, beside the one without a gateway that is alike."""
    direct = {taken.alike: taken for taken in everyone if not taken.is_gateway}
    for taken in everyone:
        yield Row(taken.of, _figures(taken) | _ratios(taken, direct[taken.alike]))


def _figures(taken: Taken) -> dict[str, float]:
    answered = [seconds for turn in taken.turns for seconds in turn.answered]
    return {
        "p50_ms": median(turn.p50 for turn in taken.turns) * 1e3,
        "p99_ms": quantile(answered, 0.99) * 1e3 if answered else nan,
        "calls_per_s": median(len(turn.answered) / turn.seconds for turn in taken.turns),
        "cpu_ms": taken.gateway_cpu * 1e3,
        "around_cpu_ms": taken.around_cpu * 1e3,
        "failed": sum(turn.failed for turn in taken.turns),
    }


def _ratios(taken: Taken, direct: Taken) -> dict[str, float]:
    beside = zip(taken.turns, direct.turns, strict=True)
    return {
        "p50_to_direct": median(turn.p50 / its.p50 for turn, its in beside),
        "cpu_to_direct": taken.gateway_cpu / direct.around_cpu,
    }
