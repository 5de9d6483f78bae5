"""How good an answer to a query is: recall, the rank of what is right, and gain by rank."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

RANKS: Final = (1, 5, 10, 15)
NAMES: Final = (*(f"R@{rank}" for rank in RANKS), "MRR", "nDCG@10")
Judged = tuple[Sequence[str], Mapping[str, float]]
"""What was found, the best first, and how right each right answer is."""


def figures(judged: Iterable[Judged]) -> dict[str, float]:
    """The mean of every figure over all queries that have a right answer."""
    rows = [_figures(found, grades) for found, grades in judged if grades]
    return {name: sum(row[name] for row in rows) / len(rows) if rows else math.nan for name in NAMES}


def _figures(found: Sequence[str], grades: Mapping[str, float]) -> dict[str, float]:
    recall = {f"R@{rank}": sum(key in grades for key in found[:rank]) / len(grades) for rank in RANKS}
    first = next((1 / at for at, key in enumerate(found, 1) if key in grades), 0.0)
    best = _gain(sorted(grades.values(), reverse=True)[:10])
    gained = _gain([grades.get(key, 0.0) for key in found[:10]])
    return {**recall, "MRR": first, "nDCG@10": gained / best if best else 0.0}


def _gain(grades: Sequence[float]) -> float:
    return sum((2**grade - 1) / math.log2(at + 1) for at, grade in enumerate(grades, 1))
