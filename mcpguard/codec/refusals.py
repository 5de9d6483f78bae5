"""Reads the facts of a refusal by the guard from the result of a tool.

Rules kept here:
1. The facts are always in `_meta`, under a key that no server can write to.
2. `structuredContent` has them as well only where any structure is allowed. Some clients validate it against the tool's
   schema even in an error, and would then show nothing of the refusal.
"""

from collections.abc import Mapping
from typing import Any, Final

REFUSAL: Final = "mcpguard/refusal"
"""The key in `_meta` that holds the facts of a refusal."""


def refusal_facts(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the facts of a refusal; empty where the result is none."""
    return facts_in_meta(result.get("_meta"))


def facts_in_meta(meta: object) -> Mapping[str, Any]:
    """Return the facts of a refusal from the `_meta` of a result."""
    refusal = meta.get(REFUSAL) if isinstance(meta, Mapping) else None
    return refusal if isinstance(refusal, Mapping) else {}
