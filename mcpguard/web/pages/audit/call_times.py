"""Where the time of a call went, as far as its records tell.

Rules kept here:
1. The whole is what was measured; when a record was made tells what of it was before, between and after.
2. A clock can be set while a call runs. Where the records cannot be right, nothing is told.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcpguard.web.pages.audit.call_story import by_kind
from mcpguard.web.pages.audit.record_rows import duration

WIDE = 1000
LEAST = 3
"""The width of a part that is too short to be seen."""
Said = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TimePart:
    """A part of a call's time. `kind`: guard, held, client or server; `x` and `width` are of `WIDE`."""

    kind: str
    took: str
    x: float
    width: float


def time_parts(found: Sequence[Said]) -> list[TimePart]:
    """Return the parts that took any time, in order; none where the records do not tell."""
    lengths = {kind: length for kind, length in _lengths(found).items() if length}
    whole = sum(lengths.values())
    parts, x = list[TimePart](), 0.0
    for kind, length in lengths.items():
        width = WIDE * length / whole
        parts.append(
            TimePart(kind, duration(length) or "0.1 ms", round(min(x, WIDE - LEAST), 1), round(max(width, LEAST), 1))
        )
        x += width
    return parts


def _lengths(found: Sequence[Said]) -> dict[str, int]:
    """Microseconds at the guard, held, waiting for the client, and at the server."""
    said = by_kind(found)
    opening, closing = said.get("opened", {}), said.get("closed", {})
    opened, closed, took = opening.get("at"), closing.get("at"), closing.get("took_us")
    if type(opened) is not int or type(closed) is not int or type(took) is not int or closed < opened:
        return {}
    recorded = min(closed - opened, took)
    released = said.get("released", {}).get("at", closed) if opening.get("verdict") == "hold" else opened
    held = max(0, min(recorded, released - opened)) if type(released) is int else 0
    client = min(recorded - held, sum(_waits(found)))
    rest = recorded - held - client
    sent = closing.get("executed") in ("yes", "unknown")
    return {
        "guard": took - recorded + (0 if sent else rest),
        "held": held,
        "client": client,
        "server": rest if sent else 0,
    }


def _waits(found: Sequence[Said]) -> Iterator[int]:
    """Yield how long each question of the server waited for the client."""
    asked: object = None
    for said in (each["content"] or {} for each in found):
        if said.get("kind") == "asked":
            asked = said.get("at")
        elif said.get("kind") == "heard":
            heard = said.get("at")
            if type(asked) is int and type(heard) is int:
                yield max(0, heard - asked)
            asked = None
