"""Weights are learnt from labelled texts, and no source is judged by what was learnt from it. The texts are bait."""

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.inspection.resemblance.published_attacks import (
    SIZES,
    AttackWeights,
    read_weights,
)
from mcpguard.inspection.resemblance.word_classes import classed_words
from mcpguard.inspection.texts.texts import Text
from tests.benchmarks.detection.labelled import Labelled, read_labelled
from tests.benchmarks.detection.learn import as_text, main
from tests.benchmarks.detection.learning import Floats, learn, minimum, windows, windows_of
from tests.benchmarks.detection.left_out import left_out_scores

FILLER = " ".join(f"reed{number}" for number in range(60))


def one(text: str, source: str, *, attack: bool, kind: str = "text") -> Labelled:
    said = {"tool": {"name": "thing", "description": text}} if kind == "tool" else {kind: text}
    return Labelled(attack, "any", source, said)


def some(text: str, sources: Iterable[str], *, attack: bool, times: int = 3) -> list[Labelled]:
    """Texts that begin alike, so many of each source."""
    return [one(f"{text} number{time}", source, attack=attack) for source in sources for time in range(times)]


ATTACKS = some("feed the heron secretly", ["a.example", "b.example", "c.example"], attack=True)
FERNS = some("press the fern gently", [f"{letter}.example" for letter in "defghijk"], attack=False)


def score(weights: AttackWeights, text: str) -> float:
    return weights.most_alike(classed_words(Text("", text))).score


@given(st.integers(1, 12), st.integers(0, 10_000), st.floats(0.05, 20))
def test_the_least_of_a_convex_quadratic_is_found(size: int, seed: int, stretch: float) -> None:
    random = np.random.default_rng(seed)
    factor = random.normal(size=(size, size))
    matrix = factor @ factor.T * stretch + np.eye(size)
    there = random.normal(size=size) * 3

    def cost(at: Floats) -> tuple[float, Floats]:
        away = at - there
        return float(away @ matrix @ away / 2), matrix @ away

    found = minimum(cost, np.zeros(size))
    assert cost(found)[0] <= 1e-4
    assert found == pytest.approx(there, abs=0.02)


def test_who_is_at_the_least_already_stays_there() -> None:
    at = np.array([1.0, -2.0])
    assert minimum(lambda given: (float((given - at) @ (given - at)), 2 * (given - at)), at) == pytest.approx(at)


def test_words_of_attacks_weigh_for_one_and_words_of_honest_texts_against() -> None:
    weights = learn(windows_of([*ATTACKS, *FERNS]))
    phrases = weights.phrases()
    assert min(phrases[each] for each in ("feed", "heron", "secretly", "feed the", "the heron secretly")) > 0
    assert max(phrases[each] for each in ("press", "fern", "gently", "press the", "the fern gently")) < 0
    assert abs(phrases.get("the", 0)) < phrases["heron"], "both have it"
    assert "number1" not in phrases or abs(phrases["number1"]) < phrases["heron"]
    assert score(weights, "feed the heron") > score(weights, "a word") > weights.phrases()["fern"]
    assert score(weights, "feed the heron") > 0 > score(weights, "press the fern")


def test_a_phrase_of_too_few_texts_is_not_learnt() -> None:
    rare = some("a rare quokka", ["l.example"], attack=True, times=2)
    assert "quokka" not in windows_of([*ATTACKS, *FERNS, *rare]).phrases
    assert "heron" in windows_of([*ATTACKS, *FERNS, *rare]).phrases


def test_a_habit_of_few_sources_is_not_learnt() -> None:
    few = some("a rare quokka", ["l.example", "m.example"], attack=True, times=9)
    assert "quokka" not in windows_of([*ATTACKS, *FERNS, *few]).phrases
    more = some("a rare quokka", ["n.example"], attack=False, times=1)
    assert "quokka" in windows_of([*ATTACKS, *FERNS, *few, *more]).phrases


