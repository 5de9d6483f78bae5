"""How long calls took, counted in buckets of a logarithmic scale, which can be added up.

Each bucket ends at √2 times the end of the one before: from a quarter of a millisecond to more than an hour. A
quantile is told as the geometric middle of its bucket, and so is at most a factor of ⁴√2 (19 %) from the true one.
"""

from bisect import bisect_left
from collections.abc import Mapping
from typing import Final

SHORTEST: Final = 250
"""Microseconds at which the first bucket ends."""
ENDS: Final = tuple(round(SHORTEST * 2 ** (step / 2)) for step in range(49))
"""Where the buckets end, the end included. There is one more for whatever took longer."""


def bucket_of(microseconds: int) -> int:
    """The bucket of a duration."""
    return bisect_left(ENDS, microseconds)


def quantile(counts: Mapping[int, int], share: float) -> int | None:
    """About how long this share of the durations took at most, in microseconds; None where there are none."""
    total, seen = sum(counts.values()), 0
    for bucket in sorted(counts):
        seen += counts[bucket]
        if seen and seen >= share * total:
            return round(SHORTEST * 2 ** (bucket / 2 - 0.25))
    return None
