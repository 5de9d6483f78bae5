"""What a client says that its call is a part of is read exactly as it is standardised, or not at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.codec.traces import Parent, parent

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
FOUND = Parent(int(TRACE, 16), int(SPAN, 16))


@pytest.mark.parametrize("flags", ["00", "01", "ff"])
def test_a_parent_is_read_whatever_its_flags_say(flags: str) -> None:
    assert parent(f"00-{TRACE}-{SPAN}-{flags}") == FOUND


def test_of_a_newer_version_only_what_every_version_has_is_read() -> None:
    assert parent(f"01-{TRACE}-{SPAN}-01") == parent(f"cc-{TRACE}-{SPAN}-01-more\n-of-it") == FOUND


@pytest.mark.parametrize(
    "given",
    [
        "",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{TRACE}-{SPAN}-01-",
        f"01-{TRACE}-{SPAN}-01more",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f" 00-{TRACE}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01\n",
        f"00-{TRACE[:-1]}\u0661-{SPAN}-01",
        f"0-{TRACE}-{SPAN}-01",
    ],
)
def test_anything_else_is_none(given: str) -> None:
    assert parent(given) is None


@given(st.text(alphabet="0123456789abcdef-", max_size=80) | st.text())
def test_nothing_that_is_sent_makes_it_fail(given: str) -> None:
    found = parent(given)
    assert found is None or (0 < found.trace < 2**128 and 0 < found.span < 2**64)
