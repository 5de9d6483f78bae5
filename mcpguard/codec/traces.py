"""The `traceparent` by which a client says what its call is a part of (W3C Trace Context).

Rules kept here:
1. What is not written exactly as the recommendation has it is nothing: a call without one.
2. Of a version that is not known only the parts that every version has are read.
"""

import re
from dataclasses import dataclass
from typing import Final

_FORM: Final = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?", re.DOTALL)
_KNOWN: Final = "00"
_NEVER: Final = "ff"


@dataclass(frozen=True, slots=True)
class Parent:
    """The ids of a trace, and of the span in it that is above."""

    trace: int
    span: int


def parent(given: str) -> Parent | None:
    """None where it names nothing. Whether it says that it is sampled is not told: that is not the client's to say."""
    found = _FORM.fullmatch(given)
    if found is None or found[1] == _NEVER or (found[1] == _KNOWN and found[4] is not None):
        return None
    named = Parent(int(found[2], 16), int(found[3], 16))
    return named if named.trace and named.span else None
