"""Reads the `traceparent` header that places a client's call in a trace (W3C Trace Context).

Rules kept here:
1. A header that does not exactly follow the recommendation is ignored.
2. With an unknown version, only the parts that every version has are read.
"""

import re
from dataclasses import dataclass
from typing import Final

_FORM: Final = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?", re.DOTALL)
_KNOWN: Final = "00"
_NEVER: Final = "ff"


@dataclass(frozen=True, slots=True)
class Parent:
    """The ids of a trace and of the parent span."""

    trace: int
    span: int


def parent(header: str) -> Parent | None:
    """Return the parent in a header; None for an invalid one. The sampled flag is left out: a client cannot set it."""
    match = _FORM.fullmatch(header)
    if match is None or match[1] == _NEVER or (match[1] == _KNOWN and match[4] is not None):
        return None
    named = Parent(int(match[2], 16), int(match[3], 16))
    return named if named.trace and named.span else None
