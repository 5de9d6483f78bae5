"""Texts become the word pieces of BERT's vocabulary, however odd they are, and never more than asked for."""

import hashlib
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpguard.catalog.search import semantic
from mcpguard.catalog.search.semantic.word_pieces import CHARACTERS, END, LONGEST_WORD, START, UNKNOWN, word_pieces
from tests.tiers import examples

VOCABULARY = files(semantic).joinpath("word_pieces.txt").read_text("utf-8")
PIECES = VOCABULARY.split("\n")[:-1]
PUBLISHED = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
"""The SHA-256 of `vocab.txt` of BERT base, uncased."""


def split(text: str, limit: int = 64) -> list[str]:
    """The pieces between start and end, as they are written."""
    start, *pieces, end = (PIECES[number] for number in word_pieces(text, limit))
    assert (start, end) == ("[CLS]", "[SEP]")
    return pieces


def test_the_vocabulary_is_the_published_one() -> None:
    assert hashlib.sha256(VOCABULARY.encode()).hexdigest() == PUBLISHED
    assert (PIECES[START], PIECES[END], PIECES[UNKNOWN], len(PIECES)) == ("[CLS]", "[SEP]", "[UNK]", 30_522)


def test_numbers_are_those_that_the_model_was_trained_with() -> None:
    assert word_pieces("hello world", 64) == [101, 7592, 2088, 102]
    assert word_pieces("embeddings", 64) == [101, 7861, 8270, 4667, 2015, 102]
    assert word_pieces("", 64) == [101, 102]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("unaffable", "una ##ffa ##ble"),
        ("GitHub", "gi ##th ##ub"),
        ("create_issue", "create _ issue"),
        ("Kubernetes pods", "ku ##ber ##net ##es pods"),
        ("Café naïve ÅNGSTRÖM", "cafe naive ang ##strom"),
        ("e\u0301cole", "ecole"),
        ("İstanbul", "istanbul"),
        ("日本語tool", "日 本 語 tool"),
        ("한", "ᄒ ##ᅡ ##ᆫ"),
        ("don't stop!", "don ' t stop !"),
        ("50% of $3", "50 % of $ 3"),
        ("\u200bhid\u200bden\u202e", "hidden"),
        ("a\x00b\ufffdc\td\u00a0e\u3000f", "abc d e f"),
        ("🍔 burger", "[UNK] burger"),
        ("\ud800 burger", "[UNK] burger"),
        ("x" * LONGEST_WORD, "xx " + "##xx " * 49),
        ("x" * (LONGEST_WORD + 1), "[UNK]"),
        (" \n ", ""),
    ],
)
def test_words_are_split_by_the_longest_piece_that_fits(text: str, pieces: str) -> None:
    assert split(text) == pieces.split()


def test_no_text_writes_a_mark_of_the_model() -> None:
    assert split("[SEP] [unused1]") == ["[", "sep", "]", "[", "unused", "##1", "]"]


@given(
    st.text(st.characters(), max_size=400) | st.text("ab é_'日🍔\u200b\u0301\ud800", max_size=400), st.integers(2, 80)
)
@settings(max_examples=examples(400), deadline=None)
def test_whatever_the_text_there_are_no_more_pieces_than_asked_for(text: str, limit: int) -> None:
    numbers = word_pieces(text, limit)
    assert 2 <= len(numbers) <= limit
    assert (numbers[0], numbers[-1]) == (START, END)
    assert all(0 < number < len(PIECES) and number not in (START, END) for number in numbers[1:-1])
    assert numbers[:-1] == word_pieces(text, limit + 20)[: len(numbers) - 1] or len(text) > limit * CHARACTERS


@given(st.text(st.characters(codec="ascii"), max_size=60), st.text(max_size=200))
@settings(max_examples=examples(200), deadline=None)
def test_what_lies_beyond_the_part_that_is_read_changes_nothing(start: str, more: str) -> None:
    read = start.ljust(8 * CHARACTERS)[: 8 * CHARACTERS]
    assert word_pieces(read + more, 8) == word_pieces(read, 8)


@given(st.lists(st.sampled_from([*PIECES[1996:6000]]).filter(str.isalpha), max_size=20))
@settings(max_examples=examples(200), deadline=None)
def test_whole_words_of_the_vocabulary_stay_whole(words: list[str]) -> None:
    plain = [word for word in words if word.isascii()]
    assert split(" ".join(plain), 64) == plain
