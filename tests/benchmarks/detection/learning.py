"""Learns how much each phrase speaks for an attack: a logistic regression over the windows of labelled texts.

Of a malicious text it is not known which window holds the attack. So all are learnt as attacks first, and after each
round only those that were found, or that are the most alike of their text. Sources count by the root of their windows,
because one that repeats itself a hundred times says little more than one that says it twice.

Weights can also be learnt further from those that there are: then each is pulled towards what it was, and not to 0, and
the texts count less, as they are fewer than those from which it came.
Those of characters of scripts without blanks stay, as few texts have each of them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from mcpguard.inspection.resemblance.published_attacks import LONGEST, NARROW, AttackWeights
from mcpguard.inspection.resemblance.word_classes import ClassedWord
from tests.benchmarks.detection.labelled import Labelled

MOST_PHRASES: Final = 12_000
MOST_NEW_PHRASES: Final = 3_000
"""How many get a weight where others had one before."""
LEAST_WEIGHT: Final = 0.001
UNSPACED: Final = "\u3040"
"""Where the characters of scripts without blanks begin."""
LEAST_TEXTS: Final = 3
"""In how many texts a phrase has to be."""
LEAST_SOURCES: Final = 3
"""In how many sources it has to be, so that no source's names and habits are learnt."""
ROUNDS: Final = 3
STRENGTH: Final = 0.25
"""How much the texts count beside the wish for small weights."""
FURTHER: Final = 0.1
"""How much they count where the weights were learnt from others before."""
ATTACKS: Final = 0.25
"""The share of all weight that attacks have; honest windows have three times their number."""
SURE: Final = 1.0
NONE_BEFORE: Final = AttackWeights({}, 0.0, {})
Floats = np.ndarray[Any, np.dtype[np.float64]]
Places = np.ndarray[Any, np.dtype[np.int64]]


def windows(words: Sequence[ClassedWord]) -> list[frozenset[str]]:
    """Return the phrases in each narrow window of a text: in wide ones, more of an attack's own words are honest."""
    step = NARROW // 2
    starts = range(0, max(len(words) - step, 1), step)
    return [frozenset(_phrases(words[start : start + NARROW])) for start in starts]


def _phrases(words: Sequence[ClassedWord]) -> Iterable[str]:
    for at in range(len(words)):
        phrase = words[at].word
        yield phrase
        for each in words[at + 1 : at + LONGEST]:
            if each.begins:
                break
            phrase = f"{phrase} {each.word}"
            yield phrase


@dataclass(frozen=True)
class Windows:
    """The windows of texts as a sparse matrix: the phrases of each, one after the other, and where each begins."""

    phrases: tuple[str, ...]
    columns: Places
    starts: Places
    owners: Places
    attacks: np.ndarray[Any, np.dtype[np.bool_]]
    sources: tuple[str, ...]

    def without(self, sources: frozenset[str]) -> "Windows":
        """Return the windows of all other sources."""
        return self.only(np.array([each not in sources for each in self.sources]))

    def only(self, kept: np.ndarray[Any, np.dtype[np.bool_]]) -> "Windows":
        """Return some of the windows."""
        ends = np.append(self.starts[1:], len(self.columns))
        rows = np.flatnonzero(kept)
        lengths = (ends - self.starts)[rows]
        starts = np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.int64)
        at = np.repeat(self.starts[rows] - starts, lengths) + np.arange(lengths.sum())
        sources = tuple(self.sources[row] for row in rows)
        return Windows(self.phrases, self.columns[at], starts, self.owners[rows], self.attacks[rows], sources)


def windows_of(texts: Sequence[Labelled]) -> Windows:
    """Return the windows of labelled texts."""
    every = [windows(each.words) for each in texts]
    count, sources_of = Counter[str](), dict[str, set[str]]()
    for one, each in zip(texts, every, strict=True):
        for phrase in frozenset[str]().union(*each):
            count[phrase] += 1
            sources_of.setdefault(phrase, set()).add(one.source)
    phrases = tuple(
        sorted(
            phrase
            for phrase, times in count.items()
            if times >= LEAST_TEXTS and len(sources_of[phrase]) >= LEAST_SOURCES
        )
    )
    number = {phrase: at for at, phrase in enumerate(phrases)}
    columns, starts, owners = list[int](), list[int](), list[int]()
    for owner, each in enumerate(every):
        for window in each:
            starts.append(len(columns))
            owners.append(owner)
            columns += sorted(number[phrase] for phrase in window if phrase in number)
            columns.append(len(phrases))  # the bias, which every window has
    attacks = np.array([texts[owner].malicious for owner in owners])
    sources = tuple(texts[owner].source for owner in owners)
    return Windows(phrases, np.array(columns), np.array(starts), np.array(owners), attacks, sources)


