"""Bars of what was counted: every record in one, at round times, none drawn where nothing was counted."""

from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.filters import ALL_RECORDS, Filter
from mcpguard.guard.audit.histogram import MOST, SECOND, Bar, grain, histogram
from mcpguard.store.search.record_counts import RecordCounts

CALLS = ("allow", "hold", "deny", "answered", "failed", "refused", "held", "cancelled", "unknown")
WORDS = st.sampled_from([*CALLS, "", "something else"])
HOUR = 3600 * SECOND


@given(
    st.dictionaries(st.tuples(st.integers(0, 10_000), WORDS), st.integers(1, 10**6), max_size=40),
    st.integers(0, 10**15),
    st.none() | st.integers(0, 10**15),
    st.none() | st.integers(1, 10**15),
    st.booleans(),
    st.integers(0, 2**53),
)
def test_all_that_was_counted_is_drawn_once(
    slots: dict[tuple[int, str], int], extent: int, since: int | None, until: int | None, ended: bool, now: int
) -> None:
    fine = grain(extent)
    drawn = histogram(RecordCounts(slots, 7, ended), fine, Filter((), since, until), now)
    assert drawn.every == sum(slots.values())
    assert drawn.calls == sum(number for (_, word), number in slots.items() if word in CALLS)
    assert (drawn.reached, drawn.whole) == (7, ended)
    assert len(drawn.bars) <= MOST + 2
    assert [bar.at for bar in drawn.bars] == [drawn.bars[0].at + n * drawn.width for n in range(len(drawn.bars))]
    for slot, _ in slots:
        assert sum(bar.at <= slot * fine < bar.at + drawn.width for bar in drawn.bars) == 1
    assert all(bar.at % drawn.width == 0 for bar in drawn.bars)


@given(st.integers(0, 2**53))
def test_it_is_counted_fine_enough_for_the_bars(extent: int) -> None:
    assert grain(extent) == SECOND or grain(extent) * 4 * MOST <= extent


def test_an_hour_has_bars_of_a_minute_from_where_the_filter_says_to_now() -> None:
    now = 1_000 * HOUR + 30 * SECOND
    counted = RecordCounts(
        {((now - 600 * SECOND) // SECOND, "allow"): 3, ((now - 1) // SECOND, "deny"): 1}, 1, ended=True
    )
    drawn = histogram(counted, SECOND, Filter((), now - HOUR), now)
    assert drawn.width == 60 * SECOND
    assert (drawn.bars[0].at, drawn.bars[-1].at) == (999 * HOUR, 1000 * HOUR)
    assert drawn.bars[-1] == Bar(1000 * HOUR, 0, 0, 0, 1, 0)


def test_where_not_everything_was_counted_the_bars_begin_there() -> None:
    now = 1_000 * HOUR
    counted = RecordCounts({((now - 5 * SECOND) // SECOND, "allow"): 3}, 90, ended=False)
    drawn = histogram(counted, SECOND, Filter((), now - HOUR), now)
    assert drawn.bars[0].at == now - 5 * SECOND
    assert not drawn.whole
    assert histogram(RecordCounts({}, 1, ended=True), SECOND, ALL_RECORDS, now).bars == ()
