"""A second reading of what a diff says: it carries the changes out, without knowing how they were found."""

import copy
from typing import Any

from mcpguard.inspection.diff.changes import ChangeKind, Path, ValueChange

WHOLE = "whole"


def applied(changes: tuple[ValueChange, ...], before: object) -> object:
    """What becomes of `before`: removals from the last to the first, changes, additions from the first to the last."""
    root: dict[str, Any] = {WHOLE: copy.deepcopy(before)}
    of = {kind: [change for change in changes if change.kind is kind] for kind in ChangeKind}
    for change in of[ChangeKind.CHANGED]:
        place, key = _reached(root, change.old_path)
        assert exactly(place[key], change.before)
        place[key] = change.after
    for change in reversed(of[ChangeKind.REMOVED]):
        place, key = _reached(root, change.old_path)
        assert exactly(place.pop(key), change.before)
    for change in of[ChangeKind.ADDED]:
        place, key = _reached(root, change.new_path)
        if isinstance(place, list):
            place.insert(key, change.after)
        else:
            assert key not in place
            place[key] = change.after
    return root[WHOLE]


def _reached(root: dict[str, Any], path: Path | None) -> tuple[Any, Any]:
    assert path is not None
    place: Any = root
    *way, key = (WHOLE, *path)
    for step in way:
        place = place[step]
    return place, key


def exactly(one: object, other: object) -> bool:
    """Equal, and of equal types all the way down."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(exactly(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(exactly, one, other))
    return repr(one) == repr(other)
