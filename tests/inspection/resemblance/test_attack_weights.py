"""How a text is scored by weights: compared with a naive sum, and for texts that are made to be work."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from types import FrameType
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcpguard.inspection import resemblance
from mcpguard.inspection.resemblance import published_attacks
from mcpguard.inspection.resemblance.published_attacks import (
    KINDS,
    LONGEST,
    LONGEST_SENTENCE,
    NARROW,
    SENTENCE,
    SIZES,
    WIDE,
    WINDOWS,
    AttackWeights,
    attack_weights,
    read_weights,
)
from mcpguard.inspection.resemblance.word_classes import ClassedWord
from tests.tiers import examples

FILE = files(resemblance).joinpath("reply_weights.txt").read_text("utf-8")
HEAD, _, BODY = FILE.partition("\n\n")
WORDS = st.sampled_from("abc")
PHRASES = st.lists(WORDS, min_size=1, max_size=LONGEST).map(" ".join)
WEIGHTS = st.dictionaries(PHRASES, st.floats(-2, 2), max_size=20)
MORE = st.floats(0, 2)
SAID = st.lists(st.tuples(WORDS | st.just("other"), st.booleans()), max_size=4 * WIDE).map(
    lambda pairs: [ClassedWord(word, at, at + 1, begins) for at, (word, begins) in enumerate(pairs)]
)


def said(*words: str) -> list[ClassedWord]:
    """Words of one sentence."""
    return [ClassedWord(word, at, at + 1, at == 0) for at, word in enumerate(words)]


def places(phrase: str, words: Sequence[ClassedWord]) -> list[int]:
    """Where the words of a phrase stand side by side in one sentence."""
    parts = phrase.split()
    return [
        at
        for at in range(len(words) - len(parts) + 1)
        if [each.word for each in words[at : at + len(parts)]] == parts
        and not any(each.begins for each in words[at + 1 : at + len(parts)])
    ]


def naive_windows(words: Sequence[ClassedWord], size: int) -> list[Sequence[ClassedWord]]:
    if size != SENTENCE:
        return [words[start : start + size] for start in range(0, max(len(words) - size // 2, 1), size // 2)]
    sentences: list[list[ClassedWord]] = []
    for each in words:
        if each.begins or not sentences:
            sentences.append([])
        sentences[-1].append(each)
    return [each for each in sentences if len(each) <= LONGEST_SENTENCE]


def naive_score(weights: Mapping[str, float], bias: float, words: Sequence[ClassedWord], size: int) -> float:
    best = bias
    for window in naive_windows(words, size):
        best = max(best, bias + sum(weight for phrase, weight in weights.items() if places(phrase, window)))
    return best


@settings(max_examples=examples(400))
@given(WEIGHTS, st.floats(-3, 3), SAID, st.sampled_from((*WINDOWS, SENTENCE)))
@example({"a": 1.0, "a b": -0.5, "a b c": 2.0}, 0.0, said(*"abcabc"), NARROW)
@example({"a": 1.0}, -1.0, said(*["b"] * WIDE, "a"), WIDE)
@example({"b c": 1.0}, 0.0, said(*["a"] * (NARROW - 1), "b", "c"), NARROW)
@example({"a": 1.0, "b": 1.0}, 0.0, [*said("a"), *said("b")], SENTENCE)
@example({"a": 1.0, "b": -1.0}, 0.0, [*said("b", "a"), *said("a")], SENTENCE)
@example({"a": 1.0}, 0.0, said(*["b"] * LONGEST_SENTENCE, "a"), SENTENCE)
def test_the_score_is_the_sum_over_the_different_phrases_of_the_best_window(
    weights: dict[str, float], bias: float, words: list[ClassedWord], size: int
) -> None:
    most = AttackWeights(weights, bias, {}).most_alike(words, size)
    assert most.size == size
    assert most.score == pytest.approx(naive_score(weights, bias, words, size))


@settings(max_examples=examples(300))
@given(WEIGHTS, st.lists(st.floats(-3, 3), min_size=3, max_size=3), SAID, MORE, MORE)
@example({"a": 1.0}, [1.0, 9.0, 9.0], said("a"), 0.0, 0.0)
@example({"a": 1.0, "b": 1.0}, [9.0, 2.0, 9.0], said("a", *["other"] * NARROW, "b"), 0.0, 0.0)
@example({"a": 1.0, "b": 1.0}, [1.0, 1.0, 1.0], [*said("a"), *said("b")], 0.0, 1.5)
def test_a_text_is_reported_if_a_window_of_some_size_reaches_the_line_of_that_size(
    weights: dict[str, float], lines: list[float], words: list[ClassedWord], more: float, more_of_several: float
) -> None:
    known = AttackWeights(weights, 0.0, dict(zip(SIZES, lines, strict=True)))
    beyond: dict[int, float] = {}
    for size in SIZES:
        if (most := known.most_alike(words, size)).phrases and (size != WIDE or len(words) > NARROW):
            beyond[size] = most.score - known.lines[size] - more - (more_of_several if size else 0.0)
    alike = known.alike(words, more, more_of_several)
    if alike is None:
        assert all(each < 0 for each in beyond.values())
    else:
        assert alike.beyond == beyond[alike.size] == max(beyond.values()) >= 0
        assert replace(alike, beyond=0.0) == known.most_alike(words, alike.size)


@settings(max_examples=examples(400))
@given(WEIGHTS, SAID, st.sampled_from(WINDOWS))
@example({"b c": 1.0, "a": 0.5}, said("a", *["other"] * (WIDE - 2), "b", "c", *["other"] * (WIDE // 2 - 2), "x"), WIDE)
@example({"a": 1.0, "b": -1.0, "c": 0.5}, said(*"aaabbc"), NARROW)
def test_what_is_marked_are_different_phrases_that_spoke_for_an_attack(
    weights: dict[str, float], words: list[ClassedWord], size: int
) -> None:
    alike = AttackWeights(weights, 0.0, {}).most_alike(words, size)
    marked = [" ".join(each.word for each in words[start:end]) for start, end in alike.phrases]
    assert len(set(marked)) == len(marked) <= 3
    assert all(start in places(phrase, words) for phrase, (start, _) in zip(marked, alike.phrases, strict=True))
    assert all(weights[phrase] > 0 for phrase in marked)
    assert bool(marked) is (alike.score > 0)
    if marked:
        assert max(end for _, end in alike.phrases) - alike.phrases[0][0] <= size
    if marked and len(words) <= size:
        speaking = sorted(weight for phrase, weight in weights.items() if weight > 0 and places(phrase, words))
        assert sorted(weights[phrase] for phrase in marked) == speaking[-3:]


@pytest.mark.parametrize("size", WINDOWS)
@pytest.mark.parametrize("length", [1, NARROW - 1, NARROW, WIDE - 1, WIDE, WIDE + 1, 2 * WIDE, 3 * WIDE + 7])
def test_a_phrase_counts_wherever_it_stands(length: int, size: int) -> None:
    weights = AttackWeights({"one two three": 1.0}, 0.0, {})
    for at in range(length):
        words = [*["filler"] * at, "one", "two", "three", *["filler"] * (length - at)]
        alike = weights.most_alike(said(*words), size)
        assert (alike.score, alike.phrases) == (1.0, ((at, at + 3),)), at


def test_a_phrase_that_is_repeated_counts_once() -> None:
    weights = AttackWeights({"one": 1.0, "one one": 0.25}, 0.0, {})
    assert weights.most_alike(said(*["one"] * 500)).score == 1.25


def test_a_phrase_does_not_reach_into_the_next_sentence() -> None:
    weights = AttackWeights({"one two": 1.0}, 0.0, {})
    assert weights.most_alike(said("one", "two")).score == 1
    assert weights.most_alike([*said("one"), *said("two")]).score == 0


def test_a_text_scores_no_less_than_one_without_any_phrase() -> None:
    weights = AttackWeights({"honest": -5.0}, -0.25, {})
    assert weights.most_alike(said("honest")).score == weights.most_alike([]).score == -0.25


def steps(weights: AttackWeights, words: Sequence[ClassedWord]) -> int:
    """How many lines of the module are run in order to score a text."""
    count = 0

    def count_line(_frame: FrameType, event: str, _argument: Any) -> Any:  # noqa: ANN401 - as Python calls it
        nonlocal count
        count += event == "line"
        return count_line

    def enter(frame: FrameType, _event: str, _argument: Any) -> Any:  # noqa: ANN401 - as Python calls it
        return count_line if frame.f_code.co_filename == published_attacks.__file__ else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        weights.alike(words)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "words",
    [["a"], ["a", "b"], ["a", "b", "c"], ["other"], ["a", "other"], ["b", "b", "a"]],
    ids=" ".join,
)
def test_twice_as_many_words_are_at_most_twice_the_work(words: list[str]) -> None:
    every = {
        " ".join(phrase): 0.5 for phrase in [["a"], ["a", "a"], ["a", "a", "a"], ["a", "b"], ["a", "b", "c"], ["b"]]
    }
    weights = AttackWeights(every, 0.0, dict.fromkeys((*WINDOWS, SENTENCE), 1e9))
    some = said(*(words * WIDE * 4)[: WIDE * 4])
    once, twice = steps(weights, some), steps(weights, [*some, *some])
    assert 0 < once < twice < 2.2 * once


@pytest.mark.parametrize("kind", KINDS)
def test_the_delivered_weights_are_whole(kind: str) -> None:
    weights = attack_weights(kind)
    assert len(weights.phrases()) > 1000
    assert tuple(weights.lines) == SIZES
    assert all(weights.bias < line for line in weights.lines.values()), "a text that says nothing resembles no attack"
    assert all(1 <= len(phrase.split()) <= LONGEST for phrase in weights.phrases())
    assert weights.word_weight("ignore") == weights.phrases()["ignore"]
    word = max((phrase for phrase in weights.phrases() if " " not in phrase), key=weights.phrases().__getitem__)
    assert weights.word_weight(word) == weights.phrases()[word] > 0
    assert weights.word_weight("no such word as this") == 0


@pytest.mark.parametrize(
    "changed",
    [
        FILE + "9.000 heron\n",
        f"{HEAD}\n\n" + BODY.replace("0.", "1.", 1),
        FILE[: len(FILE) // 2],
        FILE.removesuffix("\n"),
        f"{HEAD}\n\n",
        HEAD,
        FILE[: len(HEAD) // 2],
        "\n".join(line for line in FILE.splitlines() if not line.startswith("# digest")),
        "",
    ],
    ids=range(9),
)
def test_a_file_of_weights_that_was_changed_or_cut_is_refused(changed: str) -> None:
    assert read_weights(FILE).phrases() == attack_weights(KINDS[1]).phrases()
    with pytest.raises(ValueError, match="changed after they were made"):
        read_weights(changed)
