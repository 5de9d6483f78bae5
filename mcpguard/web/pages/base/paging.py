"""The part of a list that a page shows, from the place that its URL names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from fastapi import Request

T = TypeVar("T")
_LONGEST: Final = 7


@dataclass(frozen=True, slots=True)
class ListPart(Generic[T]):
    """A part of a list of `all` things. `start` is the place of its first; `next` that of the next part, 0 if there is
    none.
    """

    of: Sequence[T]
    start: int
    next: int
    all: int


def part(every: Sequence[T], request: Request, size: int) -> ListPart[T]:
    """Return the part that `?start=` names, or the first one."""
    text = request.query_params.get("start", "")
    start = int(text) if text.isascii() and text.isdecimal() and len(text) <= _LONGEST else 0
    start = start if start < len(every) else 0
    end = start + size
    return ListPart(every[start:end], start, end if end < len(every) else 0, len(every))
