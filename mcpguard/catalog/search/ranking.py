"""The best of many: scores added up word by word, and only for what can still be among them.

Rules kept here:
1. What may not be seen is passed over before anything is compared.
2. A word counts once for a tool: as it was said, or as the best of what stands for it.
3. Words are added up in an order that follows from the words alone, so equal tools have equal scores to the last bit.
4. Nothing without a score is a result, nor what has less than `FAINTEST` of the best: where little fits, that is where
   a tool that says a bit of everything would come in. Equal scores are in the order of `server:name`.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Final

Weights = Mapping[int, float]
_WORTH_LOOKING: Final = 256
"""With fewer tools to add, finding out whether they matter takes longer than adding them."""
FAINTEST: Final = 0.1
_MARGIN: Final = 1 - 1e-9


@dataclass(frozen=True, slots=True)
class RankedTerm:
    """The tools that have a term, what their weights are multiplied by, and more than any of them gets for it."""

    weights: Weights
    factor: float
    bound: float


@dataclass(frozen=True, slots=True)
class QueryWord:
    """One word of a query, how rare it is, and the terms that stand for it, those that can give most first."""

    word: str
    rareness: float
    terms: Sequence[RankedTerm]

    @property
    def bound(self) -> float:
        return self.terms[0].bound


def best(
    said: Sequence[QueryWord], limit: int, seen: Container[int] | None, key: Callable[[int], str]
) -> list[tuple[int, float]]:
    """The best tools with their scores. `seen`: those that count; None for all."""
    scores: dict[int, float] = {}
    ordered = sorted(said, key=lambda one: (-one.rareness, one.word))
    left = sum(one.bound for one in ordered)
    least = 0.0
    for one in ordered:
        if len(scores) >= limit and (least > left or _is_worth_looking(one)):
            least = nlargest(limit, scores.values())[-1] * _MARGIN
            if least > left:
                scores = {tool: score for tool, score in scores.items() if score + left >= least}
        left -= one.bound
        _add(scores, one, least - left, seen)
    return _first(scores, limit, key)


def _is_worth_looking(one: QueryWord) -> bool:
    return sum(len(term.weights) for term in one.terms) > _WORTH_LOOKING


def _add(scores: dict[int, float], one: QueryWord, needed: float, seen: Container[int] | None) -> None:
    """Add what a word gives. A tool that has no score yet matters only if this word can give it what is needed."""
    opening = [term for term in one.terms if term.bound >= needed]
    gained = _gained(opening)
    if seen is not None:
        gained = {tool: score for tool, score in gained.items() if tool in seen}
    if others := one.terms[len(opening) :]:
        candidates = gained.keys() | scores.keys()
        for term in others:
            _raise(gained, term, term.weights.keys() & candidates)
    for tool, score in gained.items():
        scores[tool] = scores.get(tool, 0.0) + score


def _gained(terms: Sequence[RankedTerm]) -> dict[int, float]:
    """What every tool gets that has any of these terms: the most that one of them gives."""
    if not terms:
        return {}
    first, *others = terms
    factor = first.factor
    gained = {tool: weight * factor for tool, weight in first.weights.items()}
    for term in others:
        _raise(gained, term, term.weights)
    return gained


def _raise(gained: dict[int, float], term: RankedTerm, tools: Iterable[int]) -> None:
    """What these tools, which have the term, get where it gives them more."""
    weights, factor = term.weights, term.factor
    for tool in tools:
        score = weights[tool] * factor
        if score > gained.get(tool, 0.0):
            gained[tool] = score


def _first(scores: Mapping[int, float], limit: int, key: Callable[[int], str]) -> list[tuple[int, float]]:
    if not scores:
        return []
    first = nlargest(limit, scores.values())
    least = max(first[-1], first[0] * FAINTEST)
    chosen = ((tool, score) for tool, score in scores.items() if score >= least)
    return sorted(chosen, key=lambda found: (-found[1], key(found[0])))[:limit]
