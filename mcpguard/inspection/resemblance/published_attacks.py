"""Tells how much a text resembles published attacks, by weights that were learnt from attacks and honest texts.

Rules kept here:
1. A weight belongs to one, two or three words side by side in one sentence. A window of words scores the sum of the
   weights of the different ones that it has; a text scores as its highest window. It is read with narrow windows, in
   which a short order stands out, and with wide ones, in which a long story adds up. Each has a line of its own.
2. The weights are data (`weights.txt`), made by `tests.benchmarks.detection.learn`. A file that is not whole is
   refused.
3. Time is linear in the words of a text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import accumulate
from math import inf
from typing import Final

from mcpguard.inspection.resemblance.word_classes import ClassedWord

NARROW: Final = 24
WIDE: Final = 50
WINDOWS: Final = (NARROW, WIDE)
"""The sizes of windows, in words. Two windows side by side have half of their words in common."""
KINDS: Final = ("definitions", "replies")
LONGEST: Final = 3
DIGEST: Final = "# digest: "
"""What the first line of the file begins with; the digest is that of all lines after it."""
_KNOWN: Final = 0.7
"""The share of the words of a text that must have a weight, alone or in a phrase, before it can be unlike attacks."""
_UNLIKE: Final = -0.5
"""The score that no window of a text that is unlike attacks reaches."""
LEAST_WORDS: Final = -1.0
"""The weight of the words of a part, by themselves, from which it is compared with attacks."""
_SHOWN: Final = 3
"""How many of the phrases that speak most for an attack mark its place."""


Lines = Mapping[tuple[str, int], float]


@dataclass(slots=True)
class _Node:
    weight: float = 0.0
    id: int = -1
    following: dict[str, "_Node"] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Resemblance:
    """The most alike window of a text: its size, its score, and the words that speak most for an attack, by places."""

    size: int
    score: float
    phrases: tuple[tuple[int, int], ...]


class AttackWeights:
    """Weights of phrases, the score of a text without any, and from which score on a text is reported: for each kind of
    text and size of window.
    """

    def __init__(self, weights: Mapping[str, float], bias: float, lines: Lines) -> None:
        self.bias = bias
        self.lines = lines
        self._phrases = weights
        self._root = _Node()
        for number, (phrase, weight) in enumerate(weights.items()):
            node = self._root
            for word in phrase.split():
                node = node.following.setdefault(word, _Node())
            node.weight, node.id = weight, number

    def phrases(self) -> Mapping[str, float]:
        """Return the weight of each phrase."""
        return self._phrases

    def word_weight(self, word: str) -> float:
        """Return the weight of a word by itself."""
        node = self._root.following.get(word)
        return node.weight if node else 0.0

    def most_alike(self, words: Sequence[ClassedWord], size: int = NARROW) -> Resemblance:
        """Return the window of this size that resembles attacks most."""
        return self._most_alike(self._found(words), len(words), size)

    def alike(self, words: Sequence[ClassedWord], kind: str, more: float = 0.0) -> Resemblance | None:
        """Return a window that resembles attacks so much that it is reported, the narrow one first. `more`: how far
        beyond the usual line it must be.

        A text that fits into a narrow window has no wide one: a few words alone must reach the line of narrow windows.
        """
        found = self._found(words)
        for size in WINDOWS if len(words) > NARROW else (NARROW,):
            line = self.lines[kind, size] + more
            most = self._most_alike(found, len(words), size, line)
            if most.score >= line and most.phrases:
                return most
        return None

    def unlike(self, words: Sequence[ClassedWord]) -> bool:
        """Tell whether nothing in a text resembles attacks, although most of its words are known."""
        if len(words) < NARROW:
            return False
        found = self._found(words)
        known = {place for at, length, _ in found for place in range(at, at + length)}
        return len(known) >= _KNOWN * len(words) and self._most_alike(found, len(words), NARROW).score < _UNLIKE

    def _most_alike(
        self, found: Sequence[tuple[int, int, _Node]], words: int, size: int, least: float = -inf
    ) -> Resemblance:
        """Return the window of the highest score. A window is only read if its score may be that, and this high."""
        best, spoken = self.bias, dict[int, tuple[int, int, _Node]]()
        risen = list(accumulate((max(node.weight, 0.0) for _, _, node in found), initial=0.0))
        first, last, step = 0, 0, size // 2
        for start in range(0, max(words - step, 1), step):
            end = start + size
            while first < len(found) and found[first][0] < start:
                first += 1
            while last < len(found) and found[last][0] < end:
                last += 1
            highest = self.bias + risen[last] - risen[first]
            if highest <= best or highest < least:
                continue
            seen = dict[int, tuple[int, int, _Node]]()
            for each in found[first:last]:
                if each[0] + each[1] <= end:
                    seen.setdefault(each[2].id, each)
            score = self.bias + sum(node.weight for _, _, node in seen.values())
            if score > best:
                best, spoken = score, seen
        speaking = sorted((each for each in spoken.values() if each[2].weight > 0), key=lambda each: -each[2].weight)
        places = sorted((at, at + length) for at, length, _ in speaking[:_SHOWN])
        return Resemblance(size, best, tuple(places))

    def _found(self, words: Sequence[ClassedWord]) -> list[tuple[int, int, _Node]]:
        """Return the phrases that have a weight, in the order of their places, with their lengths."""
        roots, size, found = self._root.following, len(words), list[tuple[int, int, _Node]]()
        for at, each in enumerate(words):
            node = roots.get(each[0])
            length = 1
            while node is not None:
                if node.id >= 0:
                    found.append((at, length, node))
                end = at + length
                if length == LONGEST or end >= size or not node.following or words[end].begins:
                    break
                node = node.following.get(words[end].word)
                length += 1
        return found


def line_name(kind: str, size: int) -> str:
    """Return how a file of weights names the line for a kind of text, read with windows of this size."""
    return f"{kind}, {size} words"


def read_weights(text: str) -> AttackWeights:
    """Return the weights of a file. Raises ValueError where it was changed since it was made."""
    digest, _, rest = text.partition("\n")
    if digest != f"{DIGEST}{sha256(rest.encode()).hexdigest()}":
        raise ValueError("the weights of the comparison with attacks were changed after they were made")
    head, _, body = rest.partition("\n\n")
    facts = dict(line.removeprefix("# ").split(": ", 1) for line in head.splitlines() if ": " in line)
    weights = dict[str, float]()
    for line in body.splitlines():
        weight, _, phrase = line.partition(" ")
        weights[phrase] = float(weight)
    lines = {(kind, size): float(facts[line_name(kind, size)]) for kind in KINDS for size in WINDOWS}
    return AttackWeights(weights, float(facts["bias"]), lines)


@cache
def attack_weights() -> AttackWeights:
    """Return the weights that are delivered with the product."""
    return read_weights(files(__package__).joinpath("weights.txt").read_text("utf-8"))
