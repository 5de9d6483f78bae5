"""The differences between two JSON values.

Nothing is cut or escaped: `before` and `after` are the values themselves. `shown_values` makes them readable.
"""

from dataclasses import dataclass
from enum import StrEnum

from mcpguard.inspection.diff.changed_words import WordDiff

Path = tuple[str | int, ...]


class ChangeKind(StrEnum):
    """What happened to a value."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class ValueChange:
    """One difference. Where a value was not there, its path is None, and so is the value.

    Both paths of what was changed are equal unless it is in a list where something was inserted or removed before it.
    """

    kind: ChangeKind
    old_path: Path | None
    new_path: Path | None
    before: object
    after: object
    words: WordDiff | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a diff does not contain: how many more changes, and which places, the first ones and how many more."""

    changes: int = 0
    places: tuple[Path, ...] = ()
    more_places: int = 0


@dataclass(frozen=True, slots=True)
class Diff:
    """All differences, in the order of the definition, unless something was left out."""

    changes: tuple[ValueChange, ...]
    left_out: LeftOut = LeftOut()

    @property
    def complete(self) -> bool:
        """Whether nothing was left out."""
        return self.left_out == LeftOut()
