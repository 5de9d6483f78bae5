"""How two strings differ, word by word."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from mcpguard.inspection.diff.alignment import Effort
from mcpguard.inspection.diff.changed_words import Fate, WordDiff, compare_words
from mcpguard.text.visible import hides

HIDDEN = "\x1b\r\u200b\u202e\ufe0f\U000e0041"
MARKS = {Fate.KEPT: ("", ""), Fate.REMOVED: ("[-", "-]"), Fate.ADDED: ("{+", "+}")}
anything = st.text(st.characters(codec=None), max_size=60)
pieces = ["the", "a", "file", " ", " ", "\n", ". ", "!", "e\u0301", "👩\u200d💻", "\ud800", *HIDDEN]
sentences = st.lists(st.sampled_from(pieces), max_size=40).map("".join)
texts = anything | sentences


def joined(words: WordDiff, without: Fate) -> str:
    return "".join(span.text for span in words.spans if span.fate is not without)


def told(old: str, new: str) -> str:
    return "".join(MARKS[fate][0] + text + MARKS[fate][1] for fate, text in compare_words(old, new).spans)


@settings(deadline=None)
@given(texts, texts)
def test_both_strings_can_be_put_together_again(old: str, new: str) -> None:
    words = compare_words(old, new)
    assert joined(words, Fate.ADDED) == old
    assert joined(words, Fate.REMOVED) == new
    assert all(span.text for span in words.spans)
    assert not words.coarse


@settings(deadline=None)
@given(sentences, sentences, st.integers(0, 200))
def test_both_strings_can_be_put_together_however_little_effort_is_made(old: str, new: str, effort: int) -> None:
    words = compare_words(old, new, Effort(effort))
    assert joined(words, Fate.ADDED) == old
    assert joined(words, Fate.REMOVED) == new


@settings(deadline=None)
@given(texts)
def test_equal_strings_are_kept(text: str) -> None:
    assert [span.fate for span in compare_words(text, text).spans] == [Fate.KEPT] * bool(text)


@settings(deadline=None)
@given(texts, texts)
def test_neighbours_differ_in_what_became_of_them(old: str, new: str) -> None:
    fates = [span.fate for span in compare_words(old, new).spans]
    assert all(one is not other for one, other in pairwise(fates))
    assert all(one is not Fate.ADDED or other is Fate.KEPT for one, other in pairwise(fates))


@settings(deadline=None)
@given(sentences, st.sampled_from(HIDDEN), st.integers(0, 200))
def test_a_hidden_character_that_was_put_in_is_all_that_is_added(text: str, hidden: str, at: int) -> None:
    spans = compare_words(text, text[:at] + hidden + text[at:]).spans
    assert [span.text for span in spans if span.fate is not Fate.KEPT] == [hidden]


def test_a_sentence_that_was_put_in_is_added_as_a_sentence() -> None:
    old = "Reads a file. Returns its text."
    assert told(old, "Reads a file. Reads your keys first. Returns its text.") == (
        "Reads a file. {+Reads your keys first. +}Returns its text."
    )
    assert told("Use A.", "Use B. Use A.") == "{+Use B. +}Use A."
    assert told("one\ntwo\n", "one\nand\ntwo\n") == "one\n{+and\n+}two\n"


def test_words_are_replaced_whole_and_phrases_as_phrases() -> None:
    assert told("It reads files.", "It is ready.") == "It [-reads files-]{+is ready+}."
    assert told("Get the user of a repository", "List all users of a repository") == (
        "[-Get the user-]{+List all users+} of a repository"
    )
    assert told("un cafe\u0301 noir", "un cafe noir") == "un [-cafe\u0301-]{+cafe+} noir"


def test_homoglyphs_are_other_letters() -> None:
    assert told("a paypal link", "a p\u0430ypal link") == "a [-paypal-]{+p\u0430ypal+} link"


def test_hidden_characters_stand_alone() -> None:
    assert told("delete it", "de\u200blete it") == "de{+\u200b+}lete it"
    assert told("delete it", "delete\ufe0f it") == "delete{+\ufe0f+} it"
    assert told("delete it", "del\ufe0fete it") == "del{+\ufe0f+}ete it"
    assert told("de\u200blete \u202eit", "de\u200clete it") == "de[-\u200b-]{+\u200c+}lete [-\u202e-]it"
    spans = compare_words("delete it", "remo\u200bve it").spans
    assert any(hides(char) for fate, text in spans if fate is Fate.ADDED for char in text)


def test_what_was_kept_and_hidden_stays_kept_between_replaced_words() -> None:
    assert told("all old \u200b words here", "many new \u200b terms there").count("\u200b") == 1


def test_a_long_text_is_compared_by_sentences_and_then_by_words() -> None:
    lines = [f"Line {number} says this and that." for number in range(8000)]
    changed = [*lines[:4000], lines[4000].replace("this", "nothing"), *lines[4001:7000], *lines[7001:]]
    assert [
        span for span in compare_words("\n".join(lines), "\n".join(changed)).spans if span.fate is not Fate.KEPT
    ] == [
        (Fate.REMOVED, "this"),
        (Fate.ADDED, "nothing"),
        (Fate.REMOVED, "Line 7000 says this and that.\n"),
    ]


def test_what_costs_too_much_is_one_replaced_block_and_says_so() -> None:
    old, new = ("".join(f" {word}{number % 700}" for number in range(20_000)) for word in "ab")
    words = compare_words("Start" + old + " end", "Start" + new + " end", Effort(1000))
    assert words.coarse
    assert [span.fate for span in words.spans] == [Fate.KEPT, Fate.REMOVED, Fate.ADDED, Fate.KEPT]
    assert words.spans[0].text.startswith("Start")
    assert words.spans[-1].text.endswith("end")