def test_of_a_long_attack_only_the_part_that_is_one_is_learnt() -> None:
    long = [one(f"{FILLER} {FILLER} {each.said['text']}", each.source, attack=True) for each in ATTACKS]
    plain = [one(f"{FILLER} {each.said['text']}", each.source, attack=False) for each in FERNS]
    weights = learn(windows_of([*long, *plain]))
    assert weights.phrases()["heron"] > 0.1
    assert max(weights.phrases().get(f"reed{number}", 0) for number in range(30)) < weights.phrases()["heron"] / 3
    assert score(weights, FILLER) < score(weights, "feed the heron secretly")


def test_a_source_that_repeats_itself_says_little_more() -> None:
    loud = some("paint the newt quickly", ["l.example", "m.example", "n.example"], attack=True, times=33)
    quiet = some("chase the toad slowly", [f"n{number}.example" for number in range(25)], attack=True, times=4)
    phrases = learn(windows_of([*ATTACKS, *FERNS, *loud, *quiet])).phrases()
    assert 0 < phrases["newt"] < phrases["toad"]


def test_no_source_is_scored_by_what_was_learnt_from_it() -> None:
    own = some("feed the quokka openly", ["q.example"], attack=True, times=6)
    honest = some("watch the quokka openly", ["x.example", "y.example"], attack=False)
    every = [*ATTACKS, *FERNS, *own, *honest]
    scores = left_out_scores(every)
    without = learn(windows_of(every).without(frozenset({"q.example"})))
    assert without.phrases()["quokka"] < learn(windows_of(every)).phrases()["quokka"]
    for each, found in zip(every, scores, strict=True):
        if each.source == "q.example":
            assert found[0] == pytest.approx(score(without, each.said["text"]))
            assert found[0] < score(learn(windows_of(every)), each.said["text"])


@pytest.mark.parametrize("kind", ["text", "tool", "snippet"])
def test_whatever_else_a_source_has_changes_nothing_of_its_scores(kind: str) -> None:
    judged = some("feed the heron past the quokka", ["q.example"], attack=True)
    more = [one(f"quokka quokka heron {number}", "q.example", attack=True, kind=kind) for number in range(5)]
    size = len(ATTACKS) + len(FERNS)
    alone = left_out_scores([*ATTACKS, *FERNS, *judged])
    beside = left_out_scores([*ATTACKS, *FERNS, *judged, *more])
    assert np.array(beside[size : size + len(judged)]) == pytest.approx(np.array(alone[size:]))
    assert [found == () for found in beside[size + len(judged) :]] == [kind == "snippet"] * len(more)


def test_honest_texts_are_scored_without_their_source_too() -> None:
    hostile = some("steal the quokka", ["x.example", "y.example"], attack=True)
    own = some("polish the quokka", ["z.example"], attack=False, times=6)
    every = [*ATTACKS, *FERNS, *hostile, *own]
    scores = left_out_scores(every)
    assert min(each[0] for each in scores[-6:]) > score(learn(windows_of(every)), "polish the quokka")


@given(
    st.lists(st.sampled_from(["heron", "fern", "a_b", "/x", ".", "Feed", "5", "THE", "the"]), max_size=150).map(
        " ".join
    )
)
def test_the_windows_that_are_learnt_from_are_those_that_are_scored(said: str) -> None:
    weights = AttackWeights({"heron": 1.0, "fern": -0.75, "heron fern": 0.5, "feed \u00b7path": 2.0}, -0.25, {})
    words = classed_words(Text("", said))
    sums = [sum(weights.phrases().get(phrase, 0) for phrase in window) for window in windows(words)]
    assert weights.most_alike(words).score == pytest.approx(max(-0.25, *(each - 0.25 for each in sums)))


