"""Quantiles of durations that were only counted in buckets are near the true ones."""

import math
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.calls.durations import ENDS, SHORTEST, bucket_of, quantile

DURATIONS = st.lists(st.integers(SHORTEST, ENDS[-1]), min_size=1, max_size=200)


@given(durations=DURATIONS, share=st.sampled_from([0.5, 0.95]))
def test_a_quantile_is_within_a_fifth(durations: list[int], share: float) -> None:
    true = sorted(durations)[math.ceil(share * len(durations)) - 1]
    told = quantile(Counter(map(bucket_of, durations)), share)
    assert told is not None
    assert true / 1.2 <= told <= true * 1.2


@given(some=DURATIONS, more=DURATIONS)
def test_buckets_can_be_added_up(some: list[int], more: list[int]) -> None:
    together = Counter(map(bucket_of, some)) + Counter(map(bucket_of, more))
    assert quantile(together, 0.5) == quantile(Counter(map(bucket_of, [*some, *more])), 0.5)


def test_there_is_a_bucket_for_whatever_is_shorter_or_longer() -> None:
    assert (bucket_of(0), bucket_of(SHORTEST), bucket_of(SHORTEST + 1)) == (0, 0, 1)
    assert bucket_of(2**60) == len(ENDS)
    assert ENDS[-1] > 3600 * 1_000_000
    assert quantile({}, 0.5) is None
