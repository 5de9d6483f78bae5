"""Pauses between attempts: they grow up to a limit, and no two servers wait for the same time."""

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from mcpguard.upstreams.supervise.backoff import Backoff

seconds = st.floats(0.001, 3600)
chance = st.floats(0, 1, exclude_max=True)


def pauses(backoff: Backoff, count: int) -> Iterator[float]:
    return (backoff.next() for _ in range(count))


def test_a_pause_doubles_until_it_is_as_long_as_it_may_be() -> None:
    assert [*pauses(Backoff(1, 60, lambda: 0.0), 9)] == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]


def test_after_a_reset_it_begins_anew() -> None:
    backoff = Backoff(1, 60, lambda: 0.0)
    assert [*pauses(backoff, 3)] == [0.5, 1, 2]
    backoff.reset()
    assert [*pauses(backoff, 2)] == [0.5, 1]


@given(seconds, seconds, st.lists(chance, min_size=1, max_size=40))
def test_it_is_drawn_from_the_upper_half_and_never_longer_than_allowed(
    first: float, most: float, drawn: list[float]
) -> None:
    left = iter(drawn)
    found = [*pauses(Backoff(first, most, lambda: next(left)), len(drawn))]
    ceilings = [min(first * 2**number, most) for number in range(len(drawn))]
    assert all(ceiling / 2 <= pause <= ceiling for pause, ceiling in zip(found, ceilings, strict=True))