@given(st.sets(st.sampled_from("abcdefghijk"), max_size=8))
def test_leaving_sources_out_leaves_the_windows_of_the_others(out: set[str]) -> None:
    texts = [*ATTACKS, *FERNS]
    sources = {f"{each}.example" for each in out}
    every, some_left = windows_of(texts), windows_of(texts).without(frozenset(sources))
    kept = [number for number, source in enumerate(every.sources) if source not in sources]
    rows = np.split(every.columns, every.starts[1:])
    left = np.split(some_left.columns, some_left.starts[1:])
    assert [each.tolist() for each in left] == [rows[number].tolist() for number in kept]
    assert some_left.sources == tuple(every.sources[number] for number in kept)
    assert some_left.attacks.tolist() == every.attacks[kept].tolist()


def test_what_is_written_is_read_back() -> None:
    texts = [*ATTACKS, *FERNS]
    weights, lines = learn(windows_of(texts)), {size: size / 8 for size in SIZES}
    written = as_text(weights, lines, texts)
    read = read_weights(written)
    assert (read.phrases(), read.lines) == (weights.phrases(), lines)
    assert read.bias == pytest.approx(weights.bias, abs=1e-4)
    assert "# learnt from: 9 attacks, 24 honest texts, 11 sources\n" in written
    assert "heron" not in written.partition("\n\n")[0], "the head says nothing of the texts"


def test_a_folder_of_labelled_texts_becomes_a_file_of_weights(tmp_path: Path) -> None:
    texts = [
        *(one(f"{each.said['text']} at {each.source}", each.source, attack=each.malicious) for each in ATTACKS + FERNS),
        *(one(f"press the fern gently {number}", "t.example", attack=False, kind="tool") for number in range(3)),
    ]
    lines = [
        {"label": "malicious" if each.malicious else "benign", "source": f"{each.source}@{at}", **each.said}
        for at, each in enumerate(texts)
    ]
    folder, out = tmp_path / "texts", tmp_path / "weights.txt"
    folder.mkdir()
    (folder / "some.jsonl").write_text("\n".join(map(json.dumps, [*lines, *lines, {"label": "benign"}, 5])) + "\n")
    read = list(read_labelled([folder]))
    assert len(read) == len(lines), "each once"
    assert [(each.source, each.malicious) for each in read] == [(each.source, each.malicious) for each in texts]
    main([folder], "definitions", out)
    weights = read_weights(out.read_text())
    assert weights.phrases()["heron"] > 0 > weights.phrases()["fern"]
    assert tuple(weights.lines) == SIZES


def test_what_is_learnt_further_keeps_what_was_known_and_is_pulled_towards_it() -> None:
    before = AttackWeights({"heron": 0.5, "quokka": 2.0}, -1.0, {})
    further, alone = learn(windows_of([*ATTACKS, *FERNS]), before), learn(windows_of([*ATTACKS, *FERNS]))
    assert further.phrases()["quokka"] == 2.0
    assert further.phrases()["heron"] > max(0.5, alone.phrases()["heron"])
    assert further.phrases()["fern"] < 0


def test_characters_of_scripts_without_blanks_keep_their_weights() -> None:
    hostile = some("feed the heron \u6587", ["a.example", "b.example", "c.example"], attack=True)
    before = AttackWeights({"\u6587": 0.25}, 0.0, {})
    further = learn(windows_of([*hostile, *FERNS]), before).phrases()
    assert {phrase: weight for phrase, weight in further.items() if max(phrase) >= "\u3040"} == {"\u6587": 0.25}
    assert further["heron"] > 0


def test_nothing_to_learn_changes_nothing() -> None:
    before = AttackWeights({"feed the": 0.0009, "heron": 0.75}, -0.5, {})
    texts = [*some("heron", "abc", attack=True), *some("heron", "abc", attack=False)]
    further = learn(windows_of(texts), before)
    assert set(further.phrases()) >= {"heron"}
    assert "feed the" not in further.phrases(), "what is next to nothing is left out"
