"""Computes what a text means, as a vector: texts that mean nearly the same have vectors in nearly the same direction.

The model is all-MiniLM-L6-v2 (Apache-2.0): six layers of attention over at most `MOST_PIECES` word pieces, whose mean
is the meaning of the text. It is computed with NumPy from the weights of an installed package; nothing is fetched.

Rules kept here:
1. A vector depends on its text only, whatever else is computed at the same time; any thread may compute one.
2. However long a text is, only a bounded part of it is read.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import numpy as np

from mcpguard.catalog.search.semantic.model_weights import Array, Tensor, model_file, read_weights
from mcpguard.catalog.search.semantic.word_pieces import word_pieces

MOST_PIECES: Final = 64
_LAYERS: Final = 6
_HEADS: Final = 12
_MAPS: Final = 6
"""Linear maps of a layer; the file numbers them in the order in which they are used."""
_TINY, _HALF, _ONE = np.float32(1e-12), np.float32(0.5), np.float32(1)
_ROOT_OF_HALF: Final = np.float32(math.sqrt(0.5))
_ERF_SCALE: Final = np.float32(0.3275911)
_ERF_FACTORS: Final = np.array([1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592], np.float32)


@dataclass(frozen=True, slots=True)
class _Linear:
    weight: Array
    bias: Array

    def __call__(self, values: Array) -> Array:
        mapped: Array = values @ self.weight + self.bias
        return mapped


@dataclass(frozen=True, slots=True)
class _Norm:
    weight: Array
    bias: Array

    def __call__(self, values: Array) -> Array:
        centred = values - values.mean(-1, keepdims=True)
        spread: Array = np.sqrt(np.mean(centred * centred, -1, keepdims=True) + _TINY)
        normal: Array = centred / spread * self.weight + self.bias
        return normal


@dataclass(frozen=True, slots=True)
class _Layer:
    """One layer: attention, in which each piece takes from the others, and then two maps of each piece alone."""

    attending: _Linear
    attended: _Linear
    after_attention: _Norm
    widening: _Linear
    narrowing: _Linear
    at_end: _Norm

    def __call__(self, values: Array) -> Array:
        values = self.after_attention(values + self.attended(_attention(self.attending(values))))
        return self.at_end(values + self.narrowing(_gelu(self.widening(values))))


class SentenceModel:
    """The model, ready to be asked."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        words = "inner.embeddings.word_embeddings.weight"
        self._words, self._scales = tensors[f"{words}_q"].small_integers(), tensors[f"{words}_scale"].floats()
        places = _dequantized(tensors, "inner.embeddings.position_embeddings.weight")[:MOST_PIECES]
        self._places = places + tensors["inner.embeddings.token_type_embeddings.weight"].floats()[0]
        self._first = _norm(tensors, "inner.embeddings.LayerNorm")
        numbers = sorted(int(name.split("_")[1]) for name in tensors if name.startswith("val_") and name.endswith("_q"))
        maps = [f"val_{number}" for number in numbers]
        self._layers = [_layer(tensors, at, maps[at * _MAPS : (at + 1) * _MAPS]) for at in range(_LAYERS)]

    @classmethod
    def from_file(cls, path: Path | None = None) -> Self:
        """Read the installed model. Raises ModelRefused."""
        return cls(read_weights(path or model_file()))

    def vector(self, text: str) -> Array:
        """Return the meaning of a text, as a vector of length 1."""
        pieces = word_pieces(text, MOST_PIECES)
        values: Array = self._first(self._words[pieces] * self._scales[pieces] + self._places[: len(pieces)])
        for layer in self._layers:
            values = layer(values)
        mean: Array = values.mean(0)
        return mean / np.float32(math.sqrt(mean @ mean))


def _attention(values: Array) -> Array:
    """Return what each piece takes from all of them; `values` has the queries, keys and contents side by side."""
    pieces = len(values)
    queries, keys, contents = values.reshape(pieces, 3, _HEADS, -1).transpose(1, 2, 0, 3)
    likeness = queries @ keys.transpose(0, 2, 1) / np.float32(math.sqrt(queries.shape[-1]))
    shares = np.exp(likeness - likeness.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    taken: Array = (shares @ contents).transpose(1, 0, 2).reshape(pieces, -1)
    return taken


def _gelu(values: Array) -> Array:
    """Return the GELU of each value. The error function is that of Abramowitz and Stegun 7.1.26, exact to 1.5e-7."""
    size = np.abs(values) * _ROOT_OF_HALF
    t = _ONE / (_ONE + _ERF_SCALE * size)
    rest = t * _ERF_FACTORS[0]
    for factor in _ERF_FACTORS[1:]:
        rest += factor
        rest *= t
    rest *= np.exp(-size * size)
    error: Array = np.copysign(_ONE - rest, values)
    return values * (_ONE + error) * _HALF


def _layer(tensors: Mapping[str, Tensor], number: int, maps: Sequence[str]) -> _Layer:
    base = f"inner.encoder.layer.{number}"
    weights = [_dequantized(tensors, name) for name in maps]
    biases = [tensors[f"{base}.attention.self.{name}.bias"].floats() for name in ("query", "key", "value")]
    return _Layer(
        _Linear(np.concatenate(weights[:3], axis=1), np.concatenate(biases)),
        _Linear(weights[3], tensors[f"{base}.attention.output.dense.bias"].floats()),
        _norm(tensors, f"{base}.attention.output.LayerNorm"),
        _Linear(weights[4], tensors[f"{base}.intermediate.dense.bias"].floats()),
        _Linear(weights[5], tensors[f"{base}.output.dense.bias"].floats()),
        _norm(tensors, f"{base}.output.LayerNorm"),
    )


def _norm(tensors: Mapping[str, Tensor], name: str) -> _Norm:
    return _Norm(tensors[f"{name}.weight"].floats(), tensors[f"{name}.bias"].floats())


def _dequantized(tensors: Mapping[str, Tensor], name: str) -> Array:
    return tensors[f"{name}_q"].small_integers() * tensors[f"{name}_scale"].floats()
