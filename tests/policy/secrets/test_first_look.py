"""The one search that most texts are spared all others by: what it passes over holds nothing."""

import base64
import math
import re
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcpguard.codec.messages import dumps
from mcpguard.policy.secrets.detection import may_hold, may_hold_in_json
from mcpguard.policy.secrets.layers import layers, pieces, text_of_value
from mcpguard.policy.secrets.masking import spellings, spellings_in_json
from mcpguard.policy.secrets.rules import SecretRule, rules
from tests.policy.secrets.made_up import SURE, VALUES


@given(VALUES)
@example([["a"], "longer than that", {"x" * 100: ["y" * 9, [{"z": None}], 1]}])
@example({"": {"a": ["b" * 8]}, "n": 1})
@example("text")
@example(7)
def test_the_text_of_a_value_is_that_of_its_pieces(value: object) -> None:
    """By the pieces a place in the text is traced back to a string: the two must not differ by a byte."""
    assert text_of_value(value) == "\n".join(each.as_text for each in pieces(value)).encode(errors="replace")


DIGITS = "0123456789abcdef"
TRACES = st.tuples(st.text(DIGITS, min_size=32, max_size=32), st.text(DIGITS, min_size=16, max_size=16))
IDS = (
    st.text(DIGITS, min_size=24, max_size=128)
    | st.uuids().map(str)
    | TRACES.map(lambda both: f"00-{both[0]}-{both[1]}-01")
)


@given(VALUES | st.lists(IDS | st.text(max_size=3) | VALUES, max_size=5))
def test_a_text_that_is_passed_over_has_no_keyword_in_any_of_its_layers(value: object) -> None:
    text = text_of_value(value)
    if not may_hold(text):
        assert not [rule for layer in layers(value) for rule in rules() if rule.finds(layer.text)]


@given(st.lists(IDS, max_size=9))
@example(["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"])
@example(["0198c0de-0000-7000-8000-00000000abcd", "da39a3ee5e6b4b0d3255bfef95601890afd80709"])
def test_ids_alone_are_passed_over(ids: list[str]) -> None:
    if not any(word in each for each in ids for word in HEX_WORDS):
        assert not may_hold(text_of_value(ids))
        assert not may_hold_in_json(dumps(ids))


WORDS = sorted({word for rule in rules() for word in rule.words})
HEX_WORDS = [word for word in WORDS if set(word) <= set("0123456789abcdef-")]
SIX_BITS = {
    letter: number for number, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
} | {"-": 62, "_": 63}


def decoded_from(letters: list[str]) -> list[set[int]]:
    """Which bytes base64 can decode to that repeats these sets of letters, from its first letter on."""
    places = math.lcm(len(letters), 4)
    bits = [{SIX_BITS[letter] for letter in letters[place % len(letters)]} for place in range(places)]
    found: list[set[int]] = []
    for one, two, three, four in zip(bits[::4], bits[1::4], bits[2::4], bits[3::4], strict=True):
        found.append({(a << 2 | b >> 4) & 255 for a in one for b in two})
        found.append({(b << 4 | c >> 2) & 255 for b in two for c in three})
        found.append({(c << 6 | d) & 255 for c in three for d in four})
    return found


def test_what_hexadecimal_digits_decode_to_is_no_secret() -> None:
    """Of all keywords two could be spelled, of which one needs a capital, and the other is followed by a UUID."""
    of_digits = decoded_from(["0123456789abcdef-"])
    spelled = {
        word
        for word in WORDS
        for start in range(3)
        if all({ord(letter), ord(letter.upper())} & of_digits[(start + n) % 3] for n, letter in enumerate(word))
    }
    assert spelled == {"q~", "snyk"}
    assert not {ord("Q"), ord("-")} & set[int]().union(*of_digits)
    # Decoded once more, at least one byte of nine is none that a text has.
    letters = ["".join(letter for letter in SIX_BITS if ord(letter) in each) for each in of_digits]
    for start in range(3):
        again = decoded_from(letters[start:] + letters[:start])
        assert len(again) == 9
        assert any(not any(32 <= byte < 127 for byte in each) for each in again)


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


IN_PLAIN_WORDS = {"ey", "s.", "sk"}


@pytest.mark.parametrize("word", sorted(set(WORDS) - IN_PLAIN_WORDS))
def test_every_keyword_is_seen_whatever_its_case(word: str) -> None:
    for written in (word, word.upper(), word.title()):
        assert may_hold(f"é {written} é".encode())


def test_plain_sentences_are_passed_over() -> None:
    """Three keywords are too short to be looked for alone."""
    said = "They asked for the key of the desk. See tasks.md."
    assert {word for word in WORDS if word in said.lower()} >= IN_PLAIN_WORDS
    assert not may_hold(said.encode())
    assert not may_hold_in_json(dumps(said))


@pytest.mark.parametrize(
    "rule", [rule for rule in rules() if {"ey", "s.", "sk"} & {*rule.words}], ids=lambda rule: rule.id
)
@given(data=st.data())
def test_what_their_rules_find_is_seen(rule: SecretRule, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(re.compile(_for_python(rule.pattern)), fullmatch=True)).encode(errors="replace")
    if rule.finds(text):
        assert may_hold(text)
        assert may_hold_in_json(dumps(text.decode(errors="replace")))


def _for_python(pattern: str) -> str:
    """The same pattern for `re`, in ASCII."""
    return "(?a)" + pattern.replace("[^0-9A-Za-z_-]", "[ \n]")


@pytest.mark.parametrize("secret", SURE.values(), ids=SURE.keys())
def test_every_secret_is_seen_also_encoded(secret: str) -> None:
    assert may_hold(secret.encode())
    assert may_hold(base64.b64encode(secret.encode()))
    assert may_hold(quote(secret[:40], safe="").encode().replace(b"-", b"%2D").replace(b"_", b"%5F"))
