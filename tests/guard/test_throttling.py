"""Ever more slowly: by name and by where it comes from, with a memory that has an end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.people import TooManyTries
from mcpguard.guard.people.throttle import (
    FORGOTTEN_SECONDS,
    FREE_BY_NAME,
    FREE_BY_PEER,
    LONGEST_SECONDS,
    MOST_REMEMBERED,
    Throttle,
)
from tests.clock import FakeClock


def wait(throttle: Throttle, name: str = "ada", peer: str = "192.0.2.1") -> int:
    """How long a try is told to wait; 0: it begins."""
    try:
        throttle.begin(name, peer)
    except TooManyTries as error:
        return error.seconds
    return 0


def test_each_failure_after_the_free_ones_doubles_the_wait_up_to_its_end() -> None:
    clock = FakeClock()
    throttle, waits = Throttle(clock), list[int]()
    for number in range(FREE_BY_NAME):
        assert wait(throttle, peer=f"192.0.2.{number}") == 0
    for number in range(14):
        waits.append(wait(throttle, peer=f"192.0.3.{number}"))
        clock.tick(waits[-1])
        assert wait(throttle, peer=f"192.0.3.{number}") == 0
    assert waits == [*(2**number for number in range(9)), *[round(LONGEST_SECONDS)] * 5]


def test_what_is_told_to_wait_does_not_count() -> None:
    clock = FakeClock()
    throttle = Throttle(clock)
    for _ in range(FREE_BY_NAME):
        wait(throttle)
    first = wait(throttle)
    assert {wait(throttle) for _ in range(100)} == {first}, "whoever knocks on does not keep the owner out for ever"


def test_one_place_that_tries_many_names_waits_too() -> None:
    throttle = Throttle(FakeClock())
    assert [wait(throttle, f"name-{number}") for number in range(FREE_BY_PEER)] == [0] * FREE_BY_PEER
    assert wait(throttle, "another") > 0
    assert wait(throttle, "another", "192.0.2.2") == 0


def test_many_at_once_are_as_slow_as_one_after_another() -> None:
    """None of them has ended when the next one begins."""
    throttle = Throttle(FakeClock())
    assert sum(wait(throttle, peer=f"192.0.2.{number}") == 0 for number in range(100)) == FREE_BY_NAME


def test_whoever_succeeds_is_forgiven_and_frees_nobody_elses_name() -> None:
    throttle = Throttle(FakeClock())
    for _ in range(FREE_BY_NAME):
        wait(throttle, "victim")
    for _ in range(50):
        assert wait(throttle, "mine") == 0
        throttle.forgive_success("mine", "192.0.2.1")
    assert wait(throttle, "victim") > 0
    for number in range(FREE_BY_PEER - FREE_BY_NAME):
        assert wait(throttle, f"name-{number}") == 0
    assert wait(throttle, "one-more") > 0, "one's own success does not make up for failures about others"


def test_one_ipv6_subscriber_is_one_place() -> None:
    throttle = Throttle(FakeClock())
    begun = [wait(throttle, f"name-{number}", f"2001:db8::{number:x}") for number in range(FREE_BY_PEER + 1)]
    assert begun[:-1] == [0] * FREE_BY_PEER
    assert begun[-1] > 0
    assert wait(throttle, "another", "2001:db8:0:1::1") == 0


@given(st.lists(st.text(max_size=80), min_size=1, max_size=300))
def test_what_can_be_nobodys_name_is_one_name(names: list[str]) -> None:
    throttle = Throttle(FakeClock())
    for number, name in enumerate(names):
        wait(throttle, f"{name} no name", f"192.0.2.{number % 250}")
    assert len(throttle) <= 1 + len(names[:250])


def test_what_is_remembered_has_an_end_and_a_flood_does_not_make_a_name_free() -> None:
    clock = FakeClock()
    throttle = Throttle(clock)
    for number in range(FREE_BY_NAME):
        wait(throttle, "victim", f"192.0.2.{number}")
    for number in range(MOST_REMEMBERED):
        wait(throttle, f"name-{number}", f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    assert len(throttle) <= MOST_REMEMBERED
    assert wait(throttle, "victim", "198.51.100.1") > 0
    clock.tick(FORGOTTEN_SECONDS)
    assert wait(throttle, "victim", "198.51.100.1") == 0
    assert len(throttle) <= MOST_REMEMBERED


@pytest.mark.parametrize("peer", ["", "unix", "192.0.2.1\n", "x" * 1000])
def test_who_comes_from_nowhere_comes_from_one_place(peer: str) -> None:
    throttle = Throttle(FakeClock())
    for number in range(FREE_BY_PEER):
        assert wait(throttle, f"name-{number}", peer) == 0
    assert wait(throttle, "another", "") > 0
