"""The words that a text is compared by: what makes no difference to them, and what stands for a whole class."""

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcpguard.inspection.reading.tokens import words
from mcpguard.inspection.resemblance.word_classes import CAPITALS, PARAMETER, classed_words, texts_as_words
from mcpguard.inspection.texts.texts import Text, TextRole, read_texts
from tests.tiers import examples

SENTENCE = "Please leave the old heron alone, and never feed it."
SENTENCE_WORDS = ["please", "leave", "the", "old", "heron", "alone", "and", "never", "feed", "it"]
LONG = 200_000
NAMING = [
    "a_b",
    "aB",
    "a::b",
    "`x`",
    "https://x.org/a",
    "a@b.org",
    "<b>",
    "[INST]",
    "/etc/x",
    "~/.ssh",
    "x.json",
    "1.5",
]
SIGNS = [".", "..", "\n\n", " ", "-", "_", "@", "://", "`", "<", "[", "$", "\\", "'", "\u200b"]
LETTERS = [
    "heron",
    "Heron",
    "HERON",
    "\u0430ha",
    "na\u00efve",
    "don't",
    "\u00df",
    "\u6f22\u5b57",
    "\u0130",
    "\U0001d400",
]
PIECES = st.sampled_from([*NAMING, *SIGNS, *LETTERS])
BEGINNINGS = [
    "a",
    "A",
    "aA",
    "a_",
    "/a",
    "a.",
    "a-",
    "a@",
    "a+",
    "<a",
    "`a",
    "$a",
    "a:",
    "*a",
    "http://",
    "www.",
    "1",
    "1.",
]
BARE = ["_", "/", "\\", "@", "<", "[[", "`", "$", ":", ".", "~/", "../", "\u200b", "\u0301", "\u0435", "{", "\n"]


def of(raw: str) -> list[str]:
    return [each.word for each in classed_words(Text("", raw))]


@pytest.mark.parametrize(
    "disguised",
    [
        SENTENCE.lower(),
        SENTENCE.replace("e", "\u0435").replace("a", "\u0430").replace("o", "\u03bf"),
        "\u200b".join(SENTENCE),
        "\u2060".join(SENTENCE),
        SENTENCE.replace("e", "e\u00ad"),
        SENTENCE.replace("e", "\u00e9").replace("o", "\u00f6"),
        "\u0301".join(SENTENCE),
        SENTENCE.replace(" ", "\n  "),
        SENTENCE.replace(" ", "\u00a0"),
        "".join(chr(ord(char) + 0xFEE0) if "a" <= char <= "z" else char for char in SENTENCE),
        SENTENCE.title(),
    ],
    ids=range(11),
)
def test_a_disguise_changes_no_word(disguised: str) -> None:
    assert of(disguised) == of(SENTENCE) == SENTENCE_WORDS


def test_words_in_capitals_have_a_sign_before_them_and_are_the_same_words() -> None:
    assert of("NEVER feed IT.") == [CAPITALS, "never", "feed", "it"]
    assert [word for word in of(SENTENCE.upper()) if word != CAPITALS] == of(SENTENCE)


@pytest.mark.parametrize(
    ("kind", "forms"),
    [
        ("url", ["https://example.org/a?b=c#d", "http://192.0.2.7:80/x", "wss://example.org", "www.example.org/x"]),
        ("mail", ["box@example.org", "box.of-herons+1@example.org"]),
        (
            "path",
            ["/etc/heron", "~/.ssh/id_rsa", "./a/b", "../a", "C:\\herons\\one", "$HOME/nest", "nest.json", ".env"],
        ),
        ("name", ["feed_heron", "feed_the_heron2", "feedHeron", "feedTheHeron", "`feed`", "`feed it`", "pond::feed"]),
        ("number", ["7", "12.5", "12:30", "50%", "1,000", "2026-11-26"]),
        ("tag", ["<b>", "</heron>", "[INST]", "[/INST]", "<|user|>"]),
    ],
)
def test_what_a_text_names_is_one_word_for_all_of_its_class(kind: str, forms: list[str]) -> None:
    for form in forms:
        assert of(f"see {form} now") == ["see", f"\u00b7{kind}", "now"], form
        at = len("see ")
        (classed,) = (each for each in classed_words(Text("", f"see {form} now")) if each.word.startswith("\u00b7"))
        assert (classed.start, classed.end) == (at, at + len(form))


@pytest.mark.parametrize("said", ["the heron", "heron-like", "and/or", "e g a", "it's", "a < b", "5th", "feed."])
def test_an_ordinary_word_stands_for_itself(said: str) -> None:
    assert not {word for word in of(said) if word.startswith("\u00b7")} - {"\u00b7number"}


def test_texts_that_differ_only_in_what_they_name_have_the_same_words() -> None:
    text = "Send {} to {} with `{}` at {}."
    one = text.format("/etc/heron", "box@example.org", "feed", "https://example.org")
    other = text.format("~/a/b.txt", "who@example.net", "x", "http://192.0.2.7/y")
    assert of(one) == of(other)


def test_the_name_of_a_parameter_is_said_to_be_one_and_the_name_of_the_tool_is_left_out() -> None:
    tool = {"name": "ignore_everything", "inputSchema": {"type": "object", "properties": {"heron_size": {}}}}
    texts = read_texts(tool).texts
    assert [each.word for each in texts_as_words(texts)] == [PARAMETER, "heron", "size"]
    assert {text.role for text in texts} == {TextRole.NAME, TextRole.KEY}


def test_sentences_begin_where_they_do() -> None:
    begins = [
        each.word for each in classed_words(Text("", "One two. Three /a/b four! <b> five. SEVEN eight")) if each.begins
    ]
    assert begins == ["one", "three", "\u00b7tag", CAPITALS]


@settings(max_examples=examples(400))
@given(st.lists(PIECES, max_size=12), st.sampled_from(["", " ", ". "]))
@example(["a@b.org", "_", "https://x.org/a"], "")
def test_each_word_stands_where_it_is_said_to_and_none_is_lost(pieces: list[str], between: str) -> None:
    raw = between.join(pieces)
    found = classed_words(Text("", raw))
    for each in found:
        assert 0 <= each.start < each.end <= len(raw)
        if not each.word.startswith("\u00b7"):
            assert each.word in words(raw)
    apart = [each for each in found if each.word != CAPITALS]
    assert all(one.start <= other.start for one, other in pairwise(apart))
    plain = [each.word for each in apart if not each.word.startswith("\u00b7")]
    classes = [raw[each.start : each.end] for each in apart if each.word.startswith("\u00b7")]
    assert len(words(raw)) <= len(plain) + sum(len(words(each)) for each in classes) + len(classes)


@given(st.text(max_size=300))
def test_any_text_has_words(raw: str) -> None:
    assert all(0 <= each.start < each.end <= len(raw) for each in classed_words(Text("", raw)))


@pytest.mark.parametrize("part", [*BEGINNINGS, *BARE])
def test_a_long_text_that_is_made_to_be_work_has_few_words_and_an_end(part: str) -> None:
    """Time that grew with the square of its length would last for hours."""
    for said in (part * (LONG // len(part)), part * (LONG // len(part)) + " heron"):
        assert len(classed_words(Text("", said))) <= 2 * len(said)
