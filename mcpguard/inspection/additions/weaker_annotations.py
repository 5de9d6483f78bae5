"""Tells where a change makes a tool look more harmless than it was declared before.

A hint that was not there before is no weaker than none: a tool without hints is treated carefully.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mcpguard.domain.additions import Addition, AdditionKind
from mcpguard.domain.findings import Evidence

_HARMLESS: Final = {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False, "idempotentHint": True}
"""The value of each hint that makes a tool look more harmless."""


def find_weaker_annotations(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Addition]:
    """Yield the hints that had the careful value, and have not any more."""
    old, new = before.get("annotations"), after.get("annotations")
    if not isinstance(old, Mapping):
        return
    now: Mapping[str, Any] = new if isinstance(new, Mapping) else {}
    for hint, harmless in _HARMLESS.items():
        if old.get(hint) is not (not harmless):
            continue
        if hint in now and now[hint] is harmless:
            yield Addition(
                AdditionKind.ANNOTATION, Evidence(f"/annotations/{hint}", 0, 0), detail=f"{hint} {_said(harmless)}"
            )
        elif hint not in now and hint != "idempotentHint":
            yield Addition(AdditionKind.ANNOTATION, Evidence("/annotations", 0, 0), detail=f"{hint} removed")


def _said(value: bool) -> str:
    return "true" if value else "false"
