"""rank-bm25 made fit for what the index does: its scores are what ours are held against, and its cost."""

import math
from collections.abc import Mapping, Sequence

from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]

from mcpguard.catalog.search.prepared_tools import K1


class Kernel(BM25Okapi):  # type: ignore[misc]
    """BM25 over weighted frequencies that are normalised already, with Lucene's rareness, which is never negative."""

    def __init__(self, frequencies: Sequence[Mapping[str, float]]) -> None:
        super().__init__([list(each) or [""] for each in frequencies], k1=K1, b=0)
        self.doc_freqs = list(frequencies)

    def _calc_idf(self, nd: Mapping[str, int]) -> None:
        self.idf = {term: math.log(1 + (self.corpus_size - n + 0.5) / (n + 0.5)) for term, n in nd.items()}
