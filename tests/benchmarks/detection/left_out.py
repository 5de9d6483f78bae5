"""Scores each text by weights that were learnt without its source, as a stranger's text would be scored.

Sources without attacks are left out together in a few groups: leaving out each by itself changes nothing.
"""

import hashlib
from collections.abc import Sequence

from rich.progress import track

from mcpguard.inspection.resemblance.published_attacks import DEFINITIONS, REPLIES, SIZES, AttackWeights
from tests.benchmarks.detection.labelled import Labelled
from tests.benchmarks.detection.learning import NONE_BEFORE, learn, windows_of

GROUPS = 6


def left_out_scores(texts: Sequence[Labelled], before: AttackWeights = NONE_BEFORE) -> list[tuple[float, ...]]:
    """Return the scores of each text by windows of each size of its kind; snippets, which are never judged, have none.

    `before`: the weights from which others are learnt further.
    """
    every = windows_of(texts)
    attacking = {each.source for each in texts if each.malicious}
    group_of = {each.source: _group(each.source, attacking) for each in texts if "snippet" not in each.said}
    scores: list[tuple[float, ...]] = [()] * len(texts)
    for group in track(sorted(set(group_of.values())), "learning, one source left out in turn", transient=True):
        weights = learn(every.without(frozenset(source for source, of in group_of.items() if of == group)), before)
        for at, each in enumerate(texts):
            if group_of.get(each.source) == group and "snippet" not in each.said:
                scores[at] = tuple(weights.most_alike(each.words, size).score for size in SIZES)
    return scores


def kind_of(text: Labelled) -> str:
    """Return the kind of texts that a text is judged as."""
    return DEFINITIONS if text.is_definition else REPLIES


def _group(source: str, attacking: set[str]) -> str:
    if source in attacking:
        return source
    return f"honest {hashlib.sha256(source.encode()).digest()[0] % GROUPS}"
