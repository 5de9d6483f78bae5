"""The model says what another implementation of it says, and no other file is taken for it."""

import math
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpguard.catalog.search.semantic import model_weights
from mcpguard.catalog.search.semantic.model_weights import ModelRefused, model_file, read_weights
from mcpguard.catalog.search.semantic.sentence_model import SentenceModel
from tests.catalog.search.semantic.meanings import model
from tests.tiers import examples

COMPUTED_ELSEWHERE = {
    "": (-0.12735, 0.04087, -0.00143, -0.01599, 0.04277, -0.01262),
    "create an issue": (-0.03454, 0.05918, -0.05014, 0.03258, 0.05084, 0.07356),
    "日本語 café 🍔": (-0.00895, 0.01628, 0.07707, -0.01868, -0.06894, -0.09873),
    "open a ticket for a bug " * 20: (-0.0333, 0.00705, -0.05955, -0.02067, -0.00017, 0.06468),
}
"""The first four and the last two numbers of vectors, by onnxruntime 1.32 and tokenizers 0.23 from the same file."""


@pytest.mark.parametrize("text", COMPUTED_ELSEWHERE)
def test_vectors_are_those_of_another_implementation(text: str) -> None:
    vector = model().vector(text)
    assert vector.shape == (384,)
    assert [*vector[:4], *vector[-2:]] == pytest.approx(COMPUTED_ELSEWHERE[text], abs=2e-5)


def test_what_means_nearly_the_same_is_nearer_than_what_does_not() -> None:
    asked, same, other = map(model().vector, ("remove a file", "delete document", "weather forecast"))
    assert float(asked @ same) == pytest.approx(0.63856, abs=1e-4)
    assert float(asked @ other) < 0.2


@given(st.text(st.characters(), max_size=3000))
@settings(max_examples=examples(60), deadline=None)
def test_every_text_has_a_direction(text: str) -> None:
    vector = model().vector(text)
    assert math.isclose(float(vector @ vector), 1, rel_tol=1e-5)
    assert np.array_equal(vector, model().vector(text))


@pytest.mark.parametrize(
    "text", ["a" * 1_000_000, "a b " * 250_000, "日" * 1_000_000, "\ufdfa" * 100_000, "\u0301" * 10**6]
)
def test_of_a_huge_text_the_beginning_counts(text: str) -> None:
    assert np.array_equal(model().vector(text), model().vector(text[:5000]))


def test_another_file_in_the_place_of_the_model_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "model.onnx"
    shutil.copy(model_file(), other)
    assert read_weights(other).keys() == read_weights(model_file()).keys()
    with other.open("r+b") as file:
        file.seek(20_000_000)
        file.write(b"\x7f")
    with pytest.raises(ModelRefused, match="is another one than was measured"):
        SentenceModel.from_file(other)
    other.write_bytes(b"")
    with pytest.raises(ModelRefused, match="is another one"):
        SentenceModel.from_file(other)
    other.unlink()
    with pytest.raises(ModelRefused, match="cannot be read: No such file"):
        SentenceModel.from_file(other)


def test_a_model_that_is_not_installed_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_weights, "PACKAGE", "no_such_model")
    with pytest.raises(ModelRefused, match="the package no-such-model is not installed"):
        SentenceModel.from_file()
