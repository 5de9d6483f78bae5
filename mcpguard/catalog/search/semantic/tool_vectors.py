"""The meanings of tools, as vectors, and how near each is to that of a query.

Rules kept here:
1. A vector is kept by the text that it is made of: whose text has not changed keeps it, and whose has gets a new one.
2. At most `MOST_VECTORS` are kept. What is there stays, so that a server with many tools takes nothing from others.
3. One thread changes this.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np

from mcpguard.catalog.search.fields import title
from mcpguard.catalog.search.semantic.model_weights import Array
from mcpguard.catalog.search.semantic.sentence_model import MOST_PIECES
from mcpguard.catalog.search.semantic.word_pieces import CHARACTERS

MOST_VECTORS: Final = 20_000
_LONGEST: Final = MOST_PIECES * CHARACTERS
_LONGEST_NAME: Final = 200
_BORDERS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")


def meaning_text(server: str, tool: Mapping[str, Any]) -> str:
    """Return the text that says what a tool does: its names as words, and the beginning of its description."""
    name, description = tool.get("name"), tool.get("description")
    named = _as_words(server, name[:_LONGEST_NAME] if isinstance(name, str) else "", title(tool)[:_LONGEST_NAME])
    return f"{named}: {description[:_LONGEST]}"[:_LONGEST] if isinstance(description, str) else named


class ToolVectors:
    """The vectors that are ready."""

    def __init__(self) -> None:
        self._ready: dict[str, Array] = {}

    def compare(self, texts: Iterable[str]) -> tuple[list[str], list[str]]:
        """Return those of the texts that have no vector and can get one, and the others that have one."""
        wanted = dict.fromkeys(texts)
        gone = [text for text in self._ready if text not in wanted]
        missing = [text for text in wanted if text not in self._ready]
        return missing[: max(0, MOST_VECTORS - len(self._ready) + len(gone))], gone

    def put(self, vectors: Mapping[str, Array]) -> None:
        self._ready |= vectors

    def drop(self, texts: Iterable[str]) -> None:
        for text in texts:
            del self._ready[text]

    def likenesses(self, query: Array, texts: Sequence[str]) -> list[float | None]:
        """Return how alike a query and each text are, from 0 to 1; None for one that has no vector."""
        rows = [self._ready.get(text) for text in texts]
        ready = [row for row in rows if row is not None]
        if not ready:
            return [None] * len(rows)
        cosines = iter(np.clip(np.stack(ready) @ query, 0, 1).tolist())
        return [None if row is None else next(cosines) for row in rows]


@lru_cache(MOST_VECTORS)
def _as_words(*names: str) -> str:
    return " ".join(_BORDERS.sub(" ", name).strip() for name in names if name)
