"""Ranks tools: adds up scores word by word, and only for tools that can still be among the best.

Rules kept here:
1. What is out of scope is skipped before anything is compared.
2. A word counts once per tool: as written, or as the best of the terms that replace it.
3. The order of addition depends on the words alone, so that equal tools have equal scores to the last bit.
4. A tool without a score is not a result, nor is one below `FAINTEST` of the best score: where little matches, this
   excludes a tool that mentions a bit of everything. Equal scores are ordered by `server:name`.
"""

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from heapq import nlargest
from typing import Final

Weights = Mapping[int, float]
_WORTH_LOOKING: Final = 256
"""Tools to add, below which adding all is faster than finding out which of them matter."""
FAINTEST: Final = 0.1
_MARGIN: Final = 1 - 1e-9


class MatchKind(StrEnum):
    """How a word of a query led to a term of tools."""

    SAME = "same"
    NEAR = "near"
    TRANSLATION = "translation"
    REPAIR = "repair"
    LEARNED = "learned"


@dataclass(frozen=True, slots=True)
class RankedTerm:
    """The tools that have a term, the factor of their weights, and a bound for the score that it gives. `learned`:
    they have it from earlier searches, if not from their texts."""

    term: str
    weights: Weights
    factor: float
    bound: float
    learned: bool = False


@dataclass(frozen=True, slots=True)
class QueryWord:
    """One word of a query, how rare it is, and the terms that stand for it, those that can give most first.

    `asked`: the word as it was said; `match`: how it was read; `meant`: the terms that it was read as. The others are
    near to one of these.
    """

    word: str
    rareness: float
    terms: Sequence[RankedTerm]
    asked: str
    match: MatchKind
    meant: Collection[str]

    @property
    def bound(self) -> float:
        """The most that this word can give to a tool."""
        return self.terms[0].bound


def best_tools(
    query_words: Sequence[QueryWord], limit: int, seen: Container[int] | None, key: Callable[[int], str]
) -> list[tuple[int, float]]:
    """The best tools with their scores. `seen`: those that count; None for all."""
    scores: dict[int, float] = {}
    ordered = sorted(query_words, key=lambda one: (-one.rareness, one.word))
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
    """Add what a word gives. A tool without a score matters only if this word can give it what is needed."""
    opening = [term for term in one.terms if term.bound >= needed]
    gained = _gained(opening)
    if seen is not None:
        gained = {tool: score for tool, score in gained.items() if tool in seen}
    if others := one.terms[len(opening) :]:
        candidates = gained.keys() | scores.keys()
        for term in others:
            weights = term.weights
            _raise(gained, term.factor, ((tool, weights[tool]) for tool in weights.keys() & candidates))
    for tool, score in gained.items():
        scores[tool] = scores.get(tool, 0.0) + score


def _gained(terms: Sequence[RankedTerm]) -> dict[int, float]:
    """Return what every tool with any of these terms gets: the most that one of them gives."""
    if not terms:
        return {}
    first, *others = terms
    factor = first.factor
    gained = {tool: weight * factor for tool, weight in first.weights.items()}
    for term in others:
        _raise(gained, term.factor, term.weights.items())
    return gained


def _raise(gained: dict[int, float], factor: float, weights: Iterable[tuple[int, float]]) -> None:
    """Raise the gain of these tools, which have a term with this weight, where it gives them more."""
    gained_by = gained.get
    for tool, weight in weights:
        score = weight * factor
        if score > gained_by(tool, 0.0):
            gained[tool] = score


def _first(scores: Mapping[int, float], limit: int, key: Callable[[int], str]) -> list[tuple[int, float]]:
    if not scores:
        return []
    first = nlargest(limit, scores.values())
    least = max(first[-1], first[0] * FAINTEST)
    chosen = ((tool, score) for tool, score in scores.items() if score >= least)
    return sorted(chosen, key=lambda found: (-found[1], key(found[0])))[:limit]
