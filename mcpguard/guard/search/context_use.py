"""Counts what searching spares agents of reading: the definitions of all tools, of which they are shown a few.

Each list of the guard face is compared with a list of every tool that the caller could find, and what searches and
descriptions then show is taken off again. Counted in bytes, in memory, since the start.
"""

from typing import Final

TOKEN: Final = 4
"""Bytes of a definition that are about one token for a model."""


class ContextUse:
    """How many bytes of definitions agents would have been shown without searching, and how many they were shown."""

    def __init__(self) -> None:
        self.in_reach = 0
        self.shown = 0

    def count_list(self, in_reach: int, shown: int) -> None:
        """Count a list of the guard's own tools that was shown in place of all that are in reach."""
        self.in_reach += in_reach
        self.shown += shown

    def count_answer(self, shown: int) -> None:
        """Count the answer to a search, or a description."""
        self.shown += shown

    @property
    def tokens_saved(self) -> int:
        """About how many tokens were saved; 0 where searching has cost more than it has spared."""
        return max(0, self.in_reach - self.shown) // TOKEN

    @property
    def share_saved(self) -> float:
        """The share of all that is in reach which was saved, from 0 to 1."""
        return max(0, self.in_reach - self.shown) / self.in_reach if self.in_reach else 0.0
