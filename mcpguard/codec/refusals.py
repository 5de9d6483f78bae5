"""Where in the result of a tool a refusal of the guard has its facts.

Rules kept here:
1. They are always in `_meta`, under a key that no server can write to.
2. `structuredContent` has them as well only where any structure may stand. Some clients compare it with the schema that
   they were shown for the tool, in an error too, and then show nothing of the refusal.
"""

from collections.abc import Mapping
from typing import Any, Final

REFUSAL: Final = "mcpguard/refusal"
"""In `_meta`."""


def facts(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """Those of a refusal; empty where the result is none."""
    return of_meta(result.get("_meta"))


def of_meta(meta: object) -> Mapping[str, Any]:
    """The same from the result's `_meta` alone."""
    found = meta.get(REFUSAL) if isinstance(meta, Mapping) else None
    return found if isinstance(found, Mapping) else {}
