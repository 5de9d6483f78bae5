"""The one search that most texts are spared all others by: what it passes over holds nothing."""

import base64
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcpguard.codec.messages import dumps
from mcpguard.policy.secrets.detection import may_hold, may_hold_in_json, rules_for_text
from mcpguard.policy.secrets.layers import layers, pieces, text_of_value
from mcpguard.policy.secrets.masking import spellings, spellings_in_json
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


# Strings whose ends could make one of what is searched for together with what the text has around them.
EDGES = st.sampled_from(
    ["\\", 'n"', "_gitlab_session", "a=", "=", "%", "41", "\n", '"', "\x1f", "é", "\u017f", "k" * 23, "\\n"]
)
NEAR = st.recursive(
    st.lists(EDGES, max_size=4).map("".join) | VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.lists(EDGES, max_size=3).map("".join), inner),
    max_leaves=5,
)


@given(NEAR)
@example({"_gitlab_session": "x"})
@example({"a": "\\"})
@example(["\\"])
@example({"a": ["\\n"]})
def test_the_json_of_a_value_is_never_passed_over_where_its_text_is_not(value: object) -> None:
    if not may_hold_in_json(dumps(value)):
        assert not may_hold(text_of_value(value))


@given(NEAR, st.lists(st.lists(EDGES | st.text(max_size=3), min_size=1, max_size=3).map("".join), max_size=2))
@example({"abc": "x"}, ["abc="])
@example({"a": "b"}, ['a="b"'])
@example({"a": "\x1b\\"}, ["\x1b\\"])
def test_a_known_secret_in_a_text_is_in_the_json_too(value: object, secrets: list[str]) -> None:
    known, text, written = spellings(secrets), text_of_value(value), dumps(value)
    ways = spellings_in_json(known)
    if ways is not None and not any(way in written for way in ways):
        assert not any(way in text for way in known)


def test_the_keywords_are_written_in_json_as_they_are() -> None:
    for word in {word for rule in rules() for word in rule.words}:
        assert dumps(word) == f'"{word}"'.encode()
        assert "=" not in word.rstrip("=")
        assert word.rstrip("=")


@pytest.mark.parametrize("word", sorted({word for rule in rules() for word in rule.words}))
def test_every_keyword_is_seen_whatever_its_case(word: str) -> None:
    for written in (word, word.upper(), word.title()):
        assert may_hold(f"é {written} é".encode())


@pytest.mark.parametrize("secret", SURE.values(), ids=SURE.keys())
def test_every_secret_is_seen_also_encoded(secret: str) -> None:
    assert may_hold(secret.encode())
    assert may_hold(base64.b64encode(secret.encode()))
    assert may_hold(quote(secret[:40], safe="").encode().replace(b"-", b"%2D").replace(b"_", b"%5F"))
