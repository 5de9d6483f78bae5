"""The one search that most texts are spared all others by: what it passes over holds nothing."""

import base64
from urllib.parse import quote

import pytest
from hypothesis import example, given

from mcpguard.policy.secrets.detection import may_hold, rules_for_text
from mcpguard.policy.secrets.layers import layers, pieces, text_of_value
from mcpguard.policy.secrets.rules import rules
from tests.policy.secrets.made_up import SURE, VALUES


@given(VALUES)
@example([["a"], "longer than that", {"x" * 100: ["y" * 9, [{"z": None}], 1]}])
@example({"": {"a": ["b" * 8]}, "n": 1})
@example("text")
@example(7)
def test_the_text_of_a_value_is_that_of_its_pieces(value: object) -> None:
    """By the pieces a place in the text is traced back to a string: the two must not differ by a byte."""
    assert text_of_value(value) == "\n".join(each.as_text for each in pieces(value)).encode(errors="replace")


@given(VALUES)
def test_a_text_that_is_passed_over_has_no_keyword_and_nothing_encoded(value: object) -> None:
    text = text_of_value(value)
    if not may_hold(text):
        assert not [*rules_for_text(text)]
        assert len([*layers(value)]) == 1


@pytest.mark.parametrize("word", sorted({word for rule in rules() for word in rule.words}))
def test_every_keyword_is_seen_whatever_its_case(word: str) -> None:
    for written in (word, word.upper(), word.title()):
        assert may_hold(f"é {written} é".encode())


@pytest.mark.parametrize("secret", SURE.values(), ids=SURE.keys())
def test_every_secret_is_seen_also_encoded(secret: str) -> None:
    assert may_hold(secret.encode())
    assert may_hold(base64.b64encode(secret.encode()))
    assert may_hold(quote(secret[:40], safe="").encode().replace(b"-", b"%2D").replace(b"_", b"%5F"))
