"""How large the parameters of a call are, and how deeply nested."""

from collections.abc import Mapping
from typing import Any

from mcpguard.domain.calls.objections import Detail


def too_large(params: Mapping[str, Any], written: bytes, most_bytes: int, most_depth: int) -> Detail | None:
    """How they exceed what a call may carry; None if they do not."""
    if len(written) > most_bytes:
        return Detail(path="$", expected=f"at most {most_bytes} bytes, not {len(written)}")
    if written.count(b"{") + written.count(b"[") <= most_depth:
        return None  # there is not enough to be nested so deeply
    return None if depth(params) <= most_depth else Detail(path="$", expected=f"at most {most_depth} levels")


def depth(value: object) -> int:
    """How many objects and arrays lie one in the other."""
    deepest, level = 0, [value]
    while level := [each for each in level if isinstance(each, dict | list)]:
        deepest += 1
        level = [inner for each in level for inner in (each.values() if isinstance(each, dict) else each)]
    return deepest
