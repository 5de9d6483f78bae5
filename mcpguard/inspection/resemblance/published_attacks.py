"""Tells how much a text resembles published attacks, by weights that were learnt from attacks and honest texts.

Rules kept here:
1. A weight belongs to one, two or three words side by side in one sentence. A window of words scores the sum of the
   weights of the different ones that it has; a text scores as its highest window. It is read with narrow windows, in
   which a short order stands out, with wide ones, in which a long story adds up, and sentence by sentence, as what
   stands beside an order may be of any kind. Each has a line of its own.
2. The weights are data, made by `tests.benchmarks.detection.learn`: those for definitions, and those for replies. A
   file that is not whole is refused.
3. Time is linear in the words of a text. It is read once for windows of all sizes, into the numbers of the phrases of
   one, two and three words that begin at each word (`Numbers`); 0 stands for a phrase without a weight.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import chain, pairwise, repeat, zip_longest
from typing import Final, NamedTuple

from mcpguard.inspection.resemblance.word_classes import ClassedWord

NARROW: Final = 24
WIDE: Final = 50
WINDOWS: Final = (NARROW, WIDE)
"""The sizes of windows, in words. Two windows side by side have half of their words in common."""
SENTENCE: Final = 0
"""What stands for windows of one sentence each, where a line is given for a size."""
SIZES: Final = (*WINDOWS, SENTENCE)
LONGEST_SENTENCE: Final = 50
"""Words of the longest sentence that is compared by itself."""
DEFINITIONS: Final = "definitions"
REPLIES: Final = "replies"
KINDS: Final = (DEFINITIONS, REPLIES)
_FILES: Final = {DEFINITIONS: "definition_weights.txt", REPLIES: "reply_weights.txt"}
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

Lines = Mapping[int, float]
Numbers = Sequence[int]


@dataclass(frozen=True, slots=True)
class Resemblance:
    """The most alike window of a text: its size, its score, and the words that speak most for an attack, by places.

    `beyond`: by how much its score is above the line from which on it is reported.
    """

    size: int
    score: float
    phrases: tuple[tuple[int, int], ...]
    beyond: float = 0.0


class _Window(NamedTuple):
    """A window of words by its place, and how much it resembles attacks."""

    score: float
    start: int
    end: int


class AttackWeights:
    """Weights of phrases, the score of a text without any, and from which score on a text is reported, for each size of
    window.
    """

    def __init__(self, weights: Mapping[str, float], bias: float, lines: Lines) -> None:
        self.bias = bias
        self.lines = lines
        self._phrases = weights
        self._weights = [0.0, *weights.values()]
        self._words: dict[str, int] = {}
        self._longer: dict[tuple[str | None, ...], int] = {}
        for number, phrase in enumerate(weights, 1):
            word, *more = phrase.split()
            if more:
                self._longer[word, *more] = number
            else:
                self._words[word] = number

    def phrases(self) -> Mapping[str, float]:
        """Return the weight of each phrase."""
        return self._phrases

    def word_weight(self, word: str) -> float:
        """Return the weight of a word by itself."""
        return self._weights[self._words.get(word, 0)]

    def most_alike(self, words: Sequence[ClassedWord], size: int = NARROW) -> Resemblance:
        """Return the window of this size that resembles attacks most."""
        numbers = self._numbers(words)
        return self._told(size, numbers, self._best_window(words, numbers, size))

    def alike(
        self, words: Sequence[ClassedWord], more: float = 0.0, more_of_several: float = 0.0
    ) -> Resemblance | None:
        """Return the window that is most beyond the line from which on it is reported, if any is.

        A text that fits into a narrow window has no wide one: a few words alone must reach the line of narrow windows.
        `more`: how far beyond the usual line it must be; `more_of_several`: how far beyond that, if it is of several
        sentences.
        """
        numbers, most = self._numbers(words), None
        for size, line in self.lines.items():
            if size == WIDE and len(words) <= NARROW:
                continue
            best = self._best_window(words, numbers, size)
            beyond = best.score - line - more - (0.0 if size == SENTENCE else more_of_several)
            if beyond >= (most.beyond if most else 0.0) and (told := self._told(size, numbers, best, beyond)).phrases:
                most = told
        return most

    def unlike(self, words: Sequence[ClassedWord], fewest: int = NARROW) -> bool:
        """Tell whether nothing in a text of at least so many words resembles attacks, although most are known."""
        if len(words) < fewest:
            return False
        numbers = self._numbers(words)
        known = {place for _, start, end in _phrases(numbers, 0, len(words)) for place in range(start, end)}
        return len(known) >= _KNOWN * len(words) and self._best_window(words, numbers, NARROW).score < _UNLIKE

    def _best_window(self, words: Sequence[ClassedWord], numbers: Numbers, size: int) -> _Window:
        best, weight_of = _Window(self.bias, 0, 0), self._weights.__getitem__
        for start, end in _windows(words, size):
            different = dict.fromkeys(_in_window(numbers, start, end))
            score = self.bias + sum(map(weight_of, different))
            if score > best.score:
                best = _Window(score, start, end)
        return best

    def _told(self, size: int, numbers: Numbers, best: _Window, beyond: float = 0.0) -> Resemblance:
        return Resemblance(size, best.score, self._speaking(numbers, best.start, best.end), beyond)

    def _speaking(self, numbers: Numbers, start: int, end: int) -> tuple[tuple[int, int], ...]:
        """Return where the phrases of a window that speak most for an attack stand first."""
        places: dict[int, tuple[int, int]] = {}
        for number, first, last in _phrases(numbers, start, end):
            places.setdefault(number, (first, last))
        speaking = sorted((each for each in places if self._weights[each] > 0), key=lambda each: -self._weights[each])
        return tuple(sorted(places[each] for each in speaking[:_SHOWN]))

    def _numbers(self, words: Sequence[ClassedWord]) -> Numbers:
        """Return the phrases that begin at each word. The first word of a sentence ends what came before it."""
        longer, first = self._longer, [each.word for each in words]
        second = [None if each.begins else each.word for each in words[1:]]
        alone = map(self._words.get, first, repeat(0))
        pairs = map(longer.get, zip_longest(first, second), repeat(0))
        triples = map(longer.get, zip_longest(first, second, second[1:]), repeat(0))
        return [*chain.from_iterable(zip(alone, pairs, triples, strict=True))]


def _windows(words: Sequence[ClassedWord], size: int) -> Iterator[tuple[int, int]]:
    """Yield where the windows of a size begin and end."""
    if size == SENTENCE:
        edges = [at for at, each in enumerate(words) if each.begins or at == 0]
        yield from ((start, end) for start, end in pairwise([*edges, len(words)]) if end - start <= LONGEST_SENTENCE)
    else:
        step = size // 2
        yield from ((start, start + size) for start in range(0, max(len(words) - step, 1), step))


def _in_window(numbers: Numbers, start: int, end: int) -> Numbers:
    """Return the numbers of the phrases that begin and end in a window."""
    first, last = LONGEST * start, LONGEST * (end - 1)
    return [*numbers[first : max(first, last - 1)], *numbers[last : last + 1]]


def _phrases(numbers: Numbers, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield each phrase that begins and ends in a window: its number and its place."""
    for at, number in enumerate(numbers[LONGEST * start : LONGEST * end]):
        first, more = start + at // LONGEST, at % LONGEST
        if number and first + more < end:
            yield number, first, first + more + 1


def line_name(size: int) -> str:
    """Return how a file of weights names the line for windows of this size."""
    return "sentences" if size == SENTENCE else f"{size} words"


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
    lines = {size: float(facts[name]) for size in SIZES if (name := line_name(size)) in facts}
    return AttackWeights(weights, float(facts["bias"]), lines)


@cache
def attack_weights(kind: str) -> AttackWeights:
    """Return the weights for texts of a kind that are delivered with the product."""
    return read_weights(files(__package__).joinpath(_FILES[kind]).read_text("utf-8"))
