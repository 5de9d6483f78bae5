"""Scores the candidates of a search by words anew: by words and by meaning, each as a share of the best.

Rules kept here:
1. Only candidates have scores, so meaning alone lifts nothing: what shares no word with a query is not found.
2. A score depends on the query and on candidates, all of which the caller may see.
3. A candidate without a vector counts as alike as the others on average, so that it neither gains nor loses by that.
   Where none has one, the scores stay.
"""

from collections.abc import Sequence
from typing import Final

from mcpguard.catalog.search.search import FoundTool

BY_MEANING: Final = 0.45
SURE: Final = 0.4
"""How alike the best must be for its share to be whole: of a query that the model does not know, all are alike a
little, and none more than the others."""


def mixed_scores(found: Sequence[FoundTool], likenesses: Sequence[float | None]) -> list[float]:
    """Return the new scores of candidates, in the measure of the old ones.

    `likenesses`: how alike the query and each candidate are, from 0 to 1; None for one without a vector.
    """
    known = [likeness for likeness in likenesses if likeness is not None]
    if not known:
        return [each.score for each in found]
    most, most_alike, average = max(each.score for each in found), max(SURE, *known), sum(known) / len(known)
    alike = (average if likeness is None else likeness for likeness in likenesses)
    return [
        (1 - BY_MEANING) * each.score + BY_MEANING * most * likeness / most_alike
        for each, likeness in zip(found, alike, strict=True)
    ]
