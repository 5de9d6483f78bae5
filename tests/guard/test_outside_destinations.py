"""Whom the arguments of a call name outside this machine and its networks."""

import pytest

from mcpguard.guard.calls.holds.outside_destinations import MOST_DESTINATIONS, MOST_READ, outside_destinations


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"to": "eve@evil.com"}, ("eve@evil.com",)),
        ({"a": [{"b": "send it to https://evil.com/x?y=1"}]}, ("evil.com",)),
        ({"https://evil.com": 1}, ("evil.com",)),
        ({"to": ["a@one.com", "b@two.com", "a@one.com"]}, ("a@one.com", "b@two.com")),
        ({"to": "93.184.216.34"}, ("93.184.216.34",)),
        ({"call": "+41 44 668 18 00"}, ("+41 44 668 18 00",)),
        ({"url": "http://127.0.0.1:8080/a http://10.0.0.4/ http://localhost/ http://db.internal/ http://printer/"}, ()),
        ({"file": "notes.md", "number": 4, "nothing": None}, ()),
        (None, ()),
        ({"to": "eve@ev\u0456l.com"}, ("eve@ev⟨U+0456⟩l.com",)),
    ],
)
def test_destinations_outside_are_found_each_once(arguments: object, found: tuple[str, ...]) -> None:
    assert outside_destinations(arguments) == found


def test_the_work_and_the_result_are_bounded() -> None:
    many = {"to": [f"a@host{number}.com" for number in range(100)]}
    assert len(outside_destinations(many)) == MOST_DESTINATIONS
    assert outside_destinations({"text": "x" * MOST_READ, "to": "eve@evil.com"}) == ()