def learn(given: Windows, before: AttackWeights = NONE_BEFORE) -> AttackWeights:
    """Return the weights that tell these attacks from these honest texts. `before`: what was learnt from others."""
    known = before.phrases()
    start = np.array([*(known.get(phrase, 0.0) for phrase in given.phrases), before.bias])
    kept = np.ones(len(given.starts), dtype=bool)
    weights = start
    for _ in range(ROUNDS):
        some = given.only(kept)
        weights = _fitted(some, _chosen(some, start), start)
        scores = np.add.reduceat(weights[given.columns], given.starts)
        best = np.full(given.owners.max() + 1, -np.inf)
        np.maximum.at(best, given.owners, scores)
        kept = ~given.attacks | (scores > SURE) | (scores >= best[given.owners])
    named = {phrase: round(float(weight), 3) for phrase, weight in zip(given.phrases, weights, strict=False)}
    every = {phrase: weight for phrase, weight in {**known, **named}.items() if abs(weight) >= LEAST_WEIGHT}
    return AttackWeights(every, float(weights[-1]), {})


def _chosen(some: Windows, start: Floats) -> Places:
    """Return the phrases whose frequency differs most between attacks and honest texts, those that had a weight before,
    and the bias.
    """
    ends = np.append(some.starts[1:], len(some.columns))
    attack = np.repeat(some.attacks, ends - some.starts)
    size = len(some.phrases)
    bad = np.bincount(some.columns[attack], minlength=size + 1)[:size] / max(some.attacks.sum(), 1)
    good = np.bincount(some.columns[~attack], minlength=size + 1)[:size] / max((~some.attacks).sum(), 1)
    order = np.argsort(-np.abs(bad - good) / np.sqrt(bad + good + 1e-4), kind="stable")
    if not start.any():
        return np.append(np.sort(order[:MOST_PHRASES]), size)
    spaced = np.array([max(phrase) < UNSPACED for phrase in some.phrases])
    new = order[(start[order] == 0) & spaced[order]][:MOST_NEW_PHRASES]
    return np.append(np.union1d(new, np.flatnonzero((start[:size] != 0) & spaced)), size)


def _fitted(some: Windows, chosen: Places, start: Floats) -> Floats:
    size = len(some.phrases) + 1
    place = np.full(size, -1)
    place[chosen] = np.arange(len(chosen))
    ends = np.append(some.starts[1:], len(some.columns))
    rows = np.repeat(np.arange(len(some.starts)), ends - some.starts)
    known = place[some.columns] >= 0
    columns, rows = place[some.columns[known]], rows[known]
    signs, counts, before = np.where(some.attacks, 1.0, -1.0), _counts(some), start[chosen]
    strength = FURTHER if before.any() else STRENGTH

    def cost(weights: Floats) -> tuple[float, Floats]:
        margins = signs * np.bincount(rows, weights[columns], minlength=len(signs))
        losses = np.logaddexp(0, -margins)
        slopes = -signs * counts / (1 + np.exp(np.clip(margins, -500, 500)))
        moved = weights - before
        gradient = moved + strength * np.bincount(columns, slopes[rows], minlength=len(weights))
        return float(moved @ moved / 2 + strength * (counts @ losses)), gradient

    weights = start.copy()
    weights[chosen] = minimum(cost, before)
    return weights


def _counts(some: Windows) -> Floats:
    """Return how much each window counts."""
    times = Counter(zip(some.sources, some.attacks.tolist(), strict=True))
    counts = np.array([1 / np.sqrt(times[key]) for key in zip(some.sources, some.attacks.tolist(), strict=True)])
    total = float(len(counts))
    attacks = some.attacks
    counts[attacks] *= ATTACKS * total / counts[attacks].sum()
    counts[~attacks] *= (1 - ATTACKS) * total / counts[~attacks].sum()
    return counts


def minimum(
    cost: Callable[[Floats], tuple[float, Floats]], start: Floats, *, steps: int = 120, kept: int = 8
) -> Floats:
    """Return where a convex function with this value and gradient is least (limited-memory BFGS)."""
    at, (value, slope) = start, cost(start)
    history: list[tuple[Floats, Floats]] = []
    for _ in range(steps):
        way = slope.copy()
        factors = list[float]()
        for moved, changed in reversed(history):
            factors.append(float(moved @ way / (changed @ moved)))
            way -= factors[-1] * changed
        if history:
            moved, changed = history[-1]
            way *= moved @ changed / (changed @ changed)
        for (moved, changed), factor in zip(history, reversed(factors), strict=True):
            way += (factor - changed @ way / (changed @ moved)) * moved
        length, fall = 1.0 if history else 1 / max(float(np.abs(slope).sum()), 1.0), float(slope @ way)
        while True:
            there = at - length * way
            value_there, slope_there = cost(there)
            if value_there <= value - 1e-4 * length * fall or length < 1e-10:
                break
            length /= 2
        if value - value_there < 1e-7 * max(abs(value), 1.0):
            return there
        if (there - at) @ (slope_there - slope) > 0:
            history = [*history, (there - at, slope_there - slope)][-kept:]
        at, value, slope = there, value_there, slope_there
    return at
